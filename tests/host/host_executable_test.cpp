// SPDX-License-Identifier: Apache-2.0
// Loading a binary on the host.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tests/host_source.h"

namespace tunesmith {
namespace {

TEST(HostExecutable, DamagedBytesAreALoadError) {
  EXPECT_THROW(load_host("not a shared object", "_test", Work{}), LoadError);
}

// What loading says of a launch with these arguments; empty if it accepts them.
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

// As one that a user's cache has kept from a version whose binaries did not say.
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
