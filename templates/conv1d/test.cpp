// SPDX-License-Identifier: Apache-2.0
// Tests of conv1d against numbers from NumPy, through the reference and the typed function; of bad input and
// of spaces.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "generator/error.h"
#include "generator/op.h"
#include "generator/ops.h"
#include "generator/render.h"
#include "kernel_file/find_op.h"
#include "templates/choice.h"
#include "tests/refusal.h"
#include "tunesmith/conv1d.h"

namespace tunesmith::conv1d_test {
namespace {

const Op& op() { return find_op("conv1d"); }

Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

constexpr std::array<double, 8> signal = {3, -1, 4, 1, -5, 9, 2, 6};
constexpr std::array<double, 7> kernel = {2, 7, -1, 8, -2, 5, 3};

// Results of numpy.convolve and numpy.correlate (2.4.6) for the first `length` samples and `taps` taps.
struct FromNumpy {
  std::int64_t length, taps;
  Conv1dFunction function;
  Conv1dMode mode;
  std::vector<double> output;

  std::string text() const {
    return "length=" + std::to_string(length) + " taps=" + std::to_string(taps) +
           " function=" + std::string(name_of(function)) + " mode=" + std::string(name_of(mode));
  }
};
const std::vector<FromNumpy> from_numpy = {
    {8, 3, Conv1dFunction::convolve, Conv1dMode::full, {6, 19, -2, 31, -7, -18, 72, 17, 40, -6}},
    {8, 3, Conv1dFunction::convolve, Conv1dMode::same, {19, -2, 31, -7, -18, 72, 17, 40}},
    {8, 3, Conv1dFunction::convolve, Conv1dMode::valid, {-2, 31, -7, -18, 72, 17}},
    {8, 3, Conv1dFunction::correlate, Conv1dMode::full, {-3, 22, -5, 25, 20, -42, 51, 26, 46, 12}},
    {8, 3, Conv1dFunction::correlate, Conv1dMode::same, {22, -5, 25, 20, -42, 51, 26, 46}},
    {8, 3, Conv1dFunction::correlate, Conv1dMode::valid, {-5, 25, 20, -42, 51, 26}},
    {8, 4, Conv1dFunction::convolve, Conv1dMode::full, {6, 19, -2, 55, -15, 14, 80, -23, 112, 10, 48}},
    {8, 4, Conv1dFunction::convolve, Conv1dMode::same, {19, -2, 55, -15, 14, 80, -23, 112}},
    {8, 4, Conv1dFunction::convolve, Conv1dMode::valid, {55, -15, 14, 80, -23}},
    {8, 4, Conv1dFunction::correlate, Conv1dMode::full, {24, -11, 54, 3, -15, 92, -26, 99, 26, 46, 12}},
    {8, 4, Conv1dFunction::correlate, Conv1dMode::same, {-11, 54, 3, -15, 92, -26, 99, 26}},
    {8, 4, Conv1dFunction::correlate, Conv1dMode::valid, {3, -15, 92, -26, 99}},
    {3, 7, Conv1dFunction::convolve, Conv1dMode::full, {6, 19, -2, 53, -18, 49, -4, 17, 12}},
    {3, 7, Conv1dFunction::convolve, Conv1dMode::same, {19, -2, 53, -18, 49, -4, 17}},
    {3, 7, Conv1dFunction::convolve, Conv1dMode::valid, {-2, 53, -18, 49, -4}},
    {3, 7, Conv1dFunction::correlate, Conv1dMode::full, {9, 12, 1, 46, -19, 54, -5, 26, 8}},
    {3, 7, Conv1dFunction::correlate, Conv1dMode::same, {12, 1, 46, -19, 54, -5, 26}},
    {3, 7, Conv1dFunction::correlate, Conv1dMode::valid, {1, 46, -19, 54, -5}},
    {4, 7, Conv1dFunction::convolve, Conv1dMode::full, {6, 19, -2, 55, -11, 48, 4, 15, 17, 3}},
    {4, 7, Conv1dFunction::convolve, Conv1dMode::same, {19, -2, 55, -11, 48, 4, 15}},
    {4, 7, Conv1dFunction::convolve, Conv1dMode::valid, {55, -11, 48, 4}},
    {4, 7, Conv1dFunction::correlate, Conv1dMode::full, {9, 12, 1, 49, -14, 52, 3, 25, 15, 2}},
    {4, 7, Conv1dFunction::correlate, Conv1dMode::same, {1, 49, -14, 52, 3, 25, 15}},
    {4, 7, Conv1dFunction::correlate, Conv1dMode::valid, {49, -14, 52, 3}},
    {1, 3, Conv1dFunction::convolve, Conv1dMode::full, {6, 21, -3}},
    {1, 3, Conv1dFunction::convolve, Conv1dMode::same, {6, 21, -3}},
    {1, 3, Conv1dFunction::convolve, Conv1dMode::valid, {6, 21, -3}},
    {1, 3, Conv1dFunction::correlate, Conv1dMode::full, {-3, 21, 6}},
    {1, 3, Conv1dFunction::correlate, Conv1dMode::same, {-3, 21, 6}},
    {1, 3, Conv1dFunction::correlate, Conv1dMode::valid, {-3, 21, 6}},
    {1, 1, Conv1dFunction::convolve, Conv1dMode::full, {6}},
    {1, 1, Conv1dFunction::convolve, Conv1dMode::same, {6}},
    {1, 1, Conv1dFunction::convolve, Conv1dMode::valid, {6}},
    {1, 1, Conv1dFunction::correlate, Conv1dMode::full, {6}},
    {1, 1, Conv1dFunction::correlate, Conv1dMode::same, {6}},
    {1, 1, Conv1dFunction::correlate, Conv1dMode::valid, {6}},
};

struct ExpectedOutput {
  std::vector<double> value, permitted;
};
ExpectedOutput reference_of(const Problem& wanted, const std::vector<double>& samples,
                            const std::vector<double>& taps, std::int64_t begin = 0) {
  const auto size = static_cast<std::size_t>(elements(op().arguments[2], wanted) - begin);
  ExpectedOutput found = {std::vector<double>(size), std::vector<double>(size)};
  const std::vector<std::vector<double>> arguments = {samples, taps, {}};
  op().reference(wanted, arguments, 2, begin, begin + static_cast<std::int64_t>(size), found.value,
                 found.permitted);
  return found;
}

TEST(Conv1dReference, IsNumpys) {
  for (const FromNumpy& row : from_numpy) {
    const std::vector<double> samples(signal.begin(), signal.begin() + row.length);
    const std::vector<double> taps(kernel.begin(), kernel.begin() + row.taps);
    EXPECT_EQ(reference_of(problem(row.text()), samples, taps).value, row.output) << row.text();
  }
}

TEST(Conv1dReference, GivesAnyRangeOfABatch) {
  const Problem wanted = problem("batch=2 length=4 taps=3 mode=same");
  const std::vector<double> samples(signal.begin(), signal.end());
  const std::vector<double> taps = {2, 7, -1};
  const ExpectedOutput whole = reference_of(wanted, samples, taps);
  EXPECT_EQ(whole.value, (std::vector<double>{19, -2, 31, 3, -17, 72, 17, 40}));  // from NumPy, row by row
  for (std::int64_t begin = 0; begin < 8; ++begin) {
    EXPECT_EQ(reference_of(wanted, samples, taps, begin).value,
              std::vector<double>(whole.value.begin() + begin, whole.value.end()));
  }
}

TEST(Conv1dReference, SaysNothingWhereATapThatIsNoNumberMeetsNoSample) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const ExpectedOutput found =
      reference_of(problem("length=4 taps=3 function=correlate"), {1, 2, 3, 4}, {1, 1, nan});
  // The last tap lies on a sample for the first four outputs and beyond the signal for the last two.
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::isnan(found.value[i]));
    EXPECT_EQ(found.permitted[i], 0);
  }
  EXPECT_EQ(found.permitted[4], infinity);
  EXPECT_EQ(found.permitted[5], infinity);
}

