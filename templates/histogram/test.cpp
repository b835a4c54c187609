// SPDX-License-Identifier: Apache-2.0
// Tests of histogram against numbers from NumPy 2.4, against NumPy's algorithm at the edges of many ranges,
// with counters that run full, and through the typed function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/refusal.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device.h"
#include "tunesmith/histogram.h"

namespace tunesmith::histogram_test {
namespace {

using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
using Counts = std::vector<std::int64_t>;

const Op& histogram_op() { return find_op("histogram"); }

Problem problem(const std::string& text) { return complete_problem(histogram_op(), Problem::parse(text)); }

std::string refusal(const std::string& text) { return refusal(histogram_op(), text); }

Dispatcher& host() {
  static Dispatcher dispatcher({.device = "host", .database = "", .cache_folder = ""});
  return dispatcher;
}

template <typename T>
Counts histogram_of(const std::vector<T>& values, std::int64_t bins, double lo, double hi) {
  Counts counts(static_cast<std::size_t>(bins), -1);
  const HistogramShape shape{.length = static_cast<std::int64_t>(values.size()), .bins = bins};
  const Status status = histogram(host(), values.data(), counts.data(), shape, lo, hi);
  EXPECT_TRUE(status.ok()) << status.message();
  return counts;
}

// numpy.linspace(0.1, 0.7, 8).astype(float32)
const std::vector<float> sevenths = {0x1.99999ap-4f, 0x1.7c57c6p-3f, 0x1.15f16p-2f,  0x1.6db6dcp-2f,
                                     0x1.c57c58p-2f, 0x1.0ea0eap-1f, 0x1.3a83a8p-1f, 0x1.666666p-1f};

TEST(Histogram, FloatsAtEdgesAreWhereNumPyHasThem) {
  std::vector<float> values = {nan, infinity, -infinity, 0, 1};
  std::vector<float> repeated;
  for (std::size_t i = 0; i < sevenths.size(); ++i) {
    values.insert(values.end(), {sevenths[i], std::nextafter(sevenths[i], -infinity),
                                 std::nextafter(sevenths[i], infinity)});
    repeated.insert(repeated.end(), i + 1, sevenths[i]);
  }
  EXPECT_EQ(histogram_of(values, 7, 0.1, 0.7), (Counts{3, 3, 3, 3, 3, 3, 4}));
  EXPECT_EQ(histogram_of(repeated, 7, 0.1, 0.7), (Counts{1, 2, 3, 4, 5, 6, 15}));

  std::vector<float> thousandths(1000);
  for (std::size_t i = 0; i < 1000; ++i) thousandths[i] = static_cast<float>(i) * 0.001f;
  EXPECT_EQ(histogram_of(thousandths, 10, 0, 1), Counts(10, 100));
  EXPECT_EQ(histogram_of(thousandths, 7, 0.1, 0.7), (Counts{86, 86, 86, 85, 86, 86, 85}));

  const std::vector<float> around_the_limits = {1e-45f, -1e-45f, 0, -0.0f, 1, std::nextafter(1.0f, 2.0f)};
  EXPECT_EQ(histogram_of(around_the_limits, 4, 0, 1), (Counts{3, 0, 0, 1}));
}

TEST(Histogram, IntegersAreWhereNumPyHasThem) {
  std::vector<std::int32_t> values(41);
  std::iota(values.begin(), values.end(), -20);
  EXPECT_EQ(histogram_of(values, 6, -10, 10), (Counts{4, 3, 3, 4, 3, 4}));
  EXPECT_EQ(histogram_of(values, 7, -9.5, 11), Counts(7, 3));
  const std::vector<std::int32_t> extremes = {std::numeric_limits<std::int32_t>::min(),
                                              std::numeric_limits<std::int32_t>::max(), 0, -1, 1};
  EXPECT_EQ(histogram_of(extremes, 4, -2147483648.0, 2147483647.0), (Counts{1, 1, 2, 1}));

  std::vector<std::uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  EXPECT_EQ(histogram_of(bytes, 10, 0, 255), (Counts{26, 25, 26, 25, 26, 25, 26, 25, 26, 26}));
  EXPECT_EQ(histogram_of(bytes, 3, -0.5, 99.5), (Counts{33, 34, 33}));
  EXPECT_EQ(histogram_of(bytes, 1, 17, 17.5), Counts{1});
}

TEST(Bincount, CountsWhatHasABinAndNothingElse) {
  const std::vector<std::uint8_t> bytes = {3, 3, 0, 7, 9, 8, 3, 255, 1};
  Counts counts(8, -1);
  ASSERT_TRUE(bincount(host(), bytes.data(), counts.data(), {.length = 9, .bins = 8}).ok());
  EXPECT_EQ(counts, (Counts{1, 1, 0, 3, 0, 0, 0, 1}));

  const std::vector<std::int32_t> values = {0,     -1,    5, std::numeric_limits<std::int32_t>::min(),
                                            65535, 65536, 5};
  Counts many(65536, -1);
  ASSERT_TRUE(bincount(host(), values.data(), many.data(), {.length = 7, .bins = 65536}).ok());
  EXPECT_EQ(many[0], 1);
  EXPECT_EQ(many[5], 2);
  EXPECT_EQ(many[65535], 1);
  EXPECT_EQ(std::accumulate(many.begin(), many.end(), std::int64_t{0}), 4);
}

TEST(Histogram, StridedEmptyAndRefusedArguments) {
  const std::vector<float> values = {0.1f, 9, 9, 0.6f, 9, 9, 0.9f};
  Counts counts(3, -1);
  const HistogramShape shape{.length = 3, .bins = 2, .stride = 3};
  ASSERT_TRUE(histogram(host(), values.data(), counts.data(), shape, 0, 1).ok());
  EXPECT_EQ(counts, (Counts{1, 2, -1}));

  ASSERT_TRUE(
      histogram(host(), static_cast<const float*>(nullptr), counts.data(), {.length = 0, .bins = 3}, 0, 1)
          .ok());
  EXPECT_EQ(counts, Counts(3, 0));

  std::vector<float> both(64);
  auto* const inside = reinterpret_cast<std::int64_t*>(both.data() + 2);
  EXPECT_EQ(histogram(host(), both.data(), inside, {.length = 16, .bins = 2}, 0, 1).code(),
            Status::overlapping_arguments);
  EXPECT_EQ(histogram(host(), values.data(), nullptr, shape, 0, 1).code(), Status::null_argument);
  const auto refused = [&](double lo, double hi, std::int64_t bins) {
    const Status status =
        histogram(host(), values.data(), counts.data(), {.length = 3, .bins = bins, .stride = 3}, lo, hi);
    EXPECT_EQ(status.code(), Status::refused_numbers);
    return status.message();
  };
  EXPECT_THAT(refused(1, 0, 2), HasSubstr("lo must be less than hi"));
  EXPECT_THAT(refused(0, std::nan(""), 2), HasSubstr("lo must be less than hi"));
  EXPECT_THAT(refused(0, std::numeric_limits<double>::infinity(), 2), HasSubstr("hi=inf must be at least"));
  EXPECT_THAT(refused(1000, 1001, 65536), HasSubstr("too few floats for 65536 bins"));
}

TEST(Histogram, WhatIsNotAllowedIsSaidInASentence) {
  const auto says = [](const std::string& text, const std::string& what) {
    EXPECT_THAT(refusal(text), HasSubstr(what)) << text << ": " << refusal(text);
  };
  says("length=5 bins=0", "bins");
  says("length=5 bins=65537", "65536");
  says("length=-1 bins=4", "length");
  says("length=5 bins=4 lo=1 hi=1", "lo must be less than hi");
  says("length=5 bins=4 lo=2 hi=-1.5", "lo=2 and hi=-1.5");
  says("length=5 bins=4 lo=low", "'low' is not a finite decimal number");
  says("length=5 bins=4 hi=inf", "finite");
  says("length=5 bins=4 hi=1.5x", "finite");
  says("length=5 bins=4 hi=1e39", "3.4e38");
  says("length=5 bins=65536 lo=1000 hi=1001", "at most 8192 are allowed");
  says("length=5 bins=2 lo=1 hi=1.0000001", "must be further apart");
  says("length=5 bins=4 function=bincount", "dtype is f32; allowed are u8, u16, i16 and i32");
  EXPECT_EQ(refusal("length=5 bins=8192 lo=1000 hi=1001"), "");
  EXPECT_EQ(refusal("length=0 bins=65536 lo=-1e-3 hi=2 dtype=i32"), "");
}

// ---- variants by themselves

// A variant for the host. It is compiled once and counts for any problem with the same constants.
class Variant {
 public:
  Variant(const std::string& template_name, const std::string& tmpl, const std::string& config)
      : template_(&find_template(histogram_op(), template_name)), problem_(problem(tmpl)) {
    config_ = template_->space(problem_).complete(Values::parse(config));
    source_ = render(histogram_op(), *template_, problem_, config_, "host");
    static const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
    compiled_ = toolchain->compile(source_);
    EXPECT_TRUE(compiled_.ok) << compiled_.log;
  }

