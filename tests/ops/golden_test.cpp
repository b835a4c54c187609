// Rendered variants against the files of tests/golden: a change of what is generated is seen and judged, not
// found out later. One file a template, its default config for the op's first example that it serves, and one
// for the host. TUNESMITH_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/op_cases.h"

namespace tunesmith {
namespace {

struct Golden {
  TemplateCase which;
  std::string target;
  std::string file() const {
    return which.op->name + "_" + which.tmpl->name + "_" + target + (target == "host" ? ".cpp" : ".cu");
  }
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file(); }

std::vector<Golden> variants() {
  std::vector<Golden> all;
  for (const TemplateCase& which : template_cases()) all.push_back({which, "sm_90a"});
  const Op& op = find_op("conv2d");
  all.push_back({{&op, &op.templates.front()}, "host"});
  return all;
}

std::string rendered(const Golden& golden) {
  const auto& [op, tmpl] = golden.which;
  for (const std::string& example : op->examples) {
    const Problem problem = complete_problem(*op, Values::parse(example));
    if (tmpl->refuses && !tmpl->refuses(problem).empty()) continue;
    return render(*op, *tmpl, problem, tmpl->space(problem).complete({}), golden.target).text;
  }
  throw Error(op->name + "/" + tmpl->name + " serves none of the op's examples.");
}

std::filesystem::path path_of(const Golden& golden) {
  return std::filesystem::path(TUNESMITH_GOLDEN_DIR) / golden.file();
}

class Rendered : public testing::TestWithParam<Golden> {};

TEST_P(Rendered, IsAsInTheGoldenFile) {
  const std::string text = rendered(GetParam());
  EXPECT_EQ(text, rendered(GetParam())) << "render is deterministic";
  const std::filesystem::path path = path_of(GetParam());
  if (std::getenv("TUNESMITH_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (text == expected) return;
  const auto differs =
      std::mismatch(text.begin(), text.end(), expected.begin(), expected.end()).first - text.begin();
  FAIL() << "What is rendered differs from " << path << " from line "
         << 1 + std::count(text.begin(), text.begin() + differs, '\n')
         << " on; TUNESMITH_UPDATE_GOLDEN=1 accepts it.";
}

INSTANTIATE_TEST_SUITE_P(Golden, Rendered, testing::ValuesIn(variants()), [](const auto& tested) {
  return tested.param.which.op->name + "_" + tested.param.which.tmpl->name + "_" + tested.param.target;
});

// A text is complete: whoever takes it out of generated/ needs nothing else.
TEST(RenderedText, CompilesAlone) {
  const std::string object = testing::TempDir() + "tunesmith_golden.o";
  for (const Golden& golden : variants()) {
    const auto& [op, tmpl] = golden.which;
    if (tmpl != &op->templates.front()) continue;  // NVRTC's tests take all
    const std::string nvcc = TUNESMITH_NVCC;
    if (golden.target != "host" && nvcc.empty()) continue;
    const std::string compiler =
        golden.target == "host" ? "c++ -std=c++20" : nvcc + " -std=c++17 -arch=" + golden.target;
    EXPECT_EQ(std::system((compiler + " -c -o " + object + " " + path_of(golden).string()).c_str()), 0)
        << golden.file();
  }
  std::filesystem::remove(object);
}

}  // namespace
}  // namespace tunesmith