class Conv1dOnHost : public testing::Test {
 protected:
  static Dispatcher& dispatcher() {
    static Dispatcher shared({.device = "host", .database = "", .cache_folder = ""});
    return shared;
  }
};

template <typename T>
void expect_numpys(Dispatcher& dispatcher) {
  const std::vector<T> samples(signal.begin(), signal.end());
  const std::vector<T> taps(kernel.begin(), kernel.end());
  for (const FromNumpy& row : from_numpy) {
    const Conv1dShape shape = {.length = row.length, .taps = row.taps};
    const auto size = static_cast<std::size_t>(conv1d_output_length(shape, row.mode));
    ASSERT_EQ(size, row.output.size()) << row.text();
    std::vector<T> output(size + 1, T(77));
    const Status status =
        conv1d(dispatcher, samples.data(), taps.data(), output.data(), shape, row.mode, row.function);
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(output.back(), T(77)) << "written beyond the end";
    EXPECT_EQ(std::vector<double>(output.begin(), output.end() - 1), row.output) << row.text();
    // The numbers of the typed function's enumerations correspond to the op's categories.
    EXPECT_EQ(conv1d_plan<T>(dispatcher, shape, row.mode, row.function).problem(),
              problem(row.text() + (std::is_same_v<T, double> ? " dtype=f64" : "")).text());
  }
}