  template <typename T>
  Counts count(const Problem& wanted, const std::vector<T>& values) const {
    static const std::unique_ptr<Device> device = make_host_device();
    Counts counts(static_cast<std::size_t>(wanted.integer("bins")), -1);
    const Work work = template_->work(wanted, config_);
    const auto executable = device->load(compiled_.bytes, source_.suffix, work);
    const std::array<void*, 2> arguments = {const_cast<T*>(values.data()), counts.data()};
    EXPECT_EQ(executable->launch(arguments.data(), nullptr, nullptr), 0);
    return counts;
  }

 private:
  const Template* template_;
  Problem problem_;
  Config config_;
  Source source_;
  Compilation compiled_;
};

// numpy.histogram step by step (numpy/lib/_histograms_impl.py, 2.4): E is float for floats, double for
// integers.
template <typename E>
struct NumPy {
  NumPy(std::int64_t bins, double lo, double hi) : bins_(bins), lo_(lo), hi_(hi) {
    const double step = (hi - lo) / static_cast<double>(bins);
    for (std::int64_t i = 0; i < bins; ++i) {
      const double product = static_cast<double>(i) * step;
      edges_.push_back(static_cast<E>(product + lo));
    }
    edges_.push_back(static_cast<E>(hi));
  }

  // The bin of a value, or -1 if it is not counted.
  std::int64_t bin(E value) const {
    if (!(value >= static_cast<E>(lo_) && value <= static_cast<E>(hi_))) return -1;
    const E above = value - static_cast<E>(lo_);
    auto index =
        static_cast<std::int64_t>(static_cast<double>(above) / (hi_ - lo_) * static_cast<double>(bins_));
    if (index == bins_) --index;
    if (value < edges_[static_cast<std::size_t>(index)]) --index;
    if (index != bins_ - 1 && value >= edges_[static_cast<std::size_t>(index) + 1]) ++index;
    return index;
  }

