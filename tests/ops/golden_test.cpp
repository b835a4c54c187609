// SPDX-License-Identifier: Apache-2.0
// Compares the texts that the templates render with the files of tests/golden, so that a change of generated
// code is seen and judged, not found out later. A file has each template of an op, with its default config
// for the op's first example that it serves: the text that render writes itself, the names of the files that
// it inlines, and the identity, which changes with their code. A simple and a rich kernel are there as a
// whole for people to read, generated/transpose.cu and conv2d.cu. TUNESMITH_UPDATE_GOLDEN=1 writes the files
// anew.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "choose/winners_file.h"
#include "kernel_file/find_op.h"
#include "tests/op_cases.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

struct Golden {
  const Template* tmpl;
  std::string target;
  std::string problem = {};  // empty: the op's first example that the template serves
};

// A kernel that is generated as a whole is shown for a well-known problem.
constexpr const char* nine_loops =
    "expression=\"out[b,c,y,x,c,v,u] += f[c] * (m[b,k,y+i,x+j] * m[b,k,v+i,u+j] + "
    "g[b,k,y+i,x+j,k,v+i,u+j])\" "
    "b=4 c=3 y=32 x=32 v=32 u=32 k=3 i=3 j=3 may=distribute";

std::vector<Golden> variants(const Op& op) {
  std::vector<Golden> all;
  for (const Template& tmpl : op.templates) all.push_back({&tmpl, "sm_90a"});
  if (op.name == "tensor") all.push_back({&find_template(op, "loops"), "sm_90a", nine_loops});
  if (op.name == "conv2d") all.push_back({&op.templates.front(), "host"});
  return all;
}

Source rendered(const Op& op, const Golden& golden) {
  const Template& tmpl = *golden.tmpl;
  const std::vector<std::string> given = {golden.problem};
  for (const std::string& example : golden.problem.empty() ? op.examples : given) {
    const Problem problem = complete_problem(op, Problem::parse(example));
    if (tmpl.refuses && !tmpl.refuses(problem).empty()) continue;
    return render(op, tmpl, problem, tmpl.space(problem).complete({}), golden.target);
  }
  throw Error(op.name + "/" + tmpl.name + " serves none of the op's examples.");
}

constexpr std::string_view heading = "// ---- templates/";  // before the lines of a file

std::string outline(const Source& source) {
  std::istringstream lines(source.text);
  std::string text;
  bool is_inlined = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "// ---- what this variant is" || line == "// ---- what is generated for it" ||
        line == "// ---- entries for the host")
      is_inlined = false;
    if (!is_inlined || line.starts_with(heading)) text += line + "\n";
    is_inlined = is_inlined || line.starts_with(heading);
  }
  return text + "identity " + source.hash + "\n\n";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Rendered : public testing::TestWithParam<std::string> {};