TEST_F(Conv1dOnHost, TheTypedFunctionIsNumpys) {
  expect_numpys<float>(dispatcher());
  expect_numpys<double>(dispatcher());
}

TEST_F(Conv1dOnHost, ASampleThatIsNoNumberReachesItsWindowsOnly) {
  std::vector<float> samples(50, 1);
  samples[20] = std::numeric_limits<float>::quiet_NaN();
  samples[30] = std::numeric_limits<float>::infinity();
  const std::vector<float> taps(4, 1);
  std::vector<float> output(50);
  const Status status = conv1d(dispatcher(), samples.data(), taps.data(), output.data(),
                               {.length = 50, .taps = 4}, Conv1dMode::same);
  ASSERT_TRUE(status) << status.message();
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(std::isnan(output[i]), i >= 19 && i <= 22) << i;
    EXPECT_EQ(std::isinf(output[i]), i >= 29 && i <= 32) << i;
  }
}

TEST_F(Conv1dOnHost, RefusesAnOutputOverAnInputAndNullPointers) {
  std::vector<double> samples(20);
  std::vector<double> taps(3);
  const Conv1dShape shape = {.length = 10, .taps = 3};
  EXPECT_EQ(conv1d(dispatcher(), samples.data(), taps.data(), samples.data() + 5, shape).code(),
            Status::overlapping_arguments);
  EXPECT_EQ(conv1d(dispatcher(), samples.data(), taps.data(), taps.data(), shape, Conv1dMode::valid).code(),
            Status::overlapping_arguments);
  EXPECT_EQ(conv1d(dispatcher(), samples.data(), nullptr, samples.data() + 10, shape).code(),
            Status::null_argument);
}

TEST_F(Conv1dOnHost, ABatchOfNothingIsNothing) {
  const float tap = 1;
  const Status status = conv1d(dispatcher(), nullptr, &tap, nullptr, {.batch = 0, .length = 10, .taps = 1});
  EXPECT_TRUE(status) << status.message();
}

TEST_F(Conv1dOnHost, EmptyOperandsAreRefused) {
  float number = 1;
  for (const Conv1dShape& shape : {Conv1dShape{.length = 0, .taps = 1}, Conv1dShape{.length = 1, .taps = 0}})
    EXPECT_THROW((void)conv1d(dispatcher(), &number, &number, &number, shape), UsageError);
}

TEST(Conv1dProblem, RefusalsAreSentencesWithNameAndValue) {
  expect_refusals(op(), "",
                  {{"length=0 taps=1", "length is 0; allowed are whole numbers from 1"},
                   {"length=1 taps=0", "taps is 0; allowed are whole numbers from 1"},
                   {"length=9 taps=2 mode=wrap", "mode is wrap; allowed are full, same, valid"},
                   {"length=9 taps=2 function=corr", "function is corr; allowed are convolve, correlate"},
                   {"batch=2000000000 length=1000000000 taps=3", "batch=2000000000"},
                   {"length=3000000000 taps=3", ""}});
}

