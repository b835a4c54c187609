// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/toml_problems.h"

#include <algorithm>
#include <utility>

#include "kernel_file/read.h"
#include "kernel_file/toml_reader.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_problems = 1000;

class ProblemsReader : TomlReader {
 public:
  using TomlReader::TomlReader;

  TomlProblems read(const toml::table& root) {
    const toml::node* const op = root.get("op");
    if (op == nullptr) refuse(nullptr, "It names no op; write op = \"tensor\", say, into its first line.");
    result_.op = text(*op, "op");
    for (const auto& [key, node] : entries(root)) {
      if (key == "op") continue;
      if (const toml::table* const parameters = node->as_table()) {
        for (const auto& [name, value] : entries(*parameters)) add(name, *value);
      } else {
        add(key, *node);
      }
    }
    return std::move(result_);
  }

 private:
  Value value(const toml::node& node, const std::string& key) const {
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* word = node.as_string()) return word->get();
    refuse(&node, key + " is " + shown(node) + "; give a whole number, a text in quotes, or a list of them.");
  }

  void add(const std::string& key, const toml::node& node) {
    std::vector<Value> values;
    if (node.is_array()) {
      for (const toml::node& one : list(node, key, "values")) values.push_back(value(one, key));
    } else {
      values.push_back(value(node, key));
    }
    if (result_.problems.front().has(key)) refuse(&node, key + " has a value already; give it once.");
    if (values.size() * result_.problems.size() > most_problems)
      refuse(&node, "Its lists make more than " + std::to_string(most_problems) +
                        " problems; divide them among several files.");
    std::vector<Problem> all;
    for (const Problem& problem : result_.problems) {
      for (const Value& one : values) {
        all.push_back(problem);
        all.back().set(key, one);
      }
    }
    result_.problems = std::move(all);
  }

  TomlProblems result_ = {.op = {}, .problems = std::vector<Problem>(1)};
};

}  // namespace

TomlProblems toml_problems(const std::string& text, const std::string& file) {
  return ProblemsReader(file).read(parse_toml(text, file, "The file"));
}

TomlProblems read_toml_problems(const std::filesystem::path& path) {
  return toml_problems(read_text_file(path), path.string());
}

}  // namespace tunesmith
