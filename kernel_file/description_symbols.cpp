// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "generator/listed.h"
#include "kernel_file/description_reader.h"
#include "kernel_file/unset_variable.h"

namespace tunesmith {

void DescriptionReader::read_symbols(const toml::table& root) {
  const std::vector<DeviceVariable> variables = device_variables(code_);
  const auto add = [&](const toml::node* node, const std::string& name, const std::string& array) {
    const DeviceVariable* found = nullptr;
    for (const DeviceVariable& one : variables) {
      if (one.name != name) continue;
      if (found != nullptr && found->type != one.type)
        refuse(node, "The variable " + name + " is of " + found->type + " and of " + one.type +
                         " in two places of " + text_.path +
                         ": which one is compiled is not known here. Leave one of them.");
      found = &one;
    }
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const DeviceVariable& one : variables) names.push_back(one.name);
      refuse(node, "There is no __constant__ or __device__ variable " + name + " outside of functions in " +
                       text_.path + (names.empty() ? "." : "; there are " + listed(names) + "."));
    }
    if (found->type.find('*') != std::string::npos)
      refuse(node,
             "The variable " + name +
                 " is a pointer, whose value cannot be given; make the array a parameter of the kernel.");
    if (array.empty() && found->is_constant)
      refuse(node, "The variable " + name +
                       " is __constant__, so no launch changes it; give it an initialiser or an array.");
    if (std::any_of(symbols_.begin(), symbols_.end(),
                    [&](const Symbol& one) { return one.pointer.name == name; }))
      refuse(node, "The variable " + name + " is filled twice; give it one array, or none in zeroed.");
    symbols_.push_back({node, array, {.type = found->type + "*", .name = name, .is_pointer = true}});
  };
  if (const toml::table* given = table(root, "symbols"))
    for (const auto& [name, node] : entries(*given)) add(node, name, text(*node, "The symbol " + name));
  if (const toml::node* node = root.get("zeroed"))
    for (const std::string& name : texts(*node, "zeroed")) {
      const bool is_variable = std::any_of(variables.begin(), variables.end(),
                                           [&](const DeviceVariable& one) { return one.name == name; });
      const bool is_array = root["arrays"].is_table() && root["arrays"].as_table()->contains(name);
      if (is_variable && is_array)
        refuse(node, "zeroed names " + name + ", which is an array and a variable of " + text_.path +
                         "; give one of them another name.");
      if (is_array) {
        zeroed_arrays_.push_back(name);
      } else {
        add(node, name, "");
      }
    }
  const toml::table* arrays = root["arrays"].as_table();
  if (arrays == nullptr) return;
  for (const auto& [name, node] : entries(*arrays)) {
    const toml::table* fields = node->as_table();
    const auto* role = fields != nullptr ? (*fields)["role"].as_string() : nullptr;
    const bool is_given = std::any_of(symbols_.begin(), symbols_.end(),
                                      [&, &array = name](const Symbol& one) { return one.array == array; });
    if (role == nullptr || role->get() != "constant" || is_given) continue;
    if (std::none_of(variables.begin(), variables.end(),
                     [&, &array = name](const DeviceVariable& one) { return one.name == array; }))
      refuse(node,
             "The array " + name +
                 " has the role constant, but no variable of the file takes it; name one by symbols = { "
                 "variable = \"" +
                 name + "\" }.");
    add(node, name, name);
  }
}

std::vector<std::string> DescriptionReader::symbol_names() const {
  std::vector<std::string> names;
  for (const Symbol& one : symbols_) names.push_back(one.pointer.name);
  return names;
}

void DescriptionReader::place_symbols() {
  for (const Symbol& symbol : symbols_) {
    DescribedSymbol& made = made_.symbols.emplace_back();
    made.name = symbol.pointer.name;
    if (symbol.array.empty()) continue;
    const auto found = std::find_if(made_.arrays.begin(), made_.arrays.end(),
                                    [&](const DescribedArray& one) { return one.name == symbol.array; });
    if (found == made_.arrays.end())
      refuse(symbol.node, "The variable " + made.name + " gets " + symbol.array + ", which is no array.");
    if (found->is_workspace)
      refuse(symbol.node, "The variable " + made.name + " gets " + symbol.array +
                              ", a workspace, which holds nothing before the launches; give it an input.");
    if (found->role != Role::input)
      refuse(symbol.node, "The variable " + made.name + " gets " + symbol.array + ", whose role is " +
                              std::string(name(found->role)) +
                              "; it is copied before the launch, so give it the role constant.");
    must_fit(symbol.node, "The variable " + made.name + ", seen as a pointer,", symbol.pointer, *found);
    made.array = static_cast<std::size_t>(found - made_.arrays.begin());
  }
}

}  // namespace tunesmith
