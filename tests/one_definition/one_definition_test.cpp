// SPDX-License-Identifier: Apache-2.0
// Tests that no two files of one program define the same class: the linker would silently use the members of
// one of them for both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/one_definition/definitions.h"
#include "tests/product_folders.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::filesystem::path root = source_folder;

using Texts = std::map<std::string, std::string>;

// The C++ files of a folder and its subfolders, by their path in the repository.
Texts texts_of(const std::string& folder) {
  Texts texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    texts[std::filesystem::relative(entry.path(), root)] = {std::istreambuf_iterator<char>(file), {}};
  }
  return texts;
}

bool is_test_of_a_template(const std::string& path) {
  return path.ends_with("/test.cpp") || path.ends_with("_test.cpp");
}

// The sources of the `tunesmith` program and the libraries; the tests of the templates are a program of their
// own.
Texts product() {
  Texts texts;
  for (const std::string& folder : product_folders(root)) texts.merge(texts_of(folder));
  std::erase_if(texts, [](const auto& entry) { return is_test_of_a_template(entry.first); });
  return texts;
}

// Each further program: the product with one folder of tests or examples, and the headers that they share.
std::map<std::string, Texts> programs() {
  std::map<std::string, Texts> programs;
  Texts shared = product();
  for (auto& [path, text] : texts_of("tests")) {
    if (std::filesystem::path(path).parent_path() == "tests") shared[path] = text;
  }
  for (const auto& entry : std::filesystem::directory_iterator(root / "tests")) {
    if (!entry.is_directory()) continue;
    const std::string folder = std::filesystem::relative(entry.path(), root);
    Texts& texts = programs[folder] = texts_of(folder);
    texts.insert(shared.begin(), shared.end());
  }
  Texts& templates = programs["templates"] = texts_of("templates");
  templates.insert(shared.begin(), shared.end());
  templates["tests/dispatch/fixture.h"] = texts_of("tests/dispatch").at("tests/dispatch/fixture.h");
  Texts& examples = programs["examples"] = texts_of("examples");
  examples.merge(product());
  return programs;
}

TEST(OneDefinition, HoldsInTheProductAndInEachProgramOfTests) {
  const Texts all = product();
  ASSERT_GT(all.size(), 80U) << "the sources were not found";
  ASSERT_TRUE(all.contains("dispatch/include/tunesmith/dispatcher.h"));
  EXPECT_THAT(defined_twice(all), IsEmpty());
  for (const auto& [name, texts] : programs()) EXPECT_THAT(defined_twice(texts), IsEmpty()) << name;
}

// Tests the check itself.
TEST(OneDefinition, ASecondClassOfTheSameNameIsFoundInTheSources) {
  Texts all = product();
  all["tuner/planted.h"] =
      "namespace tunesmith {\n\nstruct Variant {\n  int planted;\n};\n\n}  // namespace tunesmith\n";
  const auto found = defined_twice(all);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->first, "tunesmith::Variant");
  EXPECT_THAT(found.begin()->second,
              ElementsAre("dispatch/include/tunesmith/dispatcher.h", "tuner/planted.h"));
}

TEST(OneDefinition, EveryKindOfTypeCounts) {
  EXPECT_THAT(
      types_defined("namespace tunesmith {\n"
                    "struct A { int a; };\n"
                    "class B final : public A {\n"
                    "};\n"
                    "class C\n"
                    "    : public A {\n"
                    "};\n"
                    "enum class D { one, two };\n"
                    "enum E : int { three };\n"
                    "union F {\n"
                    "};\n"
                    "template <typename T>\n"
                    "struct G {};\n"
                    "template <> struct G<int> {};\n"
                    "struct A::Inner {\n"
                    "};\n"
                    "struct alignas(16) H {};\n"
                    "class [[nodiscard]] I {};\n"
                    "namespace sqlite {\n"
                    "class Database {\n"
                    "};\n"
                    "}  // namespace sqlite\n"
                    "}  // namespace tunesmith\n"
                    "namespace tunesmith::wire {\n"
                    "struct J {};\n"
                    "}  // namespace tunesmith::wire\n"
                    "namespace tunesmith {\n"
                    "inline namespace v1 {\n"
                    "struct K {};\n"
                    "}  // namespace v1\n"
                    "}  // namespace tunesmith\n"),
      ElementsAre("tunesmith::A", "tunesmith::B", "tunesmith::C", "tunesmith::D", "tunesmith::E",
                  "tunesmith::F", "tunesmith::G", "tunesmith::G<int>", "tunesmith::A::Inner", "tunesmith::H",
                  "tunesmith::I", "tunesmith::sqlite::Database", "tunesmith::wire::J", "tunesmith::K"));
}

TEST(OneDefinition, DeclarationsAndAFilesOwnTypesDoNot) {
  EXPECT_THAT(types_defined("namespace tunesmith {\n"
                            "struct Declared;\n"
                            "class Later\n"
                            "    ;\n"
                            "namespace {\n"
                            "struct Own {\n"
                            "};\n"
                            "}  // namespace\n"
                            "struct sigaction action = {};\n"
                            "void f() {\n"
                            "  struct Local {\n"
                            "  };\n"
                            "}\n"
                            "}  // namespace tunesmith\n"
                            "namespace sqlite { class Database; }\n"
                            "struct Global {};\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tunesmith