  template <typename T>
  Counts count(const std::vector<T>& values) const {
    Counts counts(static_cast<std::size_t>(bins_), 0);
    for (const T value : values) {
      const std::int64_t at = bin(static_cast<E>(value));
      if (at >= 0) ++counts[static_cast<std::size_t>(at)];
    }
    return counts;
  }

  const std::vector<E>& edges() const { return edges_; }

 private:
  std::int64_t bins_;
  double lo_, hi_;
  std::vector<E> edges_;
};

std::string text_of(double number) { return ShortestText(number).string(); }

struct Limits {
  std::int64_t bins;
  double lo, hi;
};

// Draws ranges of every kind: plain, with widths of powers of two, narrow and far from zero, tiny and huge,
// whole numbers and halves.
Limits random_limits(Random& random) {
  const auto power = [&](int least, int most) {
    const auto steps = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    return std::ldexp(1.0, least + static_cast<int>(random.below(steps)));
  };
  const std::int64_t bins = 1 + static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 2000 : 40));
  const auto count = static_cast<double>(bins);
  switch (random.below(6)) {
    case 0:
      return {bins, -1 - random.uniform(), 1.5 + random.uniform()};
    case 1: {
      const double step = power(-8, 4);
      const double lo = step * (static_cast<double>(random.below(64)) - 32);
      return {bins, lo, lo + step * count};
    }
    case 2: {
      const double lo = random.uniform() * power(-3, 12);
      return {bins, lo, lo + std::abs(lo) * count * power(-21, -8)};
    }
    case 3: {
      const double scale = power(-130, 110);
      return {bins, scale * random.uniform(), scale * (1.1 + random.uniform())};
    }
    case 4: {
      const double lo = static_cast<double>(random.below(200)) - 100;
      return {bins, lo, lo + count * static_cast<double>(1 + random.below(12))};
    }
    default: {
      const double lo = static_cast<double>(random.below(200)) - 100.5;
      return {bins, lo, lo + static_cast<double>(1 + random.below(500))};
    }
  }
}

template <typename T>
std::vector<T> values_near(const std::vector<double>& edges);

template <>
std::vector<float> values_near(const std::vector<double>& edges) {
  std::vector<float> values = {nan, infinity, -infinity, 0, -0.0f, std::numeric_limits<float>::max()};
  for (const double edge : edges) {
    float below = static_cast<float>(edge);
    float above = below;
    values.push_back(below);
    for (int k = 0; k < 4; ++k) {
      values.push_back(below = std::nextafter(below, -infinity));
      values.push_back(above = std::nextafter(above, infinity));
    }
  }
  return values;
}

