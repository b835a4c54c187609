// SPDX-License-Identifier: Apache-2.0
// The table [compile] of a description. A description may come from a stranger, so it chooses among options
// that are listed here and never gives a compiler's words.
#include <algorithm>
#include <filesystem>
#include <limits>

#include "generator/compiler_flags.h"
#include "kernel_file/c_type.h"
#include "kernel_file/description_reader.h"

namespace tunesmith {

bool is_include_folder(const std::string& words) {
  return !words.empty() && words.size() <= 500 && words.find('\\') == std::string::npos &&
         !std::filesystem::path(words).is_absolute();
}

bool DescriptionReader::is_setting(const toml::table& root, const std::string& name) {
  const auto is_name = [&](const toml::node* node) {
    return node != nullptr && node->is_string() && node->as_string()->get() == name;
  };
  const toml::table* given = root["compile"].as_table();
  if (given == nullptr) return false;
  if (is_name(given->get("fast_math")) || is_name(given->get("maxrregcount"))) return true;
  const toml::table* defines = (*given)["defines"].as_table();
  return defines != nullptr &&
         std::any_of(defines->begin(), defines->end(), [&](const auto& one) { return is_name(&one.second); });
}

CompileSetting DescriptionReader::setting(const toml::node& node, const std::string& key, std::int64_t least,
                                          std::int64_t most, bool or_zero) const {
  CompileSetting made;
  std::vector<std::int64_t> values;
  if (node.is_boolean()) {
    values = {made.value = node.as_boolean()->get() ? 1 : 0};
  } else if (node.is_integer()) {
    values = {made.value = node.as_integer()->get()};
  } else {
    const auto* word = node.as_string();
    const auto axis = std::find_if(made_.axes.begin(), made_.axes.end(), [&](const DescribedAxis& one) {
      return word != nullptr && one.name == word->get();
    });
    if (axis == made_.axes.end())
      refuse(&node, key + " is " + shown(node) + "; give a number, true, false, or the name of an axis.");
    if (!axis->types.empty())
      refuse(&node, key + " is " + shown(node) + ", an axis of types; its name is the type in the text.");
    made.axis = static_cast<std::size_t>(axis - made_.axes.begin());
    values = axis->values;
  }
  for (const std::int64_t value : values)
    if ((value < least || value > most) && !(or_zero && value == 0))
      refuse(&node, key + " is " + std::to_string(value) + (made.axis ? ", a value of " + shown(node) : "") +
                        "; it must be from " + std::to_string(least) + " to " + std::to_string(most) +
                        (or_zero ? ", or 0 for no limit." : "."));
  return made;
}

void DescriptionReader::read_compilation(const toml::table& root) {
  const toml::table* given = table(root, "compile");
  if (given == nullptr) return;
  only_keys(*given, "[compile]", {"fast_math", "maxrregcount", "standard", "defines", "include"});
  DescribedCompilation& made = made_.compilation;
  if (const toml::node* node = given->get("fast_math"))
    made.fast_math = setting(*node, "fast_math", 0, 1, false);
  if (const toml::node* node = given->get("maxrregcount"))
    made.registers = setting(*node, "maxrregcount", least_registers, most_registers, true);
  if (const toml::node* node = given->get("standard")) {
    const auto* word = node->as_string();
    if (word == nullptr || (word->get() != "c++17" && word->get() != "c++20"))
      refuse(node, "standard is " + shown(*node) + "; allowed are \"c++17\" and \"c++20\".");
    made.standard = word->get() == "c++17" ? 17 : 20;
  }
  if (const toml::node* folders = given->get("include")) {
    const toml::array* all = folders->as_array();
    if (all == nullptr) refuse(folders, "include is " + shown(*folders) + "; give a list of folders.");
    for (const toml::node& one : *all)
      if (const auto* folder = one.as_string(); folder == nullptr || !is_include_folder(folder->get()))
        refuse(&one, "include has " + shown(one) +
                         "; give folders relative to the kernel's file, such as \"../../common\".");
  }
  const toml::node* node = given->get("defines");
  if (node == nullptr) return;
  const toml::table* defines = node->as_table();
  if (defines == nullptr) refuse(node, "defines is " + shown(*node) + "; give { NAME = 1 }.");
  for (const auto& [name, value] : entries(*defines)) {
    const std::string key = "The macro " + name;
    if (!is_identifier(name) || name.starts_with("__") || name.starts_with("TUNESMITH") || name == "ENTRY")
      refuse(value, key +
                        " has no allowed name; give letters, digits and underscores, but not __ or TUNESMITH "
                        "at the start.");
    for (const ExpressionName& other : made_.names())
      if (other.name == name)
        refuse(value,
               key + " is also an axis or a parameter of the problem, which defines it; leave one out.");
    if (!occurs(name)) refuse(value, key + " does not occur in " + text_.path + ".");
    const bool is_type = value->is_string() && c_type(value->as_string()->get(), "").dtype.has_value();
    CompileSetting meaning;
    if (is_type) {
      meaning.words = value->as_string()->get();
    } else {
      const auto is_its = [&text = value](const auto& one) { return one.name == text->as_string()->get(); };
      if (value->is_string() && std::none_of(made_.axes.begin(), made_.axes.end(), is_its))
        refuse(value, key + " is " + shown(*value) +
                          "; give a whole number, the name of an axis, or a type such as \"unsigned int\".");
      meaning = setting(*value, key, std::numeric_limits<std::int32_t>::min(),
                        std::numeric_limits<std::int32_t>::max(), false);
    }
    made.defines.emplace_back(name, std::move(meaning));
  }
}

}  // namespace tunesmith
