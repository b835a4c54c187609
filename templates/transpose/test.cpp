// SPDX-License-Identifier: Apache-2.0
// Tests of transpose beyond those of every op: numbers from NumPy, bits of NaN, gaps of a pitch, rows that
// begin at any address, bad input, and the typed function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "generator/error.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/refusal.h"
#include "tests/rules.h"
#include "tuner/device/device.h"
#include "tunesmith/transpose.h"

namespace tunesmith::transpose_test {
namespace {

using testing::HasSubstr;

const Op& op() { return find_op("transpose"); }

Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

std::string refusal(const std::string& text) { return refusal(op(), text); }

Dispatcher on_host() { return Dispatcher({.device = "host", .database = "", .cache_folder = ""}); }

// numpy.arange(24).reshape(2, 3, 4).swapaxes(1, 2).ravel()
constexpr std::array<int, 24> swapped = {0,  4,  8,  1,  5,  9,  2,  6,  10, 3,  7,  11,
                                         12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23};

TEST(Transpose, TheReferenceIsNumpys) {
  const std::vector<std::vector<double>> arguments = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, {}};
  std::vector<double> value(24), permitted(24);
  op().reference(problem("batch=2 height=3 width=4"), arguments, 1, 0, 24, value, permitted);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(value[i], swapped[i]);
    EXPECT_EQ(permitted[i], 0);
  }
  // The part of numpy.arange(8).reshape(2, 4)[:, :3].T, in rows of 3, from the second row's gap on.
  std::vector<double> part(4), part_permitted(4);
  const std::vector<std::vector<double>> rows_of_four = {{0, 1, 2, 3, 4, 5, 6, 7}, {}};
  op().reference(problem("height=2 width=3 input_pitch=4 output_pitch=3"), rows_of_four, 1, 5, 9, part,
                 part_permitted);
  EXPECT_EQ(part_permitted[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(part[1], 2);
  EXPECT_EQ(part[2], 6);
  EXPECT_EQ(part_permitted[2], 0);
  EXPECT_EQ(part_permitted[3], std::numeric_limits<double>::infinity());
}

TEST(Transpose, TheReferenceTakesSixteenBytesTogether) {
  const std::vector<std::vector<double>> arguments = {{0, 1, 2, 3, 4, 5, 6, 7}, {}};
  std::vector<double> value(8), permitted(8);
  op().reference(problem("height=2 width=2 dtype=b128"), arguments, 1, 0, 8, value, permitted);
  EXPECT_EQ(value, (std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(Transpose, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(refusal("height=3 width=5 input_pitch=4"),
            "The transpose problem's input_pitch is 4, shorter than a row, whose width is 5; a pitch is at "
            "least that, or 0 for rows without gaps.");
  EXPECT_EQ(refusal("height=3 width=5 output_pitch=2"),
            "The transpose problem's output_pitch is 2, shorter than a row, whose height is 3; a pitch is at "
            "least that, or 0 for rows without gaps.");
  EXPECT_THAT(refusal("height=2000000 width=2000000 dtype=b8"), HasSubstr("more than 2^40 bytes"));
  EXPECT_EQ(refusal("height=1000000 width=1000000 dtype=b8"), "");
  EXPECT_THAT(refusal("height=-1 width=5"), HasSubstr("height"));
  EXPECT_THAT(refusal("height=3"), HasSubstr("width"));
  EXPECT_THAT(refusal("height=3 width=5 dtype=f32"), HasSubstr("b128"));
  EXPECT_EQ(refusal("height=0 width=5 input_pitch=5"), "");
}

TEST(Transpose, NothingIsLaunchedForNothing) {
  for (const char* text : {"height=0 width=5", "height=5 width=0", "height=5 width=5 batch=0",
                           "height=5 width=0 input_pitch=3", "height=0 width=0 dtype=b128"}) {
    const Problem empty = problem(text);
    for (const Template& tmpl : op().templates) {
      if (tmpl.refuses && !tmpl.refuses(empty).empty()) continue;
      EXPECT_TRUE(tmpl.work(empty, tmpl.space(empty).complete({})).steps.empty()) << tmpl.name << " " << text;
    }
  }
}

TEST(Transpose, SpacesHoldHundredsToThousandsOfConfigs) {
  for (const char* text :
       {"height=4096 width=4096", "height=10007 width=9973", "height=100000 width=64", "height=1 width=1",
        "height=4096 width=4096 dtype=b8", "height=1001 width=999 dtype=b16", "height=64 width=64 dtype=b64",
        "height=77 width=4096 dtype=b8", "height=7 width=1000000", "height=100000 width=3 dtype=b8"}) {
    const Problem wanted = problem(text);
    for (const char* name : {"tiled", "shifted", "narrow"}) {
      const Template& tmpl = find_template(op(), name);
      if (tmpl.refuses && !tmpl.refuses(wanted).empty()) continue;
      const Space space = tmpl.space(wanted);
      EXPECT_GE(space.count(Space::Subset::promising), std::string(name) == "narrow" ? 30 : 150)
          << name << " " << text;
      EXPECT_LE(space.count(Space::Subset::promising), 350000) << name << " " << text;
      DeviceFacts device;
      device.kind = DeviceKind::cuda;
      EXPECT_FALSE(exceeds(tmpl.work(wanted, space.complete({})), device)) << name << " " << text;
    }
  }
}

// Configs that the bodies cannot execute are refused with a reason; configs that are only unlikely to be fast
// are legal.
TEST(Transpose, RulesSayWhatTheBodiesCannotDo) {
  const std::array<RuleCase, 11> cases = {{
      {"tiled", "height=64 width=66", "VECTOR_IN=4", "VECTOR_IN must divide the width"},
      {"tiled", "height=64 width=64", "VECTOR_OUT=2 TURN=4", "TURN is at most VECTOR_OUT"},
      {"tiled", "height=64 width=64 dtype=b8", "VECTOR_IN=1 VECTOR_OUT=16 TURN=1 ROWS=8",
       "at least as much as one store"},
      {"tiled", "height=64 width=64 dtype=b8", "VECTOR_IN=16 VECTOR_OUT=16 TURN=16 ROWS=8",
       "at most 64 loads"},
      {"tiled", "height=64 width=64", "TILE_X=128 TILE_Y=128", "at most 48 KiB"},
      {"shifted", "height=64 width=64 dtype=b8", "WINDOW=64 TILE_Y=32", "neighbouring blocks meet"},
      {"shifted", "height=64 width=64", "VECTOR_OUT=4 ROWS=1", "at least as many elements"},
      {"narrow", "height=7 width=1002", "VECTOR_IN=4 VECTOR_OUT=2", "long rows' vector must divide"},
      {"narrow", "height=5 width=1002", "VECTOR_IN=2 VECTOR_OUT=4", "stretch's vector must divide"},
      {"narrow", "height=1000 width=32 dtype=b64", "STRIP=512", "at most 48 KiB"},
      {"narrow_pitched", "height=7 width=1002 output_pitch=8", "VECTOR=4", "long rows' vector must divide"},
  }};
  expect_rules(op(), cases);
}

// Every grid is within the limits, and the tiles reach every element of the largest arrays.
TEST(Transpose, TheLargestArraysHaveAGrid) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text :
       {"height=1048576 width=1048576 dtype=b8", "height=2147482624 width=500 dtype=b8",
        "height=1 width=2147482624 dtype=b8", "batch=2147482624 height=16 width=16 dtype=b8",
        "batch=2147482624 height=1 width=1 dtype=b32"}) {
    const Problem large = problem(text);
    for (const Template& tmpl : op().templates) {
      if (tmpl.refuses && !tmpl.refuses(large).empty()) continue;
      const Work work = tmpl.work(large, tmpl.space(large).complete({}));
      EXPECT_EQ(exceeds(work, device), std::nullopt) << tmpl.name << " " << text;
      const auto& grid = std::get<Launch>(work.steps.front()).grid;
      if (tmpl.name == "base") continue;  // walks in strides
      EXPECT_GE(grid.y * grid.z, large.integer("batch")) << tmpl.name << " " << text;
    }
  }
}

// Runs a variant on the host. Pointers are `shift` elements after a multiple of 64 bytes; every element and
// every gap has bytes of its own.

TEST(Transpose, MovesEveryBitAndLeavesTheGapsAlone) {
  const std::unique_ptr<Device> device = make_host_device();
  const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  const std::string odd = "height=141 width=71 input_pitch=79 output_pitch=150 batch=2 dtype=";
  const std::string even = "height=80 width=48 input_pitch=64 output_pitch=96 batch=2 dtype=";
  const std::vector<std::tuple<std::string, std::string, std::string, int>> cases = {
      {"base", odd + "b128", "", 0},
      {"tiled", odd + "b32", "TILES=2", 3},
      {"tiled", even + "b8", "VECTOR_IN=16 VECTOR_OUT=16 SMEM_LAYOUT=swizzled", 0},
      {"tiled", even + "b16", "VECTOR_IN=8 VECTOR_OUT=4 LOAD=no_allocate STORE=streaming", 0},
      {"tiled", even + "b64", "VECTOR_IN=2 VECTOR_OUT=1 BLOCK_ORDER=banded", 0},
      {"tiled", odd + "b128", "", 0},
      {"narrow", "height=1037 width=7 input_pitch=7 output_pitch=1041 batch=2 dtype=b8", "STRIP=128", 1},
      {"narrow", "height=5 width=1040 input_pitch=1056 output_pitch=5 batch=3 dtype=b16",
       "VECTOR_IN=8 VECTOR_OUT=4 STORE=streaming", 0},
      {"narrow", "height=32 width=1030 input_pitch=1030 output_pitch=32 batch=2 dtype=b32",
       "VECTOR_IN=2 STRIP=64 LOAD=no_allocate", 0},
      {"narrow", "height=300 width=9 input_pitch=9 output_pitch=304 batch=2 dtype=b128", "STRIP=64", 0},
      {"narrow_pitched", "height=3 width=1040 input_pitch=1056 output_pitch=16 batch=2 dtype=b16",
       "VECTOR=8 STORE=streaming", 0},
      {"narrow_pitched", "height=1037 width=7 input_pitch=9 output_pitch=1041 batch=2 dtype=b8", "STRIP=128",
       1},
      {"narrow_pitched", "height=300 width=32 input_pitch=33 output_pitch=304 batch=2 dtype=b128", "STRIP=64",
       0},
      {"shifted", odd + "b8", "VECTOR_OUT=16 WINDOW=32", 5},
      {"shifted", odd + "b16", "VECTOR_OUT=4 WINDOW=16 BLOCK_ORDER=banded", 1},
      {"shifted", odd + "b32", "VECTOR_OUT=4 WINDOW=64 LOAD=no_allocate STORE=streaming", 1},
      {"shifted", odd + "b64", "VECTOR_OUT=2 WINDOW=32", 7},
  };
  for (const auto& [name, text, config_text, shift] : cases) {
    SCOPED_TRACE(name + " " + text + " " + config_text);
    const Problem wanted = problem(text);
    const Template& tmpl = find_template(op(), name);
    const Config config = tmpl.space(wanted).complete(Values::parse(config_text));
    const Source source = render(op(), tmpl, wanted, config, "host");
    const Compilation compiled = toolchain->compile(source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    const std::unique_ptr<Executable> executable =
        device->load(compiled.bytes, source.suffix, tmpl.work(wanted, config));

    const auto size = [&](const char* dim) { return static_cast<std::size_t>(wanted.integer(dim)); };
    const std::size_t batch = size("batch"), height = size("height"), width = size("width"),
                      input_pitch = size("input_pitch"), output_pitch = size("output_pitch"),
                      element = static_cast<std::size_t>(bytes(dtype_of(wanted))),
                      before = static_cast<std::size_t>(shift) * element;
    const auto place = [&](std::vector<unsigned char>& memory) {
      void* at = memory.data();
      std::size_t space = memory.size();
      return static_cast<unsigned char*>(std::align(64, 1, at, space)) + before;
    };
    std::vector<unsigned char> input_memory(batch * height * input_pitch * element + 64 + before);
    // The bytes are all different, with NaN of every floating-point type, with payloads, between them.
    for (std::size_t i = 0; i < input_memory.size(); ++i) {
      input_memory[i] =
          static_cast<unsigned char>(i % 97 < 16 ? 0x7f + (i % 3 == 1 ? 0x80 : 0) : i * 2654435761u >> 13);
    }
    const std::vector<unsigned char> input_before = input_memory;
    std::vector<unsigned char> output_memory(batch * width * output_pitch * element + 64 + before, 0xc3);
    const unsigned char* input = place(input_memory);
    const unsigned char* output = place(output_memory);
    std::array<void*, 2> pointers = {place(input_memory), place(output_memory)};
    ASSERT_EQ(executable->launch(pointers.data(), nullptr, nullptr), 0);

    EXPECT_EQ(input_memory, input_before);
    std::vector<unsigned char> expected(output_memory.size(), 0xc3);
    const std::size_t start = static_cast<std::size_t>(output - output_memory.data());
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t x = 0; x < width; ++x) {
        for (std::size_t y = 0; y < height; ++y) {
          std::memcpy(expected.data() + start + ((b * width + x) * output_pitch + y) * element,
                      input + ((b * height + y) * input_pitch + x) * element, element);
        }
      }
    }
    EXPECT_TRUE(output_memory == expected) << "an element or a gap is not what it should be";
  }
}

TEST(Transpose, TypedFunction) {
  Dispatcher dispatcher = on_host();
  const TransposeShape shape{.batch = 2, .height = 3, .width = 4, .input_pitch = 7, .output_pitch = 5};
  const auto run = [&]<typename T>(T, const char* dtype) {
    EXPECT_EQ(transpose_plan(dispatcher, shape, sizeof(T)).problem(),
              std::string("batch=2 height=3 width=4 input_pitch=7 output_pitch=5 dtype=") + dtype);
    std::vector<T> input(2 * 3 * 7, static_cast<T>(77)), output(2 * 4 * 5, static_cast<T>(99));
    for (std::size_t n = 0; n < 24; ++n) input[n / 4 * 7 + n % 4] = static_cast<T>(static_cast<int>(n));
    const Status status = transpose(dispatcher, input.data(), output.data(), shape);
    ASSERT_TRUE(status.ok()) << status.message();
    for (std::size_t row = 0; row < 8; ++row) {
      for (std::size_t y = 0; y < 3; ++y)
        EXPECT_EQ(output[row * 5 + y], static_cast<T>(swapped[row * 3 + y]));
      for (std::size_t y = 3; y < 5; ++y)
        EXPECT_EQ(output[row * 5 + y], static_cast<T>(99)) << "the gap was written";
    }
  };
  run(std::uint8_t{}, "b8");
  run(std::uint16_t{}, "b16");
  run(0.0f, "b32");
  run(0.0, "b64");
  run(std::complex<double>{}, "b128");
}

TEST(Transpose, TypedFunctionSaysWhatIsWrong) {
  Dispatcher dispatcher = on_host();
  double values[48] = {};
  const TransposeShape shape{.height = 2, .width = 4};
  EXPECT_EQ(transpose(dispatcher, values, values + 7, shape).code(), Status::overlapping_arguments);
  EXPECT_EQ(transpose(dispatcher, values, values, shape).code(), Status::overlapping_arguments);
  EXPECT_EQ(transpose(dispatcher, values, values + 8, {.height = 2, .width = 4, .input_pitch = 5}).code(),
            Status::overlapping_arguments);
  EXPECT_TRUE(transpose(dispatcher, values, values + 8, shape).ok());
  EXPECT_EQ(transpose(dispatcher, static_cast<const double*>(nullptr), values, shape).code(),
            Status::null_argument);
  char* bytes = reinterpret_cast<char*>(values);
  EXPECT_EQ(transpose(dispatcher, static_cast<const void*>(bytes + 4), bytes + 200, shape, 8).code(),
            Status::misaligned_argument);
  // A multiple of eight is a valid alignment for elements of sixteen bytes.
  const std::size_t odd = reinterpret_cast<std::uintptr_t>(values) % 16 == 0 ? 1 : 0;
  EXPECT_TRUE(
      transpose(dispatcher, static_cast<const void*>(values + odd), values + odd + 20, shape, 16).ok());

  // Nothing is to be done, so even null pointers are valid.
  EXPECT_TRUE(transpose(dispatcher, static_cast<const void*>(nullptr), nullptr, {.width = 4}, 4).ok());

  const auto thrown = [&](const TransposeShape& wrong, std::int64_t element_bytes) -> std::string {
    try {
      static_cast<void>(transpose_plan(dispatcher, wrong, element_bytes));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(thrown(shape, 3), "transpose was asked for elements of 3 bytes; allowed are 1, 2, 4, 8 and 16.");
  EXPECT_EQ(thrown(shape, 0), "transpose was asked for elements of 0 bytes; allowed are 1, 2, 4, 8 and 16.");
  EXPECT_THAT(thrown({.height = 2, .width = 4, .input_pitch = 3}, 4), HasSubstr("input_pitch is 3"));
  EXPECT_THAT(thrown({.height = -2, .width = 4}, 4), HasSubstr("height"));
}

}  // namespace
}  // namespace tunesmith::transpose_test