template <>
std::vector<std::int32_t> values_near(const std::vector<double>& edges) {
  std::vector<std::int32_t> values = {0, 1, -1, std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::min()};
  for (const double edge : edges) {
    for (const int k : {-1, 0, 1, 2})
      values.push_back(static_cast<std::int32_t>(std::clamp(std::floor(edge) + k, -0x1p31, 0x1p31 - 1)));
  }
  return values;
}

template <typename T, typename E>
void compare_with_numpy(const std::string& dtype, int ranges) {
  const std::string any = "length=100 bins=8 dtype=" + dtype;
  const Variant base("base", any, "");
  const Variant direct("direct", any, "VECTOR=1 ITEMS=4");
  // These edges are exact in double and lie one rounding above whole numbers.
  constexpr Limits close[] = {{5, -1 + 0x1p-48, 14 + 0x1p-48}, {5, 0, 15 + 0x5p-48}};
  Random random(20);
  int compared = 0;
  for (int r = 0; r < ranges; ++r) {
    const Limits limits = r < 2 ? close[r] : random_limits(random);
    Problem wanted =
        Problem::parse("length=0 bins=" + std::to_string(limits.bins) + " lo=" + text_of(limits.lo) +
                       " hi=" + text_of(limits.hi) + " dtype=" + dtype);
    try {
      wanted = complete_problem(histogram_op(), wanted);
    } catch (const UsageError&) {
      continue;  // too narrow; the sentences are tested above
    }
    const NumPy<E> numpy(limits.bins, limits.lo, limits.hi);
    const std::vector<T> values = values_near<T>({numpy.edges().begin(), numpy.edges().end()});
    wanted.set("length", static_cast<std::int64_t>(values.size()));
    const Counts expected = numpy.count(values);
    ASSERT_EQ(base.count(wanted, values), expected) << wanted.text();
    ASSERT_EQ(direct.count(wanted, values), expected) << wanted.text();
    const ExpectedOutput reference = reference_of(
        histogram_op(), wanted,
        std::vector<std::vector<double>>{std::vector<double>(values.begin(), values.end()), {}}, 1);
    ASSERT_EQ(Counts(reference.value.begin(), reference.value.end()), expected) << wanted.text();
    ++compared;
  }
  EXPECT_GT(compared, ranges * 2 / 3);
}

TEST(HistogramVariants, FloatsNearTheEdgesOfManyRangesAreWhereNumPyHasThem) {
  compare_with_numpy<float, float>("f32", 400);
}

TEST(HistogramVariants, IntegersNearTheEdgesOfManyRangesAreWhereNumPyHasThem) {
  compare_with_numpy<std::int32_t, double>("i32", 400);
}

TEST(HistogramVariants, MostBinsOverRangesThatAreNotExact) {
  const Variant variant("direct", "length=100 bins=8", "VECTOR=1 ITEMS=4");
  for (const auto& [lo, hi] : {std::pair{-0.7, 0.9}, {0.0, 1.0}, {1.0, 1.1}, {-3e38, 1e37}}) {
    const NumPy<float> numpy(65536, lo, hi);
    const std::vector<float> values = values_near<float>({numpy.edges().begin(), numpy.edges().end()});
    const std::string text = "bins=65536 lo=" + text_of(lo) + " hi=" + text_of(hi);
    if (!refusal("length=0 " + text).empty()) {
      EXPECT_EQ(lo, 1.0);
      continue;
    }
    EXPECT_EQ(variant.count(problem("length=" + std::to_string(values.size()) + " " + text), values),
              numpy.count(values))
        << text;
  }
}

// Counters of 16 bits are emptied on the way; their neighbours in the same word must not notice.
TEST(HistogramVariants, CountersThatRunFullKeepTheirNeighbours) {
  constexpr std::int64_t length = 250007;
  std::vector<std::int32_t> same(length, 9001);
  for (std::size_t i = 0; i < same.size(); i += 3) same[i] = 9000;
  for (std::size_t i = 7; i < same.size(); i += 100) same[i] = -5;
  Counts expected(10000);
  for (const std::int32_t value : same) {
    if (value >= 0) ++expected[static_cast<std::size_t>(value)];
  }
  const Problem wanted = problem("length=250007 bins=10000 dtype=i32 function=bincount");
  for (const char* config :
       {"COUNTER_BITS=16 COPIES=1 BLOCKS=1", "COUNTER_BITS=16 COPIES=1 BLOCKS=1 MERGE=warp",
        "COUNTER_BITS=16 COPIES=2 BLOCKS=1 MERGE=run BLOCK=1024", "COUNTER_BITS=32 COPIES=1"}) {
    const Variant variant("shared", wanted.text(), config);
    EXPECT_EQ(variant.count(wanted, same), expected) << config;
  }
}