TEST_P(Rendered, IsAsInTheGoldenFile) {
  const Op& op = find_op(GetParam());
  const std::filesystem::path path =
      std::filesystem::path(source_folder) / "tests" / "golden" / (op.name + ".txt");
  std::vector<std::string> outlines;
  for (const Golden& golden : variants(op)) {
    const Source source = rendered(op, golden);
    EXPECT_EQ(source.text, rendered(op, golden).text) << "render is deterministic";
    outlines.push_back(outline(source));
  }
  std::string text;
  for (const std::string& one : outlines) text += one;
  if (std::getenv("TUNESMITH_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  const std::string expected = read(path);
  for (const std::string& one : outlines) {
    if (expected.find(one) != std::string::npos) continue;
    ADD_FAILURE() << "This is not in " << path << " as it is rendered now:\n"
                  << one
                  << "What changed in the code that it inlines: git diff main -- templates/common templates/"
                  << op.name
                  << "\nTo accept it: TUNESMITH_UPDATE_GOLDEN=1; then git diff tests/golden shows the rest.";
  }
  EXPECT_TRUE(text == expected)
      << path << " differs from what is rendered: TUNESMITH_UPDATE_GOLDEN=1 writes it anew.";
}

// The winner for the first problem of the op's problems.txt, as a whole; the base of an op without winners.
std::string example_of(const Op& op) {
  const std::filesystem::path sources = source_folder;
  std::istringstream lines(read(sources / "templates" / op.name / "problems.txt"));
  std::string line;
  while (std::getline(lines, line) && line.starts_with('#')) continue;
  const Problem problem = complete_problem(op, Problem::parse(line));
  const WinnersFileRow* best = nullptr;
  const std::vector<WinnersFileRow> rows =
      read_winners([&](std::string_view name) { return read(sources / "generated" / name); });
  for (const WinnersFileRow& row : rows) {
    const Candidate& its = row.winner;
    if (its.op == op.name && its.conditions.caches == Caches::warm &&
        same_until_launch(op, complete_problem(op, its.problem), problem) &&
        (best == nullptr || its.median_us < best->winner.median_us))
      best = &row;
  }
  const std::string read_only = "// To be read: nothing is built from this text. It is the ";
  const std::string writer =
      ",\n// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. \"tunesmith render\" writes any "
      "other.\n";
  if (best == nullptr) {
    const Template& tmpl = op.templates.front();
    return read_only + "base for\n// " + problem.text() + writer +
           render(op, tmpl, problem, base_config(op, problem), "sm_90a").text;
  }
  const Candidate& winner = best->winner;
  const Template& tmpl = find_template(op, winner.template_name);
  const Config config = tmpl.space(problem, winner.device).legal(winner.config);
  const Source source = render(op, tmpl, problem, config, winner.device.target);
  EXPECT_EQ(source.hash, winner.source_hash) << "it is what was tuned";
  return read_only + "winner on " + winner.device.name + " for\n// " + problem.text() + writer + source.text;
}

class ReadableKernel : public testing::TestWithParam<const char*> {};

TEST_P(ReadableKernel, IsAsInGenerated) {
  const std::filesystem::path path =
      std::filesystem::path(source_folder) / "generated" / (GetParam() + std::string(".cu"));
  const std::string text = example_of(find_op(GetParam()));
  if (std::getenv("TUNESMITH_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  const std::string expected = read(path);
  const auto differs = std::mismatch(text.begin(), text.end(), expected.begin(), expected.end()).first;
  EXPECT_TRUE(text == expected) << path << " differs from what is rendered, from line "
                                << 1 + std::count(text.begin(), differs, '\n') << " on. To accept it: "
                                << "TUNESMITH_UPDATE_GOLDEN=1; then git diff generated shows what changed.";
}

std::vector<std::string> names_of_ops() {
  std::vector<std::string> names;
  for (const Op& op : ops()) names.push_back(op.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Golden, Rendered, testing::ValuesIn(names_of_ops()),
                         [](const auto& tested) { return tested.param; });

INSTANTIATE_TEST_SUITE_P(Golden, ReadableKernel, testing::Values("transpose", "conv2d"),
                         [](const auto& tested) { return std::string(tested.param); });

// A text is complete: it compiles without other files.
TEST(RenderedText, CompilesAlone) {
  const std::filesystem::path folder = testing::TempDir() + "tunesmith_golden_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  for (const Op& op : ops()) {
    for (const Golden& golden : variants(op)) {
      if (golden.tmpl != &op.templates.front()) continue;  // NVRTC's tests cover all templates
      const std::string nvcc = TUNESMITH_NVCC;
      const bool is_host = golden.target == "host";
      if (!is_host && nvcc.empty()) continue;
      const std::string compiler = is_host ? "c++ -std=c++20" : nvcc + " -std=c++17 -arch=" + golden.target;
      const std::filesystem::path file = folder / (op.name + (is_host ? ".cpp" : ".cu"));
      std::ofstream(file, std::ios::binary) << rendered(op, golden).text;
      // The other passes of nvcc are the same for all ops, so only the first op runs them.
      const char* const result = is_host || &op == &ops().front() ? " -c" : " -ptx";
      EXPECT_EQ(
          std::system(
              (compiler + result + " -o " + (folder / "object.o").string() + " " + file.string()).c_str()),
          0)
          << op.name << "/" << golden.tmpl->name << " for " << golden.target;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tunesmith
