// Rendered variants against the files of tests/golden: a change of what is generated is seen and judged, not
// found out later. TUNESMITH_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include "tests/cli/run.h"

namespace tunesmith {
namespace {

struct Golden {
  std::string file;
  std::string arguments;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file; }

const std::string small_mask = "--problem 'height=1000 width=2000 mask_height=3 mask_width=3' ";
const std::string large_mask =
    "--problem 'height=200 width=200 mask_height=13 mask_width=13 mode=convolution' ";

const std::vector<Golden>& variants() {
  static const std::vector<Golden> all = {
      {"conv2d_base_sm_90a.cu", small_mask + "--template base --target sm_90a"},
      {"conv2d_base_host.cpp", small_mask + "--template base --target host"},
      {"conv2d_tiled_3x3_sm_90a.cu", small_mask + "--template tiled --target sm_90a"},
      {"conv2d_tiled_13x13_sm_90a.cu",
       large_mask + "--template tiled --config SMEM_LAYOUT=padded --target sm_90a"},
      {"conv2d_tiled_13x13_host.cpp",
       large_mask + "--template tiled --config SMEM_LAYOUT=padded --target host"},
  };
  return all;
}

bool update() { return std::getenv("TUNESMITH_UPDATE_GOLDEN") != nullptr; }

class Rendered : public testing::TestWithParam<Golden> {};

TEST_P(Rendered, IsAsInTheGoldenFile) {
  const Scratch scratch;
  const Outcome first = scratch.tunesmith("render conv2d " + GetParam().arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, scratch.tunesmith("render conv2d " + GetParam().arguments).out)
      << "render is deterministic";
  const std::filesystem::path golden = std::filesystem::path(TUNESMITH_GOLDEN_DIR) / GetParam().file;
  if (update()) std::ofstream(golden, std::ios::binary) << first.out;
  const std::string expected = read_text(golden);
  if (first.out == expected) return;
  std::ofstream(scratch.path() / "rendered") << first.out;
  FAIL() << "What is rendered differs from " << golden << "; TUNESMITH_UPDATE_GOLDEN=1 accepts it:\n"
         << scratch.shell("diff " + golden.string() + " rendered").out;
}

TEST_P(Rendered, CompilesAlone) {
  const Scratch scratch;
  const bool host = GetParam().file.find("host") != std::string::npos;
  const std::string file = host ? "variant.cpp" : "variant.cu";
  const Outcome written = scratch.tunesmith("render conv2d " + GetParam().arguments + " -o " + file);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string nvcc = TUNESMITH_NVCC;
  if (!host && nvcc.empty()) GTEST_SKIP() << "There is no nvcc here.";
  const Outcome compiled =
      scratch.shell(host ? "c++ -std=c++20 -c " + file : nvcc + " -arch=sm_90a -c " + file);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
}

INSTANTIATE_TEST_SUITE_P(Golden, Rendered, testing::ValuesIn(variants()), [](const auto& tested) {
  std::string name = tested.param.file;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace tunesmith
