// SPDX-License-Identifier: Apache-2.0
// Tests of scan in particular: NumPy's numbers and rules, strides, what is refused, workspaces, the spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/scan/op.h"
#include "tests/op_cases.h"
#include "tests/refusal.h"
#include "tests/rules.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device_memory.h"
#include "tunesmith/scan.h"

namespace tunesmith::scan_test {
namespace {

using testing::HasSubstr;

using enum ScanFunction;

const Op& op() { return find_op("scan"); }
Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

class ScanOnHost : public testing::Test {
 protected:
  template <ScanFunction function, typename T>
  auto scanned(const std::vector<T>& x, const ScanShape& shape, std::size_t skip = 0,
               ScanKind kind = ScanKind::inclusive) {
    using Result = ScanResult<function, T>;
    const auto size = static_cast<std::size_t>(shape.outer * shape.length * shape.inner);
    std::vector<char> bytes(size * sizeof(Result), 99);
    auto* const y = reinterpret_cast<Result*>(bytes.data());
    const Status status = scan<function>(dispatcher_, x.data() + skip, y, shape, kind);
    EXPECT_TRUE(status) << status.message();
    return std::vector<Result>(y, y + size);
  }
  template <ScanFunction function, typename T>
  auto scanned(const std::vector<T>& x, ScanKind kind = ScanKind::inclusive) {
    return scanned<function>(x, {.length = std::ssize(x)}, 0, kind);
  }

