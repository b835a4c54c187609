// SPDX-License-Identifier: Apache-2.0
// Tests of rank_filter: the order of zeros, infinities and NaN, bit by bit in every template; values outside;
// networks; refusals; spaces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "choose/select.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/rank_filter/network_text.h"
#include "tests/op_cases.h"
#include "tests/refusal.h"
#include "tests/rules.h"
#include "tuner/device/device.h"
#include "tuner/device/device_memory.h"
#include "tunesmith/rank_filter.h"

namespace tunesmith::rank_filter_test {
namespace {

const Op& op() { return find_op("rank_filter"); }
Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

class RankFilterOnHost : public testing::Test {
 protected:
  template <typename T>
  std::vector<T> filtered(const std::vector<T>& image, const RankFilterShape& shape, std::int64_t rank) {
    std::vector<T> output(image.size(), T(99));
    const Status status = rank_filter(dispatcher_, image.data(), output.data(), shape, rank);
    EXPECT_TRUE(status) << status.message();
    return output;
  }
  Dispatcher dispatcher_{{.device = "host", .database = "", .cache_folder = ""}};
};

// scipy.ndimage.rank_filter([1, 9, 2, 8, 3], 1, size=3, mode=...)
TEST_F(RankFilterOnHost, BoundariesAndOriginsAreSciPys) {
  using Row = std::vector<std::int32_t>;
  const Row x = {1, 9, 2, 8, 3};
  using enum Boundary;
  RankFilterShape shape{.width = 5, .window_width = 3};
  EXPECT_EQ(filtered(x, shape, 1), Row({1, 2, 8, 3, 3}));
  shape.boundary = mirror;
  EXPECT_EQ(filtered(x, shape, 1), Row({9, 2, 8, 3, 8}));
  shape.boundary = wrap;
  EXPECT_EQ(filtered(x, shape, 1), Row({3, 2, 8, 3, 3}));
  shape.boundary = nearest;
  EXPECT_EQ(filtered(x, shape, 1), Row({1, 2, 8, 3, 3}));
  shape.boundary = zero;
  EXPECT_EQ(filtered(x, shape, 1), Row({1, 2, 8, 3, 3}));
  shape.boundary = constant;
  shape.value = 7.9;
  EXPECT_EQ(filtered(x, shape, 1), Row({7, 2, 8, 3, 7}));
  shape.boundary = reflect;
  shape.origin_x = 1;  // the window ends at its output
  EXPECT_EQ(filtered(x, shape, 2), Row({9, 9, 9, 9, 8}));
  shape.origin_x = 0;
  shape.footprint = "x.x";
  EXPECT_EQ(filtered(x, shape, 0), Row({1, 1, 8, 2, 3}));
  EXPECT_EQ(rank_filter_count(shape), 2);
}

TEST_F(RankFilterOnHost, IntegersCutAndClampWhatStandsOutside) {
  RankFilterShape shape{.width = 1, .window_width = 3, .boundary = Boundary::constant};
  const auto outside = [&](double value, auto element) {
    shape.value = value;
    return filtered(std::vector{element}, shape, 1)[0];
  };
  EXPECT_EQ(outside(300, std::uint8_t{7}), 255);
  EXPECT_EQ(outside(-1, std::uint8_t{7}), 0);
  EXPECT_EQ(outside(-2.9, std::int16_t{7}), -2);
  EXPECT_EQ(outside(std::nan(""), std::int32_t{7}), 0);
  EXPECT_EQ(outside(0.1, 7.0F), 0.1F);
}

TEST_F(RankFilterOnHost, NothingIsFilteredAndWhatCannotBeIsRefused) {
  std::vector<float> x(9, 1);
  const RankFilterShape shape{.height = 3, .width = 3, .window_height = 3, .window_width = 3};
  EXPECT_TRUE(median_filter(dispatcher_, x.data(), static_cast<float*>(nullptr), {.height = 0, .width = 3}));
  EXPECT_EQ(median_filter(dispatcher_, x.data(), x.data(), shape).code(), Status::overlapping_arguments);
  EXPECT_EQ(maximum_filter(dispatcher_, x.data(), static_cast<float*>(nullptr), shape).code(),
            Status::null_argument);
  expect_refusals(op(), "height=9 width=9 ",
                  {{"window_width=3 rank=3", "The rank 3 is not below the 3 elements"},
                   {"window_width=4 rank=0 origin_x=2", "from -2 to 1"},
                   {"window_width=3 rank=0 footprint=x.x.", "rows of 3 places"},
                   {"window_width=3 rank=0 footprint=xyx", "is no footprint"},
                   {"window_width=3 rank=0 footprint=xxx", "written box"},
                   {"window_width=3 rank=0 footprint=...", "without an x"},
                   {"window_width=4097 window_height=4097 rank=0", "2^24"},
                   {"depth=1099511627776 window_width=3 rank=0", "2^40"},
                   {"window_width=3 rank=0 dtype=u32", "u32"}});
}

TEST_F(RankFilterOnHost, TheTypedFunctionsPlanTheirProblem) {
  EXPECT_EQ(rank_filter_plan(dispatcher_,
                             {.height = 5,
                              .width = 6,
                              .window_height = 3,
                              .window_width = 3,
                              .boundary = Boundary::constant,
                              .value = 0.5,
                              .origin_y = -1,
                              .footprint = ".x./xxx/.x."},
                             2, "f16")
                .problem(),
            "depth=1 height=5 width=6 window_depth=1 window_height=3 window_width=3 footprint=.x./xxx/.x. "
            "rank=2 boundary=constant origin_z=0 origin_y=-1 origin_x=0 dtype=f16 value=0.5");
}

// ---- the order

struct Case {
  const char* template_name;
  const char* problem;
  const char* config;
};

std::uint32_t sign_of(DType dtype) { return dtype == DType::f32 ? 0x80000000U : 0x8000U; }
std::uint32_t infinity_of(DType dtype) {
  if (dtype == DType::f32) return 0x7F800000U;
  return dtype == DType::f16 ? 0x7C00U : 0x7F80U;
}

// The key that has the order of the elements: all NaN have the same.
std::uint32_t key(DType dtype, std::uint32_t bits) {
  const std::uint32_t sign = sign_of(dtype), infinity = infinity_of(dtype);
  if ((bits & (sign - 1)) > infinity) bits = sign - 1;
  return (bits & sign) != 0 ? (sign | (sign - 1)) ^ bits : bits | sign;
}

// Uses numbers that comparisons call equal, or neither less nor greater. A wrong one is found at any place.
TEST(RankFilterOrder, IsOneOfAllBitsInEveryTemplate) {
  const std::vector<Case> cases = {
      {"base", "height=9 width=40 window_height=3 window_width=3 rank=4", ""},
      {"base", "height=9 width=40 window_height=5 window_width=5 rank=12 dtype=f16", ""},
      {"base", "height=9 width=40 window_height=9 window_width=9 rank=40 dtype=bf16", ""},
      {"base", "height=9 width=40 window_height=9 window_width=9 rank=60", ""},
      {"base", "height=9 width=40 window_height=3 window_width=9 rank=0", ""},
      {"base", "height=9 width=40 window_height=3 window_width=3 rank=8 dtype=bf16", ""},
      {"base",
       "height=9 width=40 window_height=5 window_width=8 rank=15 "
       "footprint=xxxxxxx./.xxxxxxx/xxxxxxx./.xxxxxxx/xxx.xxxx",
       ""},
      {"network", "height=9 width=40 window_height=3 window_width=3 rank=4", ""},
      {"network", "height=9 width=40 window_height=3 window_width=5 rank=3 dtype=f16", ""},
      {"network", "height=9 width=40 window_height=5 window_width=2 rank=9", "OUTPUTS_X=2 VECTOR=4"},
      {"network", "height=9 width=40 window_height=3 window_width=3 rank=7 dtype=bf16", "OUTPUTS_X=8"},
      {"extreme", "height=9 width=40 window_height=3 window_width=3 rank=0", "BLOCK=64 VECTOR=1"},
      {"extreme", "height=9 width=40 window_height=2 window_width=3 rank=5", "BLOCK=64"},
      {"extreme", "height=9 width=40 window_height=3 window_width=3 rank=0 dtype=f16", "BLOCK=64"},
      {"extreme", "height=9 width=40 window_height=3 window_width=3 rank=8 dtype=bf16", "BLOCK=64"},
      {"transposed", "height=9 width=40 window_height=3 window_width=3 rank=0", "TILE_Y=32 RUN=8"},
      {"transposed", "height=9 width=40 window_height=2 window_width=5 rank=9", "TILE_Y=32 RUN=8"},
      {"transposed", "height=9 width=40 window_height=3 window_width=3 rank=0 dtype=f16", "TILE_Y=32 RUN=8"},
      {"transposed", "height=9 width=40 window_height=3 window_width=3 rank=8 dtype=bf16", "TILE_Y=32 RUN=8"},
      {"ranks", "height=9 width=40 window_height=7 window_width=8 rank=20", "SORTED=2048 TILE_X=32"},
      {"ranks", "height=9 width=40 window_height=7 window_width=8 rank=40 dtype=f16",
       "SORTED=2048 TILE_X=32 GROUP=8"},
      {"ranks",
       "height=9 width=40 window_height=9 window_width=11 rank=40 "
       "footprint=...xxxxx.../.xxxxxxxxx./.xxxxxxxxx./xxxxxxxxxxx/xx.xxxxxxxx/xxxxxxxxxxx/.xxxxxxxxx./"
       ".xxxxxxxxx./...xxxxx...",
       "SORTED=2048 TILE_X=16"},
  };
  const std::unique_ptr<Device> device = make_host_device();
  for (const Case& which : in_turn(cases, 3, {&op(), &op().templates.front()})) {
    SCOPED_TRACE(std::string(which.template_name) + " " + which.problem);
    const Problem wanted = problem(which.problem);
    const DType dtype = dtype_of(wanted);
    const std::uint32_t sign = sign_of(dtype), infinity = infinity_of(dtype);
    const std::vector<std::uint32_t> unloved = {
        0, sign, 1, sign | 1, infinity, sign | infinity, sign - 1, 2 * sign - 1, infinity - 1};
    const std::int64_t height = 9, width = 40;
    std::vector<std::uint32_t> image;
    std::uint32_t state = 1;
    for (std::int64_t n = 0; n < height * width; ++n) {
      state = state * 1664525U + 1013904223U;
      image.push_back(unloved[(state >> 16) % unloved.size()]);
    }
    const auto size = static_cast<std::size_t>(bytes(dtype));
    std::string packed(image.size() * size, '\0');
    for (std::size_t n = 0; n < image.size(); ++n) std::memcpy(packed.data() + n * size, &image[n], size);

    const Template& tmpl = find_template(op(), which.template_name);
    const Config config = tmpl.space(wanted).complete(Values::parse(which.config));
    const Work work = tmpl.work(wanted, config);
    const Source source = render(op(), tmpl, wanted, config, "host", template_files());
    const Compilation compiled = make_host_toolchain()->compile(source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    const std::unique_ptr<Executable> executable = device->load(compiled.bytes, source.suffix, work);
    const DeviceMemory owned[] = {{*device, std::ssize(packed)}, {*device, std::ssize(packed)}};
    void* const arguments[] = {owned[0].get(), owned[1].get()};
    device->upload(arguments[0], packed.data(), std::ssize(packed));
    ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
    device->download(packed.data(), arguments[1], std::ssize(packed));

    const rank_filter_op::Dims d(wanted);
    const std::string bits = rank_filter_op::footprint_bits(wanted);
    const auto reflected = [](std::int64_t at, std::int64_t extent) {
      return at < 0 ? -1 - at : at >= extent ? 2 * extent - 1 - at : at;
    };
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        std::vector<std::uint32_t> keys;
        for (std::int64_t i = 0; i < d.window.y; ++i) {
          for (std::int64_t j = 0; j < d.window.x; ++j) {
            if (!bits.empty() && bits[static_cast<std::size_t>(i * d.window.x + j)] == '.') continue;
            const std::int64_t row = reflected(y + i - d.before.y, height);
            const std::int64_t column = reflected(x + j - d.before.x, width);
            keys.push_back(key(dtype, image[static_cast<std::size_t>(row * width + column)]));
          }
        }
        std::sort(keys.begin(), keys.end());
        std::uint32_t bits = 0;
        std::memcpy(&bits, packed.data() + static_cast<std::size_t>(y * width + x) * size, size);
        ASSERT_EQ(key(dtype, bits), keys[static_cast<std::size_t>(wanted.integer("rank"))])
            << y << ", " << x << ": " << std::hex << bits;
      }
    }
  }
}

// ---- networks

// The README gives these numbers, for 4 x 2 outputs of a thread.
TEST(RankFilterNetwork, HasAsFewOperationsAsTheReadmeSays) {
  const auto per_output = [](const std::string& text, std::int64_t x, std::int64_t y) {
    return static_cast<double>(rank_filter_op::network_operations(problem("width=9 " + text), {x, y})) /
           static_cast<double>(x * y);
  };
  EXPECT_LE(per_output("window_height=3 window_width=3 rank=4", 4, 2), 18.5);
  EXPECT_LE(per_output("window_height=5 window_width=5 rank=12", 4, 2), 64.25);
  EXPECT_LE(per_output("window_height=7 window_width=7 rank=24", 4, 2), 143.75);
  EXPECT_EQ(per_output("window_width=2 rank=0", 1, 1), 1);
  EXPECT_EQ(per_output("window_width=3 rank=1", 1, 1), 4);
  EXPECT_LE(per_output("window_height=9 window_width=9 rank=0", 4, 2), 16.75);
  EXPECT_LE(per_output("window_height=9 window_width=9 rank=80", 8, 4), 9.125);
}

// ---- spaces

TEST(RankFilterSpace, RulesAreSaid) {
  const RuleCase cases[] = {
      {"network", "height=9 width=67 window_width=3 rank=1", "VECTOR=4", "VECTOR must divide"},
      {"network", "height=9 width=64 window_width=3 rank=1", "BLOCK_X=64 BLOCK_Y=16", "64 to 512 threads"},
      {"network", "height=9 width=64 window_width=3 rank=1 dtype=u8", "OUTPUTS_X=4 OUTPUTS_Y=2 ADDED=20",
       "too few operations"},
      {"network", "height=9 width=64 window_width=3 rank=2 dtype=u8", "ADDED=20", "ADDED"},
      {"network", "height=9 width=64 window_width=7 window_height=7 rank=1", "OUTPUTS_X=8 OUTPUTS_Y=4",
       "at most 800"},
      {"network", "height=4096 width=4096 window_width=3 window_height=3 rank=1",
       "OUTPUTS_X=1 OUTPUTS_Y=1 VECTOR=1", ""},
      {"extreme", "height=9 width=66 window_width=3 rank=2", "VECTOR=16", "multiple of 16 bytes"},
      {"extreme", "height=9 width=64 window_width=60 rank=0", "BLOCK=64",
       "longer than the window's overhang"},
      {"extreme", "height=9 width=64 window_width=3 window_height=61 rank=0 dtype=u8", "BLOCK=512 BUFFERS=2",
       "at most 200 KiB"},
      {"extreme", "height=9 width=64 window_width=41 rank=0", "BLOCK=64", ""},
      {"network", "height=9 width=64 window_width=3 rank=1 dtype=u8", "VECTOR=16 UNALIGNED=1",
       "need VECTOR=1"},
      {"network", "height=9 width=67 window_width=3 rank=1 dtype=u8", "OUTPUTS_X=2 VECTOR=1 UNALIGNED=1",
       "must be words"},
      {"network", "height=9 width=67 window_width=3 rank=1", "VECTOR=1 UNALIGNED=1", "UNALIGNED"},
      {"streamed", "height=9 width=72 window_width=3 rank=2 dtype=u8", "VECTOR=16",
       "multiple of VECTOR bytes"},
      {"transposed", "height=9 width=66 window_width=3 rank=2", "VECTOR=16", "multiples of VECTOR bytes"},
      {"transposed", "height=9 width=64 window_width=101 window_height=101 rank=0",
       "TILE_X=128 TILE_Y=128 VECTOR=16", "at most 200 KiB"},
      {"transposed", "height=9 width=64 window_width=41 rank=0 dtype=i16",
       "TILE_X=64 TILE_Y=32 RUN=32 ROUNDS=4", "64 to 1024 threads"},
      {"transposed", "height=9 width=64 window_width=3 rank=0", "RUN=32", ""},
      {"ranks", "height=9 width=64 window_width=31 window_height=31 rank=1", "SORTED=2048 TILE_X=64",
       "4 rows of outputs"},
      {"ranks", "height=9 width=64 window_width=63 window_height=63 rank=1", "SORTED=8192 TILE_X=32", ""},
  };
  expect_rules(op(), cases);
}

TEST(RankFilterSpace, TemplatesSayWhatTheyAreNotFor) {
  expect_refusals(op(), "network", "height=9 width=9 ",
                  {{"window_width=82 rank=1", "up to 81"},
                   {"window_width=82 rank=0", ""},
                   {"window_width=101 rank=0", "longer than the 100"},
                   {"window_width=1 rank=0", "one place"}});
  expect_refusals(op(), "extreme", "height=9 width=9 ",
                  {{"window_width=3 rank=1", "The rank 1"},
                   {"window_width=3 rank=0 footprint=x.x", "no box"},
                   {"window_width=65 rank=0", "64 places"},
                   {"window_width=1 rank=0", "one place"}});
  expect_refusals(op(), "transposed", "height=9 width=9 ",
                  {{"window_width=3 rank=1", "The rank 1"},
                   {"window_width=3 rank=0 footprint=x.x", "no box"},
                   {"window_width=256 rank=0", "255 places"},
                   {"window_width=200 window_height=250 rank=0", "too large for a tile"},
                   {"window_width=200 window_height=250 rank=0 dtype=u8", ""},
                   {"window_width=1 rank=0", "one place"},
                   {"window_width=3 rank=0 dtype=i64", "8 bytes"}});
  expect_refusals(op(), "ranks", "height=9 width=9 ",
                  {{"window_width=49 rank=0", "49 places is small"},
                   {"window_width=25 window_height=25 window_depth=9 rank=1", "8192 elements"},
                   {"window_width=64 rank=1", "the 63 rows"},
                   {"window_width=60 rank=59", "extreme template"}});
  expect_refusals(op(), "streamed", "height=9 rank=0 ",
                  {{"width=64 dtype=u8 window_width=17", ""},
                   {"width=64 dtype=u8 window_width=18", "at most 17"},
                   {"width=64 dtype=u8 window_width=3 window_depth=2", "one plane"},
                   {"width=64 dtype=u8 window_width=3 boundary=wrap", "boundary=wrap"},
                   {"width=64 window_width=3 dtype=i16", "four bytes"},
                   {"width=68 window_width=3 dtype=u8", "width 68"}});
  for (const char* name : {"network", "streamed", "transposed", "extreme", "ranks"})
    expect_refusals(op(), name, "", {{"height=0 width=9 window_width=60 rank=0", "nothing"}});
}

TEST(RankFilterSpace, FirstGuessesReadRowsThatBeginAnywhereAsWords) {
  const auto guess = [](const std::string& text) {
    const Problem wanted = problem("window_height=3 window_width=3 rank=4 " + text);
    const DeviceFacts device = facts_of_capability(90);
    const Template& network = find_template(op(), "network");
    return network.space(wanted, device).complete(*network.untuned(wanted, device))[IntegerAxis("UNALIGNED")];
  };
  EXPECT_EQ(guess("height=4095 width=4095 dtype=u8"), 1);
  EXPECT_EQ(guess("height=4095 width=4095 dtype=f16"), 1);
  EXPECT_EQ(guess("height=4095 width=4096 dtype=u8"), 0);
  EXPECT_EQ(guess("height=4095 width=4095 dtype=f32"), 0);
  EXPECT_EQ(guess("height=63 width=63 dtype=u8"), 0);  // too small for a second pass over a tile's sides
}

// Includes long windows and flat images, for which a first guess could break a rule of its own space.
TEST(RankFilterSpace, FirstGuessesAreLegal) {
  for (const char* image : {"height=1 width=133", "height=9 width=20", "height=500 width=512",
                            "width=5000000", "height=3000 width=4096"}) {
    for (const int size : {2, 9, 41, 60, 64, 100, 101, 128, 200}) {
      for (const char* window :
           {"window_width=", "window_height=3 window_width=", "window_depth=2 window_height="}) {
        for (const char* dtype : {"u8", "f16", "f32", "i64"}) {
          const std::string text = std::string(image) + " rank=0 dtype=" + dtype + " " + window +
                                   std::to_string(size) + (window[7] == 'd' ? " window_width=3" : "");
          SCOPED_TRACE(text);
          std::vector<UntunedVariant> found;
          EXPECT_EQ(error_of([&] { found = untuned(op(), problem(text), facts_of_capability(90)); }), "");
          EXPECT_TRUE(!found.empty() || (size > 64 && std::string(dtype) == "i64"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith::rank_filter_test
