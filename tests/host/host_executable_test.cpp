// SPDX-License-Identifier: Apache-2.0
// Tests loading a binary on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tests/host/loaded.h"
#include "tests/host_source.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

TEST(HostExecutable, DamagedBytesAreALoadError) {
  EXPECT_THROW(load_host("not a shared object", "_test", Work{}), LoadError);
}

// The complaint of loading about a launch with these arguments; empty if it accepts them.
class Arguments {
 public:
  explicit Arguments(Source source) : source_(std::move(source)) {
    const Compilation compiled = make_host_toolchain()->compile(source_);
    EXPECT_TRUE(compiled.ok) << compiled.log;
    bytes_ = compiled.bytes;
  }

  std::string refused(std::vector<KernelArgument> arguments) const {
    const Launch launch{.kernel = "kernel", .arguments = std::move(arguments)};
    try {
      load_host(bytes_, source_.suffix, Work{.steps = {launch}});
    } catch (const LoadError& error) {
      return error.what();
    }
    return "";
  }

 private:
  Source source_;
  std::string bytes_;
};

constexpr const char* scale_kernel = R"(
extern "C" __global__ void ENTRY(kernel)(const float* __restrict__ in, float* out, int n, long long stride,
                                         float factor, const double offset) {}
)";

const std::vector<KernelArgument> fitting = {
    ArgumentPointer{0}, WorkspacePointer{0}, std::int32_t{1}, std::int64_t{2}, 3.0f, 4.0};

TEST(HostExecutable, ALaunchGivesOneArgumentPerParameter) {
  const Arguments scale(host_source(scale_kernel));
  EXPECT_EQ(scale.refused(fitting), "");
  std::vector<KernelArgument> few = fitting;
  few.pop_back();
  EXPECT_EQ(scale.refused(few),
            "The kernel kernel takes 6 parameters, but its launch gives 5 arguments; in the work of its "
            "template, give one argument per parameter, in the kernel's order.");
  std::vector<KernelArgument> many = fitting;
  many.emplace_back(std::int32_t{0});
  EXPECT_EQ(scale.refused(many),
            "The kernel kernel takes 6 parameters, but its launch gives 7 arguments; in the work of its "
            "template, give one argument per parameter, in the kernel's order.");

  const Arguments nothing(host_source("extern \"C\" __global__ void ENTRY(kernel)() {}\n"));
  EXPECT_EQ(nothing.refused({}), "");
  EXPECT_NE(nothing.refused({std::int32_t{0}}), "");
}

TEST(HostExecutable, AnArgumentHasTheSizeAndTheKindOfItsParameter) {
  const Arguments scale(host_source(scale_kernel));
  const std::vector<std::string> names = {"a pointer",         "a pointer", "a 4-byte integer",
                                          "an 8-byte integer", "a float",   "a double"};
  for (std::size_t takes = 0; takes < fitting.size(); ++takes) {
    for (std::size_t gives = 0; gives < fitting.size(); ++gives) {
      std::vector<KernelArgument> arguments = fitting;
      arguments[takes] = fitting[gives];
      if (names[takes] == names[gives]) {
        EXPECT_EQ(scale.refused(arguments), "");
      } else {
        EXPECT_EQ(scale.refused(arguments),
                  "Parameter " + std::to_string(takes + 1) + " of 6 of the kernel kernel is " + names[takes] +
                      ", but its launch gives " + names[gives] +
                      "; make the two agree, in the work of its template or in the kernel.");
      }
    }
  }
}