// Counters of bytes belong to values instead of bins: if they were emptied on the way, they would be counted
// in other bins.
TEST(HistogramSpace, BytesHaveNoPackedCounters) {
  const Template& shared = find_template(histogram_op(), "shared");
  EXPECT_THROW(
      (void)shared.space(problem("length=9000000 bins=100 hi=256 dtype=u8")).complete({{"COUNTER_BITS", 16}}),
      UsageError);
  EXPECT_EQ(shared.space(problem("length=9000000 bins=10000 dtype=i32 hi=10000"))
                .complete({{"COUNTER_BITS", 16}})
                .values()
                .integer("COUNTER_BITS"),
            16);
}

TEST(HistogramSpace, HasThousandsOfConfigsAndADefaultForEveryProblem) {
  for (const char* text : {"length=268435456 bins=256", "length=268435456 bins=65536", "length=1000 bins=1",
                           "length=268435456 bins=256 hi=256 dtype=u8", "length=5000 bins=58000 stride=7",
                           "length=67108864 bins=1000 dtype=i32 function=bincount"}) {
    for (const char* name : {"shared", "direct"}) {
      const Template& tmpl = find_template(histogram_op(), name);
      const Space space = tmpl.space(problem(text));
      EXPECT_GE(space.count(Space::Subset::promising), 100) << name << " " << text;
      EXPECT_LE(space.count(Space::Subset::promising), 10000) << name << " " << text;
      DeviceFacts device;
      device.kind = DeviceKind::cuda;
      device.max_shared_bytes_per_block = std::int64_t{227} * 1024;
      EXPECT_FALSE(exceeds(tmpl.work(problem(text), space.complete({})), device)) << name << " " << text;
    }
  }
}

TEST(HistogramSpace, BlocksAreMultiplesOfTheDevicesMultiprocessors) {
  const auto blocks = [](const char* name, const DeviceFacts& device) {
    const Space space = find_template(histogram_op(), name).space(problem("length=200000 bins=64"), device);
    std::vector<std::int64_t> found;
    for (const Axis& axis : space.axes()) {
      if (axis.name != "BLOCKS") continue;
      for (const Value& value : axis.values) {
        // Collects the values that are worth trying on this device. An H200's values are legal too.
        if (space.broken_worth(space.complete({{"BLOCKS", value}})) == 0)
          found.push_back(std::get<std::int64_t>(value));
      }
    }
    return found;
  };
  const auto gpu = [](int multiprocessors) {
    DeviceFacts device;
    device.kind = DeviceKind::cuda;
    device.multiprocessors = multiprocessors;
    return device;
  };
  using Blocks = std::vector<std::int64_t>;
  EXPECT_EQ(blocks("shared", gpu(20)), Blocks({80, 40, 20, 160, 1}));
  EXPECT_EQ(blocks("shared", gpu(68)), Blocks({272, 136, 68, 544, 1}));
  EXPECT_EQ(blocks("shared", gpu(108)), Blocks({432, 216, 108, 864, 1}));
  EXPECT_EQ(blocks("direct", gpu(20)), Blocks({160, 20, 40, 640}));
  EXPECT_EQ(blocks("direct", gpu(68)), Blocks({544, 68, 136, 2176}));
  EXPECT_EQ(blocks("direct", gpu(108)), Blocks({864, 108, 216, 3456}));
  for (const DeviceFacts& as_an_h200 : {gpu(132), gpu(0), DeviceFacts{}, make_host_device()->facts()}) {
    EXPECT_EQ(blocks("shared", as_an_h200), Blocks({528, 264, 132, 1056, 1}));
    EXPECT_EQ(blocks("direct", as_an_h200), Blocks({1056, 132, 264, 4224}));
  }
}

TEST(HistogramWork, ABlocksCountersHoldWhatItCounts) {
  const Template& shared = find_template(histogram_op(), "shared");
  const Problem wanted = problem("length=1099511627776 bins=16 dtype=u8 hi=256");
  const Work work = shared.work(wanted, shared.space(wanted).complete({{"BLOCKS", 132}}));
  const auto& launch = std::get<Launch>(work.steps.back());
  EXPECT_LT(wanted.integer("length") / launch.grid.x, std::int64_t{1} << 32);
}

}  // namespace
}  // namespace tunesmith::histogram_test