  Dispatcher dispatcher_{{.device = "host", .database = "", .cache_folder = ""}};
};

// numpy.arange(12).reshape(2, 3, 2), its axes and views.
TEST_F(ScanOnHost, AxesAndViewsAreNumPys) {
  std::vector<std::int32_t> x(12);
  std::iota(x.begin(), x.end(), 0);
  using Sums = std::vector<std::int64_t>;
  EXPECT_EQ(scanned<sum>(x), Sums({0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66}));
  EXPECT_EQ(scanned<sum>(x, {.length = 2, .inner = 6}), Sums({0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(scanned<sum>(x, {.outer = 2, .length = 3, .inner = 2}),
            Sums({0, 1, 2, 4, 6, 9, 6, 7, 14, 16, 24, 27}));
  EXPECT_EQ(scanned<sum>(x, {.outer = 6, .length = 2}), Sums({0, 1, 2, 5, 4, 9, 6, 13, 8, 17, 10, 21}));
  // a = x.reshape(3, 4): a[:, 1:3].cumsum(1), a[:, 1:3].cumsum(0), a.T.cumsum(1), x[1::3].cumsum()
  EXPECT_EQ(scanned<sum>(x, {.outer = 3, .length = 2, .outer_stride = 4}, 1), Sums({1, 3, 5, 11, 9, 19}));
  EXPECT_EQ(scanned<sum>(x, {.length = 3, .inner = 2, .stride = 4}, 1), Sums({1, 2, 6, 8, 15, 18}));
  EXPECT_EQ(scanned<sum>(x, {.outer = 4, .length = 3, .outer_stride = 1, .stride = 4}),
            Sums({0, 4, 12, 1, 6, 15, 2, 8, 18, 3, 10, 21}));
  EXPECT_EQ(scanned<sum>(x, {.length = 4, .stride = 3}, 1), Sums({1, 5, 12, 22}));
  // sliding_window_view(x[:5], 3).cumsum(1)
  EXPECT_EQ(scanned<sum>(x, {.outer = 3, .length = 3, .outer_stride = 1, .stride = 1}),
            Sums({0, 1, 3, 1, 3, 6, 2, 5, 9}));
}

TEST_F(ScanOnHost, TypesAndWrappingAreNumPys) {
  EXPECT_EQ(scanned<sum>(std::vector<std::int32_t>(3, 2147483647)),
            std::vector<std::int64_t>({2147483647, 4294967294, 6442450941}));
  EXPECT_EQ(scanned<sum>(std::vector<std::uint8_t>(2, 255)), std::vector<std::uint64_t>({255, 510}));
  const std::vector<std::int64_t> large(3, std::int64_t{1} << 62);
  EXPECT_EQ(scanned<sum>(large)[2], -4611686018427387904);
  EXPECT_EQ(scanned<product>(std::vector<std::int64_t>({3037000500, 3037000500, 3}))[1],
            -9223372036709301616);
  EXPECT_EQ(scanned<product>(std::vector<double>{0.5, 4, -1}), std::vector<double>({0.5, 2, -2}));
  EXPECT_EQ(scanned<max>(std::vector<std::uint8_t>{7, 3, 200}), std::vector<std::uint8_t>({7, 7, 200}));
  EXPECT_EQ(scanned<min>(std::vector<float>{2, -0.5, 4}), std::vector<float>({2, -0.5, -0.5}));
  EXPECT_EQ(scanned<any>(std::vector<float>{0, -0.0f, 0.5f, 0}),
            std::vector<bool>({false, false, true, true}));
  EXPECT_EQ(scanned<all>(std::vector<std::int64_t>{5, std::int64_t{1} << 32, 0, 1}),
            std::vector<bool>({true, true, false, false}));
}

TEST_F(ScanOnHost, AnExclusiveScanBeginsWithWhatChangesNothing) {
  constexpr ScanKind exclusive = ScanKind::exclusive;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(scanned<sum>(std::vector<float>{1, 2, 4}, exclusive), std::vector<float>({0, 1, 3}));
  EXPECT_EQ(scanned<product>(std::vector<std::int32_t>{5, 2, 4}, exclusive),
            std::vector<std::int64_t>({1, 5, 10}));
  EXPECT_EQ(scanned<max>(std::vector<float>{1, 2}, exclusive), std::vector<float>({-infinity, 1}));
  EXPECT_EQ(scanned<min>(std::vector<float>{1, 2}, exclusive), std::vector<float>({infinity, 1}));
  EXPECT_EQ(scanned<min>(std::vector<std::uint8_t>{1, 2}, exclusive), std::vector<std::uint8_t>({255, 1}));
  EXPECT_EQ(scanned<max>(std::vector<std::int64_t>{1, 2}, exclusive)[0],
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(scanned<any>(std::vector<float>{1, 0}, exclusive), std::vector<bool>({false, true}));
  EXPECT_EQ(scanned<all>(std::vector<float>{0, 1}, exclusive), std::vector<bool>({true, false}));
}

TEST_F(ScanOnHost, NaNAndInfinityAreNumPys) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x(5000, 1);
  x[2500] = nan;
  const auto stays = [&](const std::vector<double>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i >= 2500) << i;
  };
  stays(scanned<sum>(x));
  stays(scanned<product>(x));
  stays(scanned<max>(x));
  stays(scanned<min>(x));
  EXPECT_EQ(scanned<any>(std::vector<double>{0, nan}), std::vector<bool>({false, true}));
  const std::vector<double> sums = scanned<sum>(std::vector<double>{1, infinity, 2, -infinity});
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[2], infinity);
  EXPECT_TRUE(std::isnan(sums[3]));
}

TEST_F(ScanOnHost, NothingIsScannedAndWhatCannotBeIsRefused) {
  float x[4] = {1, 2, 3, 4};
  EXPECT_TRUE(scan<sum>(dispatcher_, x, static_cast<float*>(nullptr), {.length = 0}));
  EXPECT_TRUE(scan<max>(dispatcher_, x, static_cast<float*>(nullptr), {.outer = 0, .length = 3}));
  EXPECT_EQ(scan<sum>(dispatcher_, x, x, {.length = 4}).code(), Status::overlapping_arguments);
  EXPECT_EQ(scan<sum>(dispatcher_, x, static_cast<float*>(nullptr), {.length = 4}).code(),
            Status::null_argument);
  EXPECT_THAT(error_of([&] { (void)scan_plan(dispatcher_, {.length = -1}); }), HasSubstr("length is -1"));
  EXPECT_THAT(error_of([&] { (void)scan_plan(dispatcher_, {.length = 1}, sum, ScanKind::inclusive, "u32"); }),
              HasSubstr("u32"));
  EXPECT_THAT(error_of([] { problem("outer=1048577 length=1048576"); }), HasSubstr("2^40"));
  EXPECT_THAT(error_of([] { problem("outer=1048577 length=1048576 outer_stride=1 stride=1"); }),
              HasSubstr("2^40"));
  EXPECT_NO_THROW(problem("outer=1048576 length=1048576"));
}

// A sum of 2^24 and ones stays 2^24 in f32.
TEST_F(ScanOnHost, FloatsAreSummedInDouble) {
  const std::vector<float> x = {0x1p24f, 1, 1, 0.5f};
  std::vector<double> y(4);
  EXPECT_TRUE(scan_in_double<sum>(dispatcher_, x.data(), y.data(), {.length = 4}));
  EXPECT_EQ(y, std::vector<double>({0x1p24, 0x1p24 + 1, 0x1p24 + 2, 0x1p24 + 2.5}));
  EXPECT_EQ(scanned<sum>(x)[1], 0x1p24f);
  const std::vector<float> large = {0x1p100f, 0x1p100f, 0x1p-100f};
  EXPECT_TRUE(
      scan_in_double<product>(dispatcher_, large.data(), y.data(), {.length = 3}, ScanKind::exclusive));
  y.resize(3);
  EXPECT_EQ(y, std::vector<double>({1, 0x1p100, 0x1p200}));
  for (const char* text : {"length=4 function=max sum_dtype=f64", "length=4 dtype=f64 sum_dtype=f64"})
    EXPECT_THAT(error_of([&] { problem(text); }), HasSubstr("leave it at same")) << text;
}

// numpy.flip(numpy.cumsum(numpy.flip(x, axis), axis), axis)
TEST_F(ScanOnHost, AReverseScanBeginsWithTheLastElement) {
  std::vector<std::int32_t> x(12);
  std::iota(x.begin(), x.end(), 0);
  using Sums = std::vector<std::int64_t>;
  EXPECT_EQ(scanned<sum>(x, {.length = 12, .reverse = true}),
            Sums({66, 66, 65, 63, 60, 56, 51, 45, 38, 30, 21, 11}));
  EXPECT_EQ(scanned<sum>(x, {.outer = 2, .length = 3, .inner = 2, .reverse = true}),
            Sums({6, 9, 6, 8, 4, 5, 24, 27, 18, 20, 10, 11}));
  EXPECT_EQ(scanned<sum>(x, {.length = 3, .inner = 2, .stride = 4, .reverse = true}, 1),
            Sums({15, 18, 14, 16, 9, 10}));
  EXPECT_EQ(scanned<sum>(x, {.outer = 3, .length = 4, .reverse = true}, 0, ScanKind::exclusive),
            Sums({6, 5, 3, 0, 18, 13, 7, 0, 30, 21, 11, 0}));
  EXPECT_EQ(scanned<max>(std::vector<float>{3, 1, 2}, {.length = 3, .reverse = true}),
            std::vector<float>({3, 2, 2}));
}

TEST_F(ScanOnHost, ExpressionsAreCombinedInOrder) {
  const auto scanned_by = [&]<typename T>(const char* expression, const std::vector<T>& x,
                                          std::optional<double> first = std::nullopt, bool reverse = false) {
    std::vector<T> y(x.size());
    const Status status = scan_expression(dispatcher_, expression, x.data(), y.data(),
                                          {.length = std::ssize(x), .reverse = reverse}, first);
    EXPECT_TRUE(status) << status.message();
    return y;
  };
  using Reals = std::vector<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // The expression takes the last value that is a number, from either side: the order counts.
  const char* const filled = "b == b ? b : a";
  EXPECT_EQ(scanned_by(filled, Reals{1, nan, nan, 4, nan}), Reals({1, 1, 1, 4, 4}));
  EXPECT_EQ(scanned_by(filled, Reals{1, nan, nan, 4, 5}, std::nullopt, true), Reals({1, 4, 4, 4, 5}));
  EXPECT_EQ(scanned_by("min(a, b)", Reals{3, 1, 2}, std::numeric_limits<double>::infinity()),
            Reals({std::numeric_limits<float>::infinity(), 3, 1}));
  EXPECT_EQ(scanned_by("a * b", std::vector<std::int32_t>{65536, 65536, 3}, 1, true),
            std::vector<std::int32_t>({196608, 3, 1}));
  const std::vector<std::int64_t> large = {std::int64_t{1} << 53, 1, 1};
  EXPECT_EQ(scanned_by("a + b", large)[2], (std::int64_t{1} << 53) + 2);
  // ln(e^1000 + e^1000), which no sum of powers gives.
  EXPECT_NEAR(scanned_by("max(a, b) + log1p(exp(-abs(a - b)))", std::vector<double>{1000, 1000})[1],
              1000 + std::log(2), 1e-12);
}

TEST_F(ScanOnHost, ExpressionsThatCannotBeScannedAreRefused) {
  const auto refusal = [](const char* text) { return error_of([&] { problem(text); }); };
  EXPECT_THAT(refusal("length=4 expression=\"a - b\""), HasSubstr("not associative"));
  EXPECT_THAT(refusal("length=4 expression=\"(a + b) / 2\""), HasSubstr("not associative"));
  EXPECT_THAT(refusal("length=4 expression=\"a / b\" dtype=i32"), HasSubstr("not associative"));
  EXPECT_THAT(refusal("length=4 expression=\"a\""), HasSubstr("has 1 inputs"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b + c\""), HasSubstr("has 3 inputs"));
  EXPECT_THAT(refusal("length=4 expression=\"a +\""), HasSubstr("At character"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" dtype=u8"), HasSubstr("convert to i32"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" function=max"), HasSubstr("leave them"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" sum_dtype=f64"), HasSubstr("leave them"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" kind=exclusive"), HasSubstr("does not say"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" identity=0"), HasSubstr("leave it at none"));
  EXPECT_THAT(refusal("length=4 kind=exclusive identity=0"), HasSubstr("leave it at none"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" kind=exclusive identity=0.5 dtype=i32"),
              HasSubstr("whole"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" kind=exclusive identity=2147483648 dtype=i32"),
              HasSubstr("range"));
  EXPECT_THAT(refusal("length=4 expression=\"min(a, b)\" kind=exclusive identity=9"),
              HasSubstr("with 10 comes to 9"));
  EXPECT_THAT(refusal("length=4 expression=\"a + b\" kind=exclusive identity=x"),
              HasSubstr("decimal number"));
  for (const char* allowed : {"a * b / (a + b)", "a + b - a * b", "sqrt(a * a + b * b) + 0", "hypot(a, b)"})
    EXPECT_EQ(refusal(("length=4 expression=\"" + std::string(allowed) + "\"").c_str()), "") << allowed;
}

// An identity as C++ writes it, as Python does, and as people may.
TEST(ScanProblem, AnIdentityIsOneNumberHoweverItIsWritten) {
  const auto stored = [](const std::string& type, const std::string& identity) {
    return problem("length=4 expression=\"a + b\" kind=exclusive dtype=" + type + " identity=" + identity)
        .string("identity");
  };
  for (const char* zero : {"0", "0.0", "0e0", "00"}) EXPECT_EQ(stored("f64", zero), "0") << zero;
  EXPECT_EQ(stored("f64", "-0.0"), "-0");
  EXPECT_EQ(stored("f64", "\"-0\""), "-0");
  const auto product = [](const char* identity) {
    return problem("length=4 expression=\"a * b\" dtype=i64 kind=exclusive identity=" +
                   std::string(identity));
  };
  EXPECT_EQ(product("1"), product("001"));
}

TEST_F(ScanOnHost, TheTypedFunctionsPlanTheirProblem) {
  EXPECT_EQ(scan_expression_plan(dispatcher_, "max(a, b)", {.length = 5, .reverse = true}, "f64",
                                 -std::numeric_limits<double>::infinity())
                .problem(),
            "outer=1 length=5 inner=1 outer_stride=0 stride=0 function=sum kind=exclusive dtype=f64 "
            "sum_dtype=same direction=reverse expression=\"max(a, b)\" identity=-inf");
  EXPECT_EQ(
      scan_plan(dispatcher_, {.outer = 3, .length = 5, .inner = 7, .outer_stride = 40}, product).problem(),
      "outer=3 length=5 inner=7 outer_stride=40 stride=0 function=product kind=inclusive dtype=f32 "
      "sum_dtype=same direction=forward expression=none identity=none");
  EXPECT_EQ(
      scan_plan(dispatcher_, {.outer = 4, .length = 5, .outer_stride = 5}, all, ScanKind::exclusive, "bf16")
          .problem(),
      "outer=4 length=5 inner=1 outer_stride=0 stride=0 function=all kind=exclusive dtype=bf16 "
      "sum_dtype=same direction=forward expression=none identity=none");
}

// ---- variants

struct Case {
  const char* template_name;
  const char* problem;
  const char* config;
};

// Lines with so many tiles that groups and sections are passed on, and several lines whose tiles take turns.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // Base: parts by blocks, in which a lane adds up several totals before its own, and parts by threads.
      {"base", "length=150001", "BLOCK=128"},
      {"base", "outer=2 length=40001 dtype=i32 kind=exclusive direction=reverse", "BLOCK=256"},
      {"base", "length=9001 inner=3 expression=\"b == b ? b : a\" dtype=f64 kind=exclusive identity=0",
       "BLOCK=128"},
      {"base", "length=32000 inner=33 kind=exclusive", "BLOCK=256"},
      {"lookback", "length=150001", "BLOCK=128 ITEMS=1 VECTOR=1"},
      {"lookback", "outer=3 length=9001 dtype=f64 kind=exclusive", "BLOCK=128 ITEMS=1 VECTOR=1"},
      {"lookback", "length=20001 dtype=i32", "BLOCK=128 ITEMS=2 VECTOR=4"},
      {"lookback", "length=60001 kind=exclusive direction=reverse",
       "BLOCK=128 ITEMS=1 VECTOR=2 TOTAL=summed"},
      {"narrow", "length=16500 inner=33", "BLOCK=128 ITEMS=8 VECTOR=2"},
      {"columns", "outer=2 length=1500 inner=7", "BLOCK_X=4 BLOCK_Y=8 ITEMS=4 VECTOR=1 FAN=8"},
      {"columns", "length=2500 inner=12 sum_dtype=f64", "BLOCK_X=4 BLOCK_Y=8 ITEMS=4 VECTOR=2 FAN=8"},
      {"narrow", "length=9001 inner=3", "BLOCK=128 ITEMS=8 VECTOR=4"},
      {"narrow", "outer=2 length=3000 inner=33 dtype=f16", "BLOCK=128 ITEMS=8 VECTOR=1"},
      {"narrow", "length=9001 inner=3 direction=reverse kind=exclusive",
       "BLOCK=128 ITEMS=9 VECTOR=4 HELD=shared"},
      {"narrow", "outer=2 length=3000 inner=5 dtype=u8", "BLOCK=128 ITEMS=17 VECTOR=4 HELD=shared"},
      {"rows", "outer=9 length=1000 dtype=f64", "BLOCK=128 TEAM=64 ITEMS=1 VECTOR=2"},
      {"rows", "outer=2 length=3000", "BLOCK=128 TEAM=128 ITEMS=2 VECTOR=2 BEFORE=summed"},
      {"rows", "length=2100 direction=reverse dtype=i32",
       "BLOCK=128 TEAM=128 ITEMS=1 VECTOR=4 BEFORE=summed"},
      {"rows", "length=3003 direction=reverse kind=exclusive",
       "BLOCK=128 TEAM=128 ITEMS=1 VECTOR=4 BEFORE=summed"},
      {"rows", "length=3001", "BLOCK=128 TEAM=64 ITEMS=2 VECTOR=2"},
      {"lookback", "length=9001 direction=reverse kind=exclusive", "BLOCK=128 ITEMS=1 VECTOR=2"},
      {"lookback", "length=5001 expression=\"b == b ? b : a\" dtype=f64", "BLOCK=128 ITEMS=1 VECTOR=1"},
      {"columns", "length=900 inner=3 direction=reverse", "BLOCK_X=4 BLOCK_Y=8 ITEMS=4 VECTOR=1 FAN=8"},
      {"columns", "length=30 inner=70", "BLOCK_X=64 BLOCK_Y=1 ITEMS=32 VECTOR=2"},
      {"narrow", "length=9001 inner=3 direction=reverse expression=\"max(a, b)\"",
       "BLOCK=128 ITEMS=8 VECTOR=4"},
  };
  return all;
}

// Launches one variant twice on the host, on a workspace that is zero. Returns the bits of the output, and
// checks that the workspace is zero again.
std::string run(Device& device, Executable& executable, const Work& work, const Problem& of,
                const std::string& x, bool reverse) {
  const std::int64_t y_bytes = elements(op().arguments[1], of) * bytes(op().arguments[1].dtype(of));
  const DeviceMemory owned[] = {{device, std::ssize(x)}, {device, y_bytes}, {device, work.workspace_bytes}};
  void* const arguments[] = {owned[0].get(), owned[1].get()};
  device.upload(arguments[0], x.data(), std::ssize(x));
  device.fill(owned[2].get(), 0, work.zeroed_bytes);
  executable.reverse_threads(reverse);
  std::string y(static_cast<std::size_t>(y_bytes), '\0'), first;
  for (int launch = 0; launch < 2; ++launch) {
    device.fill(arguments[1], 0xff, y_bytes);
    EXPECT_EQ(executable.launch(arguments, owned[2].get(), nullptr), 0);
    device.download(y.data(), arguments[1], y_bytes);
    if (launch == 0) first = y;
  }
  EXPECT_EQ(first, y) << "a second launch on the same workspace";
  std::string zeroed(static_cast<std::size_t>(work.zeroed_bytes), '\1');
  device.download(zeroed.data(), owned[2].get(), work.zeroed_bytes);
  EXPECT_EQ(zeroed.find_first_not_of('\0'), std::string::npos) << "the workspace is not as it was";
  return y;
}

// Sums of integers are exact in any order, so that an element left out or taken twice is seen. Sums of
// fractions have other bits in another order, so blocks that come in another order must give the same bits.
TEST(ScanVariants, GiveTheSameBitsInAnyOrderOfBlocksAndLeaveTheWorkspaceZeroed) {
  const std::unique_ptr<Device> device = make_host_device();
  for (const Case& which : in_turn(cases(), 3, {&op(), &op().templates.front()})) {
    SCOPED_TRACE(std::string(which.template_name) + " " + which.config + " on " + which.problem);
    const Problem wanted = problem(which.problem);
    const Template& tmpl = find_template(op(), which.template_name);
    const Config config = tmpl.space(wanted).complete(Values::parse(which.config));
    const Work work = tmpl.work(wanted, config);
    const Source source = render(op(), tmpl, wanted, config, "host", template_files());
    const Compilation compiled = make_host_toolchain()->compile(source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    const std::unique_ptr<Executable> executable = device->load(compiled.bytes, source.suffix, work);
    const DType dtype = dtype_of(wanted);

    std::vector<std::vector<double>> inputs = make_inputs(op(), wanted, 7, 1);
    const std::string fractions = pack(dtype, inputs[0]);
    const std::string bits = run(*device, *executable, work, wanted, fractions, false);
    EXPECT_EQ(run(*device, *executable, work, wanted, fractions, true), bits);
    for (double& x : inputs[0]) x = std::floor(x / 50);
    const ExpectedOutput expected = reference_of(op(), wanted, inputs, 1);
    EXPECT_EQ(unpack(op().arguments[1].dtype(wanted),
                     run(*device, *executable, work, wanted, pack(dtype, inputs[0]), false)),
              expected.value);
  }
}

// A sum that is carried from element to element in f32 is off by a hundredth here.
TEST(ScanVariants, LongSumsAreMoreAccurateThanOneAfterTheOther) {
  const Problem wanted = problem("length=1000000");
  const std::vector<std::vector<double>> inputs = {std::vector<double>(1000000, 0x1.99999ap-4), {}};
  const ExpectedOutput expected = reference_of(op(), wanted, inputs, 1);
  EXPECT_NEAR(expected.value.back(), 100000.00149, 1e-4);
  EXPECT_LT(expected.permitted_error.back(), 1e-4 * expected.value.back());
  float carried = 0;
  for (int i = 0; i < 1000000; ++i) carried += 0x1.99999ap-4f;
  EXPECT_GT(std::abs(static_cast<double>(carried) - expected.value.back()), expected.permitted_error.back());
  const ExpectedOutput in_double = reference_of(op(), problem("length=1000000 sum_dtype=f64"), inputs, 1);
  EXPECT_LT(in_double.permitted_error.back(), 0x1p-28 * expected.permitted_error.back());
}

TEST(ScanReference, ComputesAnyPartOfALine) {
  const Problem wanted = problem("outer=3 length=50 inner=4 kind=exclusive");
  const std::vector<std::vector<double>> inputs = make_inputs(op(), wanted, 1);
  const ExpectedOutput whole = reference_of(op(), wanted, inputs, 1);
  std::vector<double> value(100), permitted(100);
  op().reference(wanted, inputs, 1, 333, 433, value, permitted);
  EXPECT_EQ(value, std::vector<double>(whole.value.begin() + 333, whole.value.begin() + 433));
  EXPECT_EQ(whole.value[0], 0);
  EXPECT_EQ(whole.value[204], inputs[0][200]);
}

TEST(ScanReference, PermitsAnythingOfProductsThatLeaveTheRange) {
  const Problem wanted = problem("length=6 function=product");
  // 2^-100, 2^-100 * 2^-100: lost in f32, whatever comes later.
  const ExpectedOutput lost = reference_of(
      op(), wanted, std::vector<std::vector<double>>{{0x1p-100, 1, 0x1p-100, 0x1p100, 0x1p100, 1}, {}}, 1);
  EXPECT_LT(lost.permitted_error[1], 1e-30);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_TRUE(std::isinf(lost.permitted_error[i])) << i;
  const ExpectedOutput kept =
      reference_of(op(), wanted, std::vector<std::vector<double>>{{0x1p-100, 0x1p100, 0, 2, 3, 1}, {}}, 1);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_LT(kept.permitted_error[i], 1e-5) << i;
}

// A reference of 40 elements in the order of the scan, computed one after the other in double.
TEST(ScanReference, CombinesExpressionsInTheOrderOfTheScan) {
  const char* const text = "outer=2 length=40 inner=3 direction=reverse expression=\"a + b - a * b\"";
  const std::vector<std::vector<double>> inputs = make_inputs(op(), problem(text), 1);
  const ExpectedOutput whole = reference_of(op(), problem(text), inputs, 1);
  double a = inputs[0][239], largest = 0;
  for (int l = 39; l >= 0; --l) {
    const auto at = static_cast<std::size_t>(120 + 3 * l + 2);
    if (l < 39) a = a + inputs[0][at] - a * inputs[0][at];
    EXPECT_NEAR(whole.value[at], a, 1e-12) << l;
    largest = std::max(largest, whole.permitted_error[at]);
  }
  EXPECT_GT(largest, 0);
  EXPECT_LT(largest, 1e-2);
  std::vector<double> value(70), permitted(70);
  op().reference(problem(text), inputs, 1, 100, 170, value, permitted);
  EXPECT_EQ(value, std::vector<double>(whole.value.begin() + 100, whole.value.begin() + 170));
}

TEST(ScanSpace, HasHundredsOfConfigsForEveryProblem) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const auto& [template_name, text] : std::vector<std::pair<std::string, std::string>>{
           {"lookback", "length=67108864"},
           {"lookback", "outer=65535 length=1001 dtype=u8"},
           {"rows", "outer=4096 length=4096"},
           {"rows", "outer=65536 length=100"},
           {"rows", "outer=3 length=5 dtype=i32"},
           {"columns", "length=4096 inner=4096"},
           {"columns", "outer=64 length=1000 inner=333 dtype=f64"},
           {"columns", "length=1 inner=4 function=any dtype=u8"},
           {"narrow", "length=1048576 inner=7"},
           {"narrow", "outer=3 length=1001 inner=64 dtype=u8"}}) {
    SCOPED_TRACE(template_name + " " + text);
    const Problem wanted = problem(text);
    const Template& tmpl = find_template(op(), template_name);
    EXPECT_EQ(tmpl.refuses(wanted), "");
    const Space space = tmpl.space(wanted);
    EXPECT_GE(space.count(Space::Subset::promising), 50);
    EXPECT_LE(space.count(Space::Subset::promising), 12000);
    for (const Config& config : space.sample(100, 1))
      EXPECT_LE(tmpl.alignment_bytes(wanted, config), 16) << config.text();
  }
}

