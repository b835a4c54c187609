// SPDX-License-Identifier: Apache-2.0
// Tests of reduce in particular: NumPy's numbers and rules, strides, what is refused, workspaces, the spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/op_cases.h"
#include "tests/refusal.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device_memory.h"
#include "tunesmith/reduce.h"

namespace tunesmith::reduce_test {
namespace {

using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Op& reduce() { return find_op("reduce"); }
Problem problem(const std::string& text) { return complete_problem(reduce(), Problem::parse(text)); }

class Reduce : public testing::Test {
 protected:
  template <typename T>
  std::vector<ReduceSum<T>> sum(const std::vector<T>& x, const ReduceShape& shape, std::size_t skip = 0,
                                ReduceOrder order = ReduceOrder::deterministic) {
    std::vector<ReduceSum<T>> y(static_cast<std::size_t>(shape.outer * shape.inner), 99);
    const Status status = reduce_sum(dispatcher_, x.data() + skip, y.data(), shape, order);
    EXPECT_TRUE(status) << status.message();
    return y;
  }
  template <typename T>
  ReduceMean<T> mean(const std::vector<T>& x) {
    ReduceMean<T> y = 99;
    EXPECT_TRUE(reduce_mean(dispatcher_, x.data(), &y, {.length = std::ssize(x)}));
    return y;
  }
  template <typename T>
  T min(const std::vector<T>& x) {
    T y = 99;
    EXPECT_TRUE(reduce_min(dispatcher_, x.data(), &y, {.length = std::ssize(x)}));
    return y;
  }
  template <typename T>
  T max(const std::vector<T>& x) {
    T y = 99;
    EXPECT_TRUE(reduce_max(dispatcher_, x.data(), &y, {.length = std::ssize(x)}));
    return y;
  }
  template <typename T>
  ReduceSum<T> sum(const std::vector<T>& x) {
    return sum(x, {.length = std::ssize(x)})[0];
  }