TEST(Conv1dProblem, CountsTheProductsThatThereAre) {
  const auto products = [](const std::string& text) { return op().flops(problem(text)) / 2; };
  EXPECT_EQ(products("length=8 taps=3 batch=5"), 5 * 24);
  EXPECT_EQ(products("length=8 taps=3 mode=valid"), 6 * 3);
  EXPECT_EQ(products("length=8 taps=4 mode=same"), 32 - 1 - 3);
  EXPECT_EQ(products("length=3 taps=8 mode=valid"), 6 * 3);
}

TEST(Conv1dSpace, HasManyPromisingConfigsAndADefaultForEveryProblem) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text : {"length=1000000 taps=5 mode=valid", "batch=3 length=1001 taps=9 mode=same",
                           "length=10000000 taps=63 mode=same", "length=10000000 taps=255 mode=valid",
                           "length=1000000 taps=63 dtype=f64", "length=1 taps=1", "length=5 taps=4096",
                           "length=10000000 taps=100000 dtype=f64"}) {
    const Problem wanted = problem(text);
    for (const Template& tmpl : op().templates) {
      if (tmpl.name == "base" || (tmpl.refuses && !tmpl.refuses(wanted).empty())) continue;
      const Space space = tmpl.space(wanted);
      const std::int64_t promising = space.count(Space::Subset::promising);
      EXPECT_GE(promising, tmpl.name.starts_with("tensor") ? 10 : 400) << tmpl.name << " " << text;
      EXPECT_LE(promising, 80000) << tmpl.name << " " << text;
      EXPECT_FALSE(exceeds(tmpl.work(wanted, space.complete({})), device)) << tmpl.name << " " << text;
    }
  }
}

TEST(Conv1dSpace, AConfigIsLegalWhateverTheLength) {
  for (const char* name : {"tiled", "chunked", "tensor", "tensor_any", "sliding"}) {
    const Template& tmpl = find_template(op(), name);
    const Space large = tmpl.space(problem("length=10000000 taps=63 mode=same"));
    const Space small = tmpl.space(problem("length=3 taps=63 mode=same"));
    for (const Config& config : large.sample(200, 1))
      EXPECT_FALSE(small.why_not(config.values())) << config.text();
  }
}

TEST(Conv1dSpace, OneBinaryServesEveryNumberOfTaps) {
  const Problem few = problem("length=5000 taps=32");
  for (const auto& [name, other] :
       {std::pair("chunked", "length=999 taps=2047 mode=valid"),
        std::pair("sliding",
                  "batch=3 length=999 taps=2047 mode=same function=correlate boundary=wrap origin=7"),
        std::pair("tensor_any", "length=999 taps=2047 function=correlate")}) {
    const Template& tmpl = find_template(op(), name);
    const Config config = tmpl.space(few).complete({});
    const auto hash = [&](const Problem& wanted) {
      return render(op(), tmpl, wanted, config, "sm_90a", template_files()).hash;
    };
    EXPECT_EQ(hash(few), hash(problem(other))) << name;
  }
}

// Only for this many products is the error of the split within that of a plain sum.
TEST(Conv1dSpace, TensorTakesSumsOf32ProductsOrMoreInF32) {
  expect_refusals(op(), "tensor", "",
                  {{"length=32 taps=4096", ""},
                   {"length=5000 taps=32", ""},
                   {"length=31 taps=4096", "length=31"},
                   {"length=5000 taps=31", "taps=31"},
                   {"length=5000 taps=4097", "4097 taps"},
                   {"length=5000 taps=32 dtype=f64", "f32"}});
}

TEST(Conv1dSpace, TiledTakesNoMoreTapsThanItCompilesIn) {
  expect_refusals(op(), "tiled", "length=5 ", {{"taps=4096", ""}, {"taps=4097", "4097 taps"}});
}

}  // namespace
}  // namespace tunesmith::conv1d_test