TEST(ScanSpace, RulesAreSaid) {
  const RuleCase cases[] = {
      {"rows", "outer=3 length=1001", "VECTOR=2", "VECTOR must divide"},
      {"rows", "outer=3 length=1000 outer_stride=1002", "VECTOR=4", "VECTOR must divide"},
      {"rows", "outer=3 length=1001", "VECTOR=2 TAIL=element", "VECTOR must divide"},
      {"rows", "length=1001", "VECTOR=2 TAIL=vector", "VECTOR must divide"},
      {"rows", "length=1001", "VECTOR=2 TAIL=element", ""},
      {"rows", "length=1000", "VECTOR=2 TAIL=element", "ends after one"},
      {"rows", "outer=3 length=1000", "BLOCK=128 TEAM=256", "A team is at most a block"},
      {"rows", "outer=3 length=100000", "TEAM=32 ITEMS=4 VECTOR=4", "at most 128 tiles"},
      {"rows", "outer=3 length=1000", "TEAM=256 ITEMS=8 VECTOR=4", ""},
      {"columns", "length=1000 inner=6", "VECTOR=4", "VECTOR must divide"},
      {"columns", "length=1000 inner=8 stride=9", "VECTOR=2", "VECTOR must divide"},
      {"columns", "length=1000 inner=8", "BLOCK_X=128 BLOCK_Y=16", "32 to 1024 threads"},
      {"columns", "length=1000 inner=8", "BLOCK_X=64 BLOCK_Y=4", ""},
      {"rows", "length=3000", "BLOCK=256 TEAM=128 ITEMS=1 BEFORE=summed", "is one team"},
      {"rows", "length=30000", "BLOCK=128 TEAM=128 ITEMS=8 BEFORE=summed", "more than 128 elements"},
      {"rows", "length=3000 expression=\"max(a, b)\"", "BLOCK=128 TEAM=128 ITEMS=1 BEFORE=summed",
       "any order"},
      {"columns", "length=40 inner=8", "BLOCK_X=32 BLOCK_Y=1 ITEMS=8", "at least 16 rows"},
      {"columns", "length=8 inner=8", "BLOCK_X=32 BLOCK_Y=1 ITEMS=8", ""},
      {"columns", "length=100 inner=8", "BLOCK_X=2 BLOCK_Y=16 ITEMS=8 VECTOR=1", "of 4 columns"},
      {"lookback", "length=100000 expression=\"max(a, b)\"", "TOTAL=summed", "after its tile is scanned"},
      {"lookback", "length=1000", "TOTAL=summed", "passes nothing on"},
      {"narrow", "length=1000 inner=64", "BLOCK=128 VECTOR=4", "a thread for each column"},
      {"narrow", "outer=2 length=1001 inner=3", "VECTOR=2", "VECTOR must divide"},
      {"narrow", "length=1001 inner=3 dtype=u8", "VECTOR=2 HELD=shared", "of 4 bytes"},
      {"narrow", "length=1001 inner=3", "HELD=shared LOAD=streaming", "no hint"},
      {"narrow", "length=1001 inner=3", "ITEMS=56", "More than 33 rows"},
      {"narrow", "length=1001 inner=3 dtype=u8", "BLOCK=1024 ITEMS=33 VECTOR=4 HELD=shared RESIDENT_WARPS=32",
       "227 KiB"},
  };
  expect_rules(op(), cases);
}