  Dispatcher dispatcher_{{.device = "host", .database = "", .cache_folder = ""}};
};

// numpy.arange(24).reshape(2, 3, 4), its axes and views.
TEST_F(Reduce, AxesAndViewsAreNumPys) {
  std::vector<std::int32_t> x(24);
  std::iota(x.begin(), x.end(), 0);
  using Sums = std::vector<std::int64_t>;
  EXPECT_EQ(sum(x, {.length = 24}), Sums({276}));
  EXPECT_EQ(sum(x, {.length = 2, .inner = 12}), Sums({12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
  EXPECT_EQ(sum(x, {.outer = 2, .length = 3, .inner = 4}), Sums({12, 15, 18, 21, 48, 51, 54, 57}));
  EXPECT_EQ(sum(x, {.outer = 6, .length = 4}), Sums({6, 22, 38, 54, 70, 86}));
  // a = x.reshape(4, 6): a[:, 1:4].sum(axis=1), a[:, 1:4].sum(axis=0), a[::2].sum(axis=0), a[:, ::2].sum().
  EXPECT_EQ(sum(x, {.outer = 4, .length = 3, .outer_stride = 6}, 1), Sums({6, 24, 42, 60}));
  EXPECT_EQ(sum(x, {.length = 4, .inner = 3, .stride = 6}, 1), Sums({40, 44, 48}));
  EXPECT_EQ(sum(x, {.length = 2, .inner = 6, .stride = 12}), Sums({12, 14, 16, 18, 20, 22}));
  EXPECT_EQ(sum(x, {.length = 12, .stride = 2}), Sums({132}));
  // sliding_window_view(x[:6], 3).sum(axis=1)
  EXPECT_EQ(sum(x, {.outer = 4, .length = 3, .outer_stride = 1, .stride = 1}), Sums({3, 6, 9, 12}));
}

TEST_F(Reduce, TypesAndWrappingAreNumPys) {
  EXPECT_EQ(sum(std::vector<std::int32_t>(3, 2147483647)), 6442450941);
  EXPECT_EQ(mean(std::vector<std::int32_t>{2147483647, 2147483647, 2147483646}), 2147483646.6666667);
  const std::vector<std::int64_t> large(3, std::int64_t{1} << 62);
  EXPECT_EQ(sum(large), -4611686018427387904);
  EXPECT_EQ(mean(large), 4.611686018427388e18);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(max(std::vector<std::int64_t>(5, least)), least);
  EXPECT_EQ(min(std::vector<std::int32_t>{7, -2147483647 - 1, 3}), -2147483647 - 1);
  EXPECT_EQ(mean(std::vector<float>{1, 2, 4}), 2.3333333f);
  EXPECT_EQ(min(std::vector<double>{2, -0.5, 4}), -0.5);
  EXPECT_EQ(sum(std::vector<std::uint8_t>(100'003, 255)), 25'500'765);
  EXPECT_EQ(sum(std::vector<std::int8_t>(70'000, -128)), -8'960'000);
  EXPECT_EQ(sum(std::vector<std::uint16_t>(70'000, 65'535)), 4'587'450'000);
  EXPECT_EQ(mean(std::vector<std::int16_t>{-32768, 32767, 32767}), 10922);
  EXPECT_EQ(min(std::vector<std::int8_t>{3, -128, 127}), -128);
  EXPECT_EQ(max(std::vector<std::uint16_t>{3, 65535, 127}), 65535);
  std::int8_t range = 0;
  EXPECT_TRUE(reduce(dispatcher_, ReduceFunction::ptp, std::vector<std::int8_t>{-128, 127}.data(), &range,
                     {.length = 2}));
  EXPECT_EQ(range, -1);
}

TEST_F(Reduce, NaNAndInfinityAreNumPys) {
  const auto quiet = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at < 300; at += 37) {
    std::vector<float> x(300, 1);
    x[at] = quiet;
    EXPECT_TRUE(std::isnan(min(x)) && std::isnan(max(x)) && std::isnan(sum(x)) && std::isnan(mean(x))) << at;
  }
  EXPECT_EQ(sum(std::vector<double>{1, infinity, 2}), infinity);
  EXPECT_EQ(sum(std::vector<double>{1, -infinity, 2}), -infinity);
  EXPECT_TRUE(std::isnan(sum(std::vector<double>{infinity, 1, -infinity})));
  EXPECT_EQ(max(std::vector<double>{-infinity, -infinity}), -infinity);
  EXPECT_EQ(mean(std::vector<float>{std::numeric_limits<float>::infinity(), 1}), infinity);
  EXPECT_TRUE(std::isnan(max(std::vector<double>{infinity, nan})));
}

// Here a plain sum, and NumPy's, lose everything.
TEST_F(Reduce, SumsAreAccurate) {
  EXPECT_EQ(sum(std::vector<double>{1e16, 1, -1e16}), 1);
  EXPECT_EQ(sum(std::vector<float>{1e8f, 1, -1e8f}), 1);
  const std::vector<float> tenths(1 << 20, 0.1f);
  EXPECT_EQ(sum(tenths), 104857.6015625f);  // float32(0.1) * 2**20, exactly
  EXPECT_NEAR(sum(tenths, {.length = 1 << 20}, 0, ReduceOrder::atomic)[0], 104857.6015625f,
              (8 + 2048) * 0x1p-24 * 104857.6015625);
}

TEST_F(Reduce, NothingIsSummedAsInNumPy) {
  EXPECT_EQ(sum(std::vector<float>{}), 0);
  EXPECT_TRUE(std::isnan(mean(std::vector<std::int32_t>{})));
  EXPECT_EQ(sum(std::vector<std::int64_t>{}, {.outer = 2, .length = 0, .inner = 2}),
            std::vector<std::int64_t>(4, 0));
  EXPECT_TRUE(reduce_max<float>(dispatcher_, nullptr, nullptr, {.outer = 0, .length = 3}));  // no outputs
  float y = 0;
  for (const auto extreme : {reduce_min<float>, reduce_max<float>}) {
    const std::string error =
        error_of([&] { (void)extreme(dispatcher_, nullptr, &y, {.length = 0}, nullptr, nullptr); });
    EXPECT_THAT(error, HasSubstr("A length of 0 has no m"));
  }
}

TEST_F(Reduce, PlacesAreTheFirstAndThoseOfNaN) {
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  const auto place = [&](const std::vector<float>& x, bool greatest) {
    std::int64_t y = 99;
    const ReduceShape shape = {.length = std::ssize(x)};
    EXPECT_TRUE(greatest ? reduce_argmax(dispatcher_, x.data(), &y, shape)
                         : reduce_argmin(dispatcher_, x.data(), &y, shape));
    return y;
  };
  EXPECT_EQ(place({1, 7, 7, 2, 1}, true), 1);
  EXPECT_EQ(place({1, 7, 7, 2, 1}, false), 0);
  EXPECT_EQ(place({-0.0f, 0, -0.0f}, true), 0);
  EXPECT_EQ(place(std::vector<float>(300, -std::numeric_limits<float>::infinity()), true), 0);
  for (std::size_t at = 0; at < 5000; at += 617) {
    std::vector<float> x(5000, 3);
    x[at] = x.back() = quiet;
    EXPECT_EQ(place(x, true), static_cast<std::int64_t>(at));
    EXPECT_EQ(place(x, false), static_cast<std::int64_t>(at));
    x[at] = x.back() = 4;
    EXPECT_EQ(place(x, true), static_cast<std::int64_t>(at));
  }
}

// The element that is subtracted is far from the mean, which is far from 0.
TEST_F(Reduce, AVarianceKeepsItsDigits) {
  std::vector<float> x(4096);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = k % 2 == 0 ? 9999 : 10001;
  x[0] = 10001;
  x[1] = 9999;
  float y = 0;
  EXPECT_TRUE(reduce_var(dispatcher_, x.data(), &y, {.length = 4096}));
  EXPECT_EQ(y, 1);
  EXPECT_TRUE(reduce_std(dispatcher_, x.data(), &y, {.length = 4096}, 2048));
  EXPECT_FLOAT_EQ(y, std::sqrt(2.0f));
  x[0] = 0;
  double wide = 0;
  EXPECT_TRUE(
      reduce(dispatcher_, ReduceFunction::var, x.data(), &wide, {.length = 4096}, {.sums_in_double = true}));
  const double mean = 40949999.0 / 4096;  // of 2047 times 10001, 2048 times 9999, and 0
  double squares = mean * mean;
  for (std::size_t k = 1; k < x.size(); ++k) {
    const double off = static_cast<double>(x[k]) - mean;
    squares += off * off;
  }
  EXPECT_NEAR(wide, squares / 4096, 1e-9 * wide);
  EXPECT_TRUE(reduce_var(dispatcher_, x.data(), &y, {.length = 4096}));
  EXPECT_NEAR(y, wide, 16 * 0x1p-24 * wide);
}

TEST_F(Reduce, PairsAndOtherTypesAreWritten) {
  const std::vector<std::int32_t> x = {5, -7, 0, 2, 2147483647, -2147483647 - 1};
  std::int32_t both[4] = {};
  EXPECT_TRUE(reduce(dispatcher_, ReduceFunction::min_max, x.data(), both, {.outer = 2, .length = 3}));
  EXPECT_EQ((std::vector<std::int32_t>(both, both + 4)),
            (std::vector<std::int32_t>{-7, 5, -2147483647 - 1, 2147483647}));
  std::int32_t range = 0;
  EXPECT_TRUE(reduce(dispatcher_, ReduceFunction::ptp, x.data() + 4, &range, {.length = 2}));
  EXPECT_EQ(range, -1);  // wraps, as NumPy's
  bool found[2] = {true, true};
  EXPECT_TRUE(reduce(dispatcher_, ReduceFunction::all, x.data(), found, {.outer = 2, .length = 3}));
  EXPECT_FALSE(found[0]);
  EXPECT_TRUE(found[1]);
  double moments[2] = {};
  EXPECT_TRUE(reduce(dispatcher_, ReduceFunction::mean_var, x.data(), moments, {.length = 4}, {.ddof = 1}));
  EXPECT_EQ(moments[0], 0);
  EXPECT_EQ(moments[1], 26);
  double product = 0;
  const std::vector<double> large = {1e200, 1e-200, 1e200, 1e-200};
  EXPECT_TRUE(reduce(dispatcher_, ReduceFunction::prod, large.data(), &product, {.length = 4}));
  EXPECT_DOUBLE_EQ(product, 1);
}

TEST_F(Reduce, RefusesWhatItCannotDo) {
  std::vector<float> x(64, 1);
  float y = 0;
  EXPECT_EQ(reduce_sum(dispatcher_, x.data(), x.data() + 63, {.length = 64}).code(),
            Status::overlapping_arguments);
  EXPECT_TRUE(reduce_sum(dispatcher_, x.data(), x.data() + 63, {.length = 63}));
  EXPECT_EQ(reduce_sum<float>(dispatcher_, nullptr, &y, {.length = 64}).code(), Status::null_argument);
  EXPECT_THAT(error_of([&] { (void)reduce_sum(dispatcher_, x.data(), &y, {.length = -1}); }),
              HasSubstr("length is -1"));
  EXPECT_THAT(error_of([] { problem("length=5 function=max order=atomic"); }),
              HasSubstr("order=atomic is for function=sum, not for function=max"));
  EXPECT_THAT(error_of([] { problem("length=4294967297 function=mean dtype=i32"); }),
              HasSubstr("4294967296"));
  EXPECT_THAT(error_of([] { problem("outer=1048577 length=1048576"); }), HasSubstr("2^40"));
  EXPECT_NO_THROW(problem("length=1099511627776"));
  EXPECT_NO_THROW(problem("outer=1048576 length=1048576"));
  EXPECT_THAT(error_of([] { problem("length=3 stride=1099511627776"); }), HasSubstr("2^40"));
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"length=0 function=argmax", "A length of 0 has no argmax"},
           {"length=4 ddof=1", "ddof=1 is for function=var"},
           {"length=4 function=max sum_dtype=f64", "sum_dtype=f64 with function=max"},
           {"length=4 dtype=f64 sum_dtype=f64", "dtype=f64 is not there"},
           {"length=4 order=atomic sum_dtype=f64", "not with sum_dtype=f64"},
           {"length=4 order=atomic dtype=bf16", "order=atomic is not for dtype=bf16, whose every addition"},
           {"length=4 sum_dtype=f16", "allowed are same and f64"}})
    EXPECT_THAT(error_of([text = text] { problem(text); }), HasSubstr(part)) << text;
  EXPECT_THAT(error_of([] { problem("length=3 function=product"); }), HasSubstr("product"));
}

TEST_F(Reduce, TheTypedFunctionsPlanTheirProblem) {
  EXPECT_EQ(
      reduce_plan<std::int32_t>(dispatcher_, {.outer = 3, .length = 5, .inner = 7, .outer_stride = 40},
                                ReduceFunction::mean)
          .problem(),
      "outer=3 length=5 inner=7 outer_stride=40 stride=0 function=mean order=deterministic dtype=i32 ddof=0 "
      "sum_dtype=same");
  EXPECT_EQ(
      reduce_plan<double>(dispatcher_, {.length = 5, .stride = 2}, ReduceFunction::sum, ReduceOrder::atomic)
          .problem(),
      "outer=1 length=5 inner=1 outer_stride=0 stride=2 function=sum order=atomic dtype=f64 ddof=0 "
      "sum_dtype=same");
  EXPECT_EQ(
      reduce_plan<std::int64_t>(dispatcher_, {.length = 5, .inner = 2, .stride = 2}, ReduceFunction::max)
          .problem(),
      "outer=1 length=5 inner=2 outer_stride=0 stride=0 function=max order=deterministic dtype=i64 ddof=0 "
      "sum_dtype=same");
  EXPECT_EQ(
      reduce_plan<float>(dispatcher_, {.outer = 4, .length = 5, .outer_stride = 5}, ReduceFunction::min)
          .problem(),
      "outer=4 length=5 inner=1 outer_stride=0 stride=0 function=min order=deterministic dtype=f32 ddof=0 "
      "sum_dtype=same");
}

// ---- variants

// Launches one variant on the host again and again.
class Launched {
 public:
  Launched(const Problem& problem, const std::string& template_name, const Config& config)
      : problem_(problem) {
    const Template& tmpl = find_template(reduce(), template_name);
    const Source source = render(reduce(), tmpl, problem, config, "host", template_files());
    const Compilation compiled = make_host_toolchain()->compile(source);
    if (!compiled.ok) throw Error(compiled.log);
    work_ = tmpl.work(problem, config);
    executable_ = device_->load(compiled.bytes, source.suffix, work_);
  }

  // Returns the output's bytes. Memory that the work does not ask to be zero is filled with `dirt` before.
  std::string run(const std::string& x, unsigned char dirt, bool reverse) {
    const std::int64_t y_bytes =
        elements(reduce().arguments[1], problem_) * bytes(reduce().arguments[1].dtype(problem_));
    const DeviceMemory owned[] = {
        {*device_, std::ssize(x)}, {*device_, y_bytes}, {*device_, work_.workspace_bytes}};
    void* const arguments[] = {owned[0].get(), owned[1].get()};
    void* const workspace = owned[2].get();
    device_->upload(arguments[0], x.data(), std::ssize(x));
    device_->fill(arguments[1], dirt, y_bytes);
    device_->fill(workspace, dirt, work_.workspace_bytes);
    device_->fill(workspace, 0, work_.zeroed_bytes);
    executable_->reverse_threads(reverse);
    std::string y(static_cast<std::size_t>(y_bytes), '\0');
    for (int launch = 0; launch < 2; ++launch) {  // the second on what the first left
      EXPECT_EQ(executable_->launch(arguments, workspace, nullptr), 0);
      std::string again = y;
      device_->download(again.data(), arguments[1], y_bytes);
      if (launch > 0) {
        EXPECT_EQ(again, y) << "a second launch on the same workspace";
      }
      y = again;
    }
    std::string zeroed(static_cast<std::size_t>(work_.zeroed_bytes), '\1');
    device_->download(zeroed.data(), workspace, work_.zeroed_bytes);
    EXPECT_EQ(zeroed.find_first_not_of('\0'), std::string::npos) << "the workspace is not as it was";
    for (const DeviceMemory& memory : owned) EXPECT_TRUE(device_->guards_intact(memory.get()));
    return y;
  }

 private:
  Problem problem_;
  std::unique_ptr<Device> device_ = make_host_device();
  Work work_;
  std::unique_ptr<Executable> executable_;
};

struct Case {
  std::string template_name;
  std::string problem;
  std::string config;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"all", "outer=2 length=9001", "BLOCK=128 ITEMS=4 VECTOR=1 FINISH=last"},
      {"all", "length=9001", "BLOCK=128 ITEMS=1 VECTOR=4 BLOCKS=8 FINISH=mail"},
      {"all", "length=9000 dtype=f64", "BLOCK=128 ITEMS=1 VECTOR=2 FINISH=mail"},
      {"all", "length=9001", "BLOCK=128 ITEMS=1 VECTOR=4 FINISH=launch WALK=chunked AHEAD=1"},
      {"all", "length=9001 order=atomic", "BLOCK=128 ITEMS=1 VECTOR=4 BLOCKS=8 FINISH=atomic"},
      {"all", "outer=3 length=9000 order=atomic dtype=f64", "BLOCK=128 ITEMS=1 FINISH=atomic_last"},
      {"all", "outer=2 length=9001 function=argmax", "BLOCK=128 ITEMS=4 VECTOR=1 FINISH=last"},
      {"all", "length=9001 function=norm1 dtype=i32", "BLOCK=128 ITEMS=1 VECTOR=4 BLOCKS=8 FINISH=mail"},
      {"all", "length=9001 function=argmin", "BLOCK=128 ITEMS=1 VECTOR=4 FINISH=launch WALK=chunked AHEAD=1"},
      {"columns", "outer=2 length=700 inner=33 function=count_nonzero", "BLOCK_X=16 SPLIT=8 FINISH=last"},
      {"columns", "outer=2 length=700 inner=12 function=argmax dtype=f64",
       "BLOCK_X=16 SPLIT=8 FINISH=launch VECTOR=2"},
      {"rows", "outer=9 length=1000 dtype=f64", "BLOCK=128 TEAM=64"},
      {"flat", "length=9001 inner=7", "BLOCK=256 VECTOR=4 ITEMS=1 BLOCKS=16 FINISH=last"},
      {"flat", "length=3003 inner=12 function=argmin", "BLOCK=256 VECTOR=1 ITEMS=4 BLOCKS=16 FINISH=launch"},
      {"columns", "outer=2 length=700 inner=33", "BLOCK_X=16 SPLIT=8 FINISH=last"},
      {"columns", "outer=2 length=700 inner=12 dtype=f64", "BLOCK_X=16 SPLIT=8 FINISH=launch VECTOR=2"},
  };
  return all;
}

// Sums of integers are exact in any order, so that an element left out or taken twice is seen. The workspace
// is full of ones or NaN, each variant is launched twice, and threads run in both orders.
TEST(ReduceVariants, GiveTheSameBitsOnAnyWorkspaceAndLeaveItZeroed) {
  for (const Case& which : in_turn(cases(), 3, {&reduce(), &reduce().templates.front()})) {
    SCOPED_TRACE(which.template_name + " " + which.config + " on " + which.problem);
    const Problem wanted = problem(which.problem);
    const Template& tmpl = find_template(reduce(), which.template_name);
    const Config config = tmpl.space(wanted).complete(Values::parse(which.config));
    ASSERT_GT(
        tmpl.work(wanted, config).workspace_bytes + tmpl.work(wanted, config).zeroed_bytes,
        which.template_name == "rows" || config.text().find("FINISH=atomic ") != std::string::npos ? -1 : 0);
    std::vector<std::vector<double>> inputs = make_inputs(reduce(), wanted, 7);
    for (double& x : inputs[0]) x = std::floor(1000 * x);
    const DType dtype = dtype_of(wanted);
    const ExpectedOutput expected = reference_of(reduce(), wanted, inputs, 1);
    Launched variant(wanted, which.template_name, config);
    const std::string y = variant.run(pack(dtype, inputs[0]), 0xff, false);
    EXPECT_EQ(unpack(reduce().arguments[1].dtype(wanted), y), expected.value);

    const std::string fractions = pack(dtype, make_inputs(reduce(), wanted, 8)[0]);
    const std::string bits = variant.run(fractions, 0xff, false);
    EXPECT_EQ(variant.run(fractions, 0x01, false), bits);
    EXPECT_EQ(variant.run(fractions, 0x7f, true), bits);
  }
}

TEST(ReduceVariants, ManyElementsAreSummedWithinTheBound) {
  // 65537 times 2^24 + 1, which f32 rounds to 2^24: a plain f32 sum would also lose every later small
  // element.
  const Problem wanted = problem("length=65537");
  std::vector<std::vector<double>> inputs = {std::vector<double>(65537, 1), {}};
  inputs[0][0] = 0x1p24;
  const ExpectedOutput expected = reference_of(reduce(), wanted, inputs, 1);
  EXPECT_EQ(expected.value[0], 0x1p24 + 65536);
  const Template& all = find_template(reduce(), "all");
  Launched variant(wanted, "all", all.space(wanted).complete(Values::parse("BLOCK=128 ITEMS=16 BLOCKS=1")));
  const double got = unpack(DType::f32, variant.run(pack(DType::f32, inputs[0]), 0xff, false))[0];
  EXPECT_LE(std::abs(got - expected.value[0]), 8 * 0x1p-24 * expected.value[0]);
}

// Ties, zeros of both signs, infinities and NaN, in words that value and place share.
TEST(ReduceVariants, ShortPlacesAreThoseOfTheFirst) {
  struct {
    const char* function;
    std::vector<double> x;
    double place;
  } const all[] = {{"argmax", {-1, -0.0, 0, -3}, 1},
                   {"argmin", {1, 0, -0.0, 3}, 1},
                   {"argmax", {-infinity, -infinity, -2}, 2},
                   {"argmin", {infinity, infinity}, 0},
                   {"argmax", {1, infinity, nan, nan}, 2},
                   {"argmin", {-infinity, 1, nan, nan}, 2},
                   {"argmax", {-infinity, -infinity, -infinity}, 0},
                   {"argmin", {2, -1.5, -1.5}, 1}};
  std::map<std::string, std::unique_ptr<Launched>> launched;
  for (const auto& one : all) {
    std::vector<double> x(8, one.x.back());  // one kernel for a function: the last is repeated
    std::copy(one.x.begin(), one.x.end(), x.begin());
    const Problem wanted = problem(std::string("outer=1 length=8 function=") + one.function);
    std::unique_ptr<Launched>& variant = launched[one.function];
    if (!variant) {
      const Template& rows = find_template(reduce(), "rows");
      variant = std::make_unique<Launched>(
          wanted, "rows", rows.space(wanted).complete(Values::parse("BLOCK=128 TEAM=4 ITEMS=1 VECTOR=1")));
    }
    EXPECT_EQ(unpack(DType::i64, variant->run(pack(DType::f32, x), 0xff, false))[0], one.place)
        << one.function << " of " << one.x[0] << ", " << one.x[1];
  }
}

// The tuned templates keep a place in 32 bits if a line has no more. Longer lines then have a kernel that no
// small line has.
TEST(ReduceSpace, LongLinesHavePlacesOf64Bits) {
  for (const Template& tmpl : reduce().templates) {
    if (tmpl.name == "base") continue;
    const auto is_short = [&](const std::string& text) {
      return tmpl.constants(problem(text)).integer("SHORT_PLACES") == 1;
    };
    EXPECT_TRUE(is_short("length=4294967294 function=argmax"));
    EXPECT_FALSE(is_short("length=4294967295 function=argmax"));
    EXPECT_FALSE(is_short("length=1000 function=argmin dtype=i64"));
    EXPECT_FALSE(is_short("length=1000 function=var"));
  }
  EXPECT_TRUE(reduce().companions(problem("length=4294967295 function=argmax")).empty());
  EXPECT_FALSE(reduce().companions(problem("length=4294967294 function=argmax")).empty());
}

TEST(ReduceSpace, HasHundredsToThousandsOfConfigsForEveryProblem) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const auto& [template_name, text] : std::vector<std::pair<std::string, std::string>>{
           {"all", "length=268435456"},
           {"all", "length=1 dtype=i64 function=max"},
           {"all", "length=1000000 order=atomic dtype=f64"},
           {"all", "outer=65535 length=1001"},
           {"rows", "outer=4096 length=4096"},
           {"rows", "outer=3 length=1 dtype=i32 function=mean"},
           {"columns", "length=4096 inner=4096"},
           {"columns", "outer=64 length=512 inner=511 dtype=f64"},
           {"columns", "length=1 inner=4 order=atomic"},
           {"staged", "outer=100000 length=33 function=argmax"},
           {"flat", "length=100000 inner=33 function=argmax"},
           {"flat", "length=3 inner=1000 function=var dtype=f64"}}) {
    SCOPED_TRACE(template_name + " " + text);
    const Problem wanted = problem(text);
    const Template& tmpl = find_template(reduce(), template_name);
    EXPECT_EQ(tmpl.refuses(wanted), "");
    const Space space = tmpl.space(wanted);
    EXPECT_GE(space.count(Space::Subset::promising), 200);
    EXPECT_LE(space.count(Space::Subset::promising), 75000);
    const bool atomic = wanted.string("order") == "atomic";
    for (const Config& config : space.sample(300, 1)) {
      EXPECT_FALSE(exceeds(tmpl.work(wanted, config), device)) << config.text();
      if (template_name == "rows" || template_name == "staged") continue;
      EXPECT_TRUE(atomic || !config[CategoricalAxis("FINISH")].starts_with("atomic")) << config.text();
    }
  }
}

std::vector<std::int64_t> blocks_of(const Space& space) {
  std::vector<std::int64_t> blocks;
  for (const Axis& axis : space.axes()) {
    if (axis.name != "BLOCKS") continue;
    for (const Value& value : axis.values) {
      // Keeps the values that are worth trying here; an H200's numbers are legal too.
      if (space.broken_worth(space.complete({{"BLOCKS", value}})) == 0)
        blocks.push_back(std::get<std::int64_t>(value));
    }
  }
  return blocks;
}

DeviceFacts gpu_of(int multiprocessors) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  device.multiprocessors = multiprocessors;
  return device;
}

TEST(ReduceSpace, BlocksAreMultiplesOfTheDevicesMultiprocessors) {
  using Blocks = std::vector<std::int64_t>;
  const Template& all = find_template(reduce(), "all");
  const auto on = [&](const DeviceFacts& device) {
    return blocks_of(all.space(problem("length=1000000"), device));
  };
  EXPECT_EQ(on(gpu_of(20)), Blocks({40, 160, 80, 20, 16, 8, 4, 2, 1}));
  EXPECT_EQ(on(gpu_of(68)), Blocks({136, 544, 272, 68, 64, 32, 16, 8, 4, 2, 1}));
  EXPECT_EQ(on(gpu_of(108)), Blocks({216, 864, 432, 108, 64, 32, 16, 8, 4, 2, 1}));
  const Blocks of_an_h200 = {264, 1056, 528, 132, 64, 32, 16, 8, 4, 2, 1};
  EXPECT_EQ(on(gpu_of(132)), of_an_h200);
  EXPECT_EQ(on(gpu_of(0)), of_an_h200);
  EXPECT_EQ(on(DeviceFacts{}), of_an_h200);
  EXPECT_EQ(on(make_host_device()->facts()), of_an_h200);
}

TEST(ReduceSpace, WinnersOfAnH200AreLegalOnOtherDevices) {
  const Template& all = find_template(reduce(), "all");
  const Problem wanted = problem("length=1000000");
  const Space there = all.space(wanted, gpu_of(132));
  const Space here = all.space(wanted, gpu_of(68));
  for (const Config& config : there.sample(200, 1)) {
    const bool waits = config[CategoricalAxis("FINISH")] == "mail";
    EXPECT_TRUE(waits || !here.why_not(config.values())) << config.text();
  }
}

// The rules scale too: values are worth trying from one block per multiprocessor on.
TEST(ReduceSpace, LongSumsTakeABlockPerMultiprocessorOfAnyDevice) {
  const Template& all = find_template(reduce(), "all");
  const Problem wanted = problem("length=1000000");
  for (const int multiprocessors : {20, 68, 108, 132}) {
    const Space space = all.space(wanted, gpu_of(multiprocessors));
    std::int64_t fewest = 1 << 20;
    space.each(
        [&](const Config& config) {
          if (config[CategoricalAxis("WALK")] == "chunked")
            fewest = std::min(fewest, config[IntegerAxis("BLOCKS")]);
          return true;
        },
        Space::Subset::promising);
    EXPECT_EQ(fewest, multiprocessors);
  }
}

TEST(ReduceSpace, AtomicSumsStayWithinTheirErrorBoundOnLargeDevices) {
  const Template& all = find_template(reduce(), "all");
  const auto most = [&](const char* text, int multiprocessors) {
    std::int64_t found = 0;
    const Problem wanted = problem(text);
    all.space(wanted, gpu_of(multiprocessors)).each([&](const Config& config) {
      const bool counts =
          wanted.string("order") == "deterministic" || config[CategoricalAxis("FINISH")] == "atomic";
      if (counts) found = std::max(found, config[IntegerAxis("BLOCKS")]);
      return true;
    });
    return found;
  };
  EXPECT_EQ(most("length=1000000 order=atomic", 132), 1056);
  EXPECT_EQ(most("length=1000000 order=atomic", 300), 1200);
  EXPECT_EQ(most("length=1000000", 300), 2400);
}

TEST(ReduceSpace, TemplatesSayWhatTheyAreNotFor) {
  const auto refusal = [](const char* name, const char* text) {
    return find_template(reduce(), name).refuses(problem(text));
  };
  EXPECT_THAT(refusal("all", "length=4 inner=2"), HasSubstr("inner of 2"));
  EXPECT_THAT(refusal("rows", "length=4 stride=3"), HasSubstr("stride of 3"));
  EXPECT_THAT(refusal("all", "outer=65536 length=4"), HasSubstr("65536"));
  EXPECT_THAT(refusal("columns", "length=0 inner=3"), HasSubstr("base"));
  EXPECT_THAT(refusal("columns", "outer=3 length=4"), HasSubstr("all and rows"));
}

// Waiting blocks are so few that even those of all kernels that may run at once leave room for other blocks.
TEST(ReduceSpace, BlocksWaitOnlyWhereTheyCannotFillTheDevice) {
  const auto is_legal = [&](const char* text, int multiprocessors) {
    bool found = false;
    find_template(reduce(), "all")
        .space(problem(text), gpu_of(multiprocessors))
        .each([&](const Config& config) { return !(found = config[CategoricalAxis("FINISH")] == "mail"); });
    return found;
  };
  EXPECT_TRUE(is_legal("length=90000", 132));
  EXPECT_FALSE(is_legal("length=90000", 128));
  EXPECT_FALSE(is_legal("outer=2 length=90000", 132));
  EXPECT_TRUE(is_legal("outer=2 length=90000", 300));
}

}  // namespace
}  // namespace tunesmith::reduce_test