TEST(HostExecutable, UnsignedNumbersAndEnumsAreIntegersAndAStructHasOnlyASize) {
  const Arguments kernel(host_source(R"(
enum class Colour { red, green };
struct Pair {
  short x, y;
};
extern "C" __global__ void ENTRY(kernel)(unsigned a, unsigned long long b, Colour c, Pair d, long e) {}
)"));
  const auto with_fourth = [&](const KernelArgument& fourth) {
    return kernel.refused({std::int32_t{1}, std::int64_t{2}, std::int32_t{0}, fourth, std::int64_t{4}});
  };
  EXPECT_EQ(with_fourth(std::int32_t{3}), "");
  EXPECT_EQ(with_fourth(3.0f), "");
  EXPECT_EQ(
      with_fourth(3.0),
      "Parameter 4 of 5 of the kernel kernel is a 4-byte value, but its launch gives a double; make the "
      "two agree, in the work of its template or in the kernel.");
  EXPECT_NE(kernel.refused({1.0f, std::int64_t{2}, std::int32_t{0}, 3.0f, std::int64_t{4}}), "");
  EXPECT_NE(kernel.refused({std::int32_t{1}, 2.0, std::int32_t{0}, 3.0f, std::int64_t{4}}), "");
  EXPECT_NE(kernel.refused({std::int32_t{1}, std::int64_t{2}, 0.0f, 3.0f, std::int64_t{4}}), "");
  EXPECT_NE(kernel.refused({std::int32_t{1}, std::int64_t{2}, std::int32_t{0}, 3.0f, 4.0}), "");
}

constexpr const char* arrays_kernel = R"(
struct Sizes {
  int rows, columns[2];
};
struct Strides {
  long long by[3];
};
struct One {
  int of;
};
extern "C" __global__ void ENTRY(kernel)(long long* out, int first, const __grid_constant__ Strides strides,
                                         Sizes sizes, double factor, One one, const Strides more) {
  const int at = static_cast<int>(threadIdx.x);
  if (at < 3) out[at] = strides.by[at];
  if (at == 3) out[at] = first;
  if (at == 4) out[at] = sizes.rows;
  if (at > 4 && at < 7) out[at] = sizes.columns[at - 5];
  if (at == 7) out[at] = static_cast<long long>(factor);
  if (at == 8) out[at] = one.of;
  if (at > 8) out[at] = more.by[at - 9];
}
)";
const std::vector<KernelArgument> arrays = {ArgumentPointer{0},
                                            std::int32_t{4},
                                            std::vector<std::int64_t>{1, std::int64_t{1} << 40, -3},
                                            std::vector<std::int32_t>{5, -6, 7},
                                            8.0,
                                            std::vector<std::int32_t>{9},
                                            std::vector<std::int64_t>{10, 11, 12}};

TEST(HostExecutable, ArraysComeByValueBesideOtherArguments) {
  const auto loaded = load(arrays_kernel, {}, {12, 1, 1}, 0, 0, arrays);
  std::vector<long long> out(12);
  void* arguments[] = {out.data()};
  ASSERT_EQ(loaded.executable->launch(arguments, nullptr, nullptr), 0);
  EXPECT_EQ(out, (std::vector<long long>{1, 1ll << 40, -3, 4, 5, -6, 7, 8, 9, 10, 11, 12}));
}

TEST(HostExecutable, AnArrayHasTheSizeOfItsStruct) {
  const Arguments kernel(host_source(arrays_kernel));
  EXPECT_EQ(kernel.refused(arrays), "");
  std::vector<KernelArgument> wrong = arrays;
  wrong[2] = std::vector<std::int64_t>(4);
  EXPECT_EQ(
      kernel.refused(wrong),
      "Parameter 3 of 7 of the kernel kernel is a 24-byte value, but its launch gives an array of 32 bytes; "
      "make the two agree, in the work of its template or in the kernel.");
  wrong = arrays;
  wrong[1] = std::vector<std::int32_t>(1);
  EXPECT_THAT(kernel.refused(wrong),
              HasSubstr("is a 4-byte integer, but its launch gives an array of 4 bytes"));
  wrong = arrays;
  wrong[6] = std::vector<std::int64_t>(512);
  EXPECT_THAT(kernel.refused(wrong), HasSubstr("are 4168 bytes, but CUDA grants every kernel 4096"));
}

// A user's cache may have kept a binary of a version that did not store its parameters.
TEST(HostExecutable, ABinaryThatDoesNotSayItsParametersIsAccepted) {
  Source source = host_source(scale_kernel);
  const std::string name = "tunesmith_parameter_";
  source.text.replace(source.text.find(name), name.size(), "tunesmith_silent_");
  const Arguments silent(source);
  EXPECT_EQ(silent.refused(fitting), "");
  EXPECT_EQ(silent.refused({}), "");
}

}  // namespace
}  // namespace tunesmith