// NumPy's x[1:] is served too: single elements need no more alignment than an array of them has.
TEST(ScanSpace, SingleElementsNeedNoAlignment) {
  for (const auto& [text, bytes] : std::vector<std::pair<std::string, std::int64_t>>{
           {"length=9001 dtype=i32", 4}, {"length=9001 dtype=u8", 1}, {"length=9001 function=any", 1}}) {
    const Problem wanted = problem(text);
    for (const char* name : {"base", "lookback", "rows"}) {
      const Template& tmpl = find_template(op(), name);
      const Config config =
          tmpl.space(wanted).complete(Values::parse(name == std::string("base") ? "BLOCK=128" : "VECTOR=1"));
      EXPECT_EQ(tmpl.alignment_bytes(wanted, config), bytes) << name << " " << text;
      EXPECT_EQ(element_alignment(op(), wanted), bytes);
    }
  }
}

TEST(ScanSpace, TemplatesSayWhatTheyAreNotFor) {
  const auto refusal = [](const char* name, const char* text) {
    return find_template(op(), name).refuses(problem(text));
  };
  EXPECT_THAT(refusal("lookback", "length=4 inner=2"), HasSubstr("inner of 2"));
  EXPECT_THAT(refusal("lookback", "outer=2147483648 length=4"), HasSubstr("take rows"));
  EXPECT_THAT(refusal("lookback", "outer=17 length=511"), HasSubstr("take rows"));
  EXPECT_EQ(refusal("lookback", "outer=17 length=512"), "");
  EXPECT_THAT(refusal("rows", "length=4 stride=3"), HasSubstr("stride of 3"));
  EXPECT_THAT(refusal("columns", "length=0 inner=3"), HasSubstr("base"));
  EXPECT_THAT(refusal("columns", "outer=3 length=4"), HasSubstr("lookback and rows"));
  EXPECT_THAT(refusal("narrow", "length=4 inner=65"), HasSubstr("65"));
  EXPECT_THAT(refusal("narrow", "length=4 inner=6 stride=7"), HasSubstr("stride of 7"));
}

}  // namespace
}  // namespace tunesmith::scan_test
