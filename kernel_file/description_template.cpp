// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "generator/c_characters.h"
#include "generator/listed.h"
#include "kernel_file/c_type.h"
#include "kernel_file/described_parts.h"
#include "kernel_file/description_reader.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

// Replaces each of the names in the text by what stands for it; empty: it stays.
std::string with_names(const std::string& text,
                       const std::vector<std::pair<std::string, std::string>>& meanings) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string word = text.substr(at, std::max<std::size_t>(end - at, 1));
    const auto found =
        std::find_if(meanings.begin(), meanings.end(), [&](const auto& one) { return one.first == word; });
    made += found != meanings.end() && !found->second.empty() ? found->second : word;
    at += word.size();
  }
  return made;
}

bool is_axis(const toml::table& root, const std::string& name) {
  const toml::table* axes = root["axes"].as_table();
  return axes != nullptr && axes->contains(name);
}

// True if the description gives the problem's parameter by words and not as a number.
bool has_words(const toml::node& node) {
  if (const toml::table* fields = node.as_table()) return fields->contains("words");
  const toml::array* all = node.as_array();
  return all != nullptr && !all->empty() && (*all)[0].is_string();
}

}  // namespace

// Splits "kernel<float, BLOCK>" into the name and the arguments.
DescriptionReader::Instantiate DescriptionReader::instantiate_of(const toml::node* node) const {
  Instantiate made{.node = node};
  if (node == nullptr) return made;
  const std::string& words = text(*node, "instantiate");
  const std::size_t open = words.find('<'), close = words.find_last_not_of(' ');
  std::size_t end = std::min(open, words.size());
  while (end > 0 && words[end - 1] == ' ') --end;
  const std::size_t begin = std::min(words.find_first_not_of(' '), end);
  made.kernel = words.substr(begin, end - begin);
  if (!is_identifier(made.kernel) || open == std::string::npos || words[close] != '>' ||
      words.find_first_of(";{}\n\\\"#") != std::string::npos)
    refuse(node,
           "instantiate is " + shown(*node) +
               "; give the kernel with its template arguments, such as \"kernel<float, BLOCK, true>\".");
  made.arguments = split_list(std::string_view(words).substr(open + 1, close - open - 1));
  if (made.arguments.size() == 1 && made.arguments.front().empty()) made.arguments.clear();
  for (const std::string& argument : made.arguments)
    if (argument.empty()) refuse(node, "instantiate is " + shown(*node) + ", in which an argument is empty.");
  return made;
}

std::string DescriptionReader::dtype_of_type_parameter(const toml::table& root, const toml::table* launch,
                                                       const DeclaredKernel& kernel, const std::string& name,
                                                       const std::vector<std::string>& dtypes) const {
  const toml::table* arrays = root["arrays"].as_table();
  const toml::array* given = launch != nullptr ? (*launch)["arguments"].as_array() : nullptr;
  std::string found, of, undecided;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const DeclaredKernel::Parameter& one = kernel.parameters[i];
    std::string element = one.type;
    std::erase_if(element, [](char c) { return c == '*' || c == ' '; });
    if (!one.is_pointer || element != name) continue;
    std::string array = one.name;
    if (given != nullptr) {
      const auto* word = i < given->size() ? (*given)[i].as_string() : nullptr;
      if (word == nullptr) continue;
      array = word->get();
    }
    const toml::table* fields = arrays != nullptr ? (*arrays)[array].as_table() : nullptr;
    const auto* word = fields != nullptr ? (*fields)["dtype"].as_string() : nullptr;
    const std::string dtype = word != nullptr ? word->get() : dtypes.size() == 1 ? dtypes.front() : "";
    if (dtype.empty()) {
      undecided = array;
      continue;
    }
    if (!found.empty() && dtype != found)
      refuse(launch, "The template parameter " + name + " of " + kernel.name + " is the type of " + of +
                         ", whose dtype is " + found + ", and of " + array + ", whose dtype is " + dtype +
                         "; give them one dtype.");
    found = dtype;
    of = array;
  }
  if (found.empty() && !undecided.empty() && dtypes.size() > 1)
    refuse(launch, "There are several dtypes, and the template parameter " + name + " of " + kernel.name +
                       " is the type of " + undecided + "; let Tunesmith define it, by type = \"" + name +
                       "\".");
  if (found.empty() && !undecided.empty())
    refuse(launch,
           "The template parameter " + name + " of " + kernel.name + " is the type of " + undecided +
               ", which has no dtype; give one, such as dtype = \"f32\", for all arrays or for this.");
  return found;
}

std::string DescriptionReader::value_argument(const toml::table& root, const DeclaredKernel& kernel,
                                              const TemplateParameter& parameter) {
  const std::string which = "The template parameter " + parameter.name + " of " + kernel.name;
  if (is_axis(root, parameter.name)) {
    const CType type = c_type(parameter.type, code_);
    const toml::node* node = root["axes"].as_table()->get(parameter.name);
    if (const toml::table* fields = node->as_table()) node = fields->get("values");
    const toml::array* values = node != nullptr ? node->as_array() : nullptr;
    if (!type.dtype || !is_whole(*type.dtype) || values == nullptr) return parameter.name;
    const auto [least, most] = limits_of(*type.dtype);
    for (const toml::node& one : *values) {
      const auto* value = one.as_integer();
      if (value != nullptr && (value->get() < least || value->get() > most))
        refuse(&one, which + " has the type " + parameter.type + ", which cannot hold the axis's value " +
                         std::to_string(value->get()) + "; give values from " + std::to_string(least) +
                         " to " + std::to_string(most) + ".");
    }
    return parameter.name;
  }
  const toml::table* problem = root["problem"].as_table();
  const toml::node* of_problem = problem != nullptr ? problem->get(parameter.name) : nullptr;
  if (of_problem == nullptr) return "";
  if (has_words(*of_problem))
    refuse(of_problem, which +
                           " has the name of a parameter of the problem that is a word, and which word "
                           "stands for which value is not known here; give the value by instantiate = \"" +
                           kernel.name + "<…>\".");
  also_compiled_in_.push_back(parameter.name);
  return parameter.name;
}

DeclaredKernel DescriptionReader::instantiated(const toml::table& root, const toml::table* launch,
                                               const DeclaredKernel& kernel, const Instantiate& given,
                                               const std::vector<std::string>& dtypes) {
  if (!kernel.is_template) return kernel;
  Instantiation made{
      .kernel = kernel.name, .entry = kernel.name, .parameters = kernel.template_parameters, .arguments = {}};
  const std::string form = "instantiate = \"" + kernel.name + "<…>\"";
  const std::string whole = given.node != nullptr ? text(*given.node, "instantiate") : "";
  std::vector<std::pair<std::string, std::string>> types;
  for (std::size_t i = 0; i < made.parameters.size(); ++i) {
    const TemplateParameter& parameter = made.parameters[i];
    const std::string which = "The template parameter " +
                              (parameter.name.empty() ? std::to_string(i + 1) : parameter.name) + " of " +
                              kernel.name + " (line " + std::to_string(kernel.line) + ")";
    if (parameter.kind == TemplateParameter::Kind::other)
      refuse(given.node, which +
                             " is a pack or a template, which cannot be given; write a kernel without it "
                             "that calls the code.");
    const bool is_type = parameter.kind == TemplateParameter::Kind::type;
    std::string argument;
    if (i < given.arguments.size() && given.arguments[i] != parameter.name) {
      argument = is_type ? with_names(given.arguments[i], types) : given.arguments[i];
      const bool is_hidden =
          is_axis(root, parameter.name) || root["problem"][parameter.name].node() != nullptr;
      if (is_hidden && find_word(whole, parameter.name) == std::string::npos)
        refuse(given.node, which + " is given as " + argument + ", and hides the " +
                               (is_axis(root, parameter.name) ? "axis" : "parameter of the problem") +
                               " of its name; write " + parameter.name +
                               " in instantiate, or give that another name.");
    } else if (is_type && (parameter.name == made_.type || type_axes_.contains(parameter.name))) {
      argument = parameter.name;
    } else if (is_type) {
      const std::string dtype = dtype_of_type_parameter(root, launch, kernel, parameter.name, dtypes);
      if (!dtype.empty()) argument = own_type(dtype_of({{"dtype", dtype}}));
    } else if (!parameter.name.empty()) {
      argument = value_argument(root, kernel, parameter);
    }
    if (argument.empty() && parameter.initial.empty()) {
      refuse(given.node,
             which + (is_type ? " is the type of no array" : " is no axis and no parameter of the problem") +
                 "; " + (is_type ? "name it" : "make it one, or give its value") + " by " + form +
                 ", with all arguments in their order.");
    }
    made.arguments.push_back(argument);
    if (is_type && !parameter.name.empty())
      types.emplace_back(parameter.name, argument.empty() ? with_names(parameter.initial, types) : argument);
  }
  // The arguments name constants of the variant.
  if (const toml::table* problem = root["problem"].as_table())
    for (const auto& [name, node] : *problem)
      for (const std::string& argument : made.arguments)
        if (find_word(argument, name.str()) != std::string::npos) also_compiled_in_.emplace_back(name.str());
  DeclaredKernel of_arguments = kernel;
  for (DeclaredKernel::Parameter& one : of_arguments.parameters) {
    one.type = with_names(one.type, types);
    one.is_pointer |= one.type.find('*') != std::string::npos;
  }
  const auto are_alike = [](const TemplateParameter& a, const TemplateParameter& b) {
    return a.kind == b.kind && a.type == b.type && a.name == b.name;
  };
  const auto same =
      std::find_if(made_.instantiations.begin(), made_.instantiations.end(), [&](const Instantiation& other) {
        return other.kernel == made.kernel && other.arguments == made.arguments &&
               std::equal(other.parameters.begin(), other.parameters.end(), made.parameters.begin(),
                          made.parameters.end(), are_alike);
      });
  if (same != made_.instantiations.end()) {
    of_arguments.name = same->entry;
    return of_arguments;
  }
  // A further instantiation is another kernel, with a name that the text does not have.
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(made_.instantiations.begin(), made_.instantiations.end(),
                       [&](const Instantiation& other) { return other.entry == name; }) ||
           (name != kernel.name && find_word(code_, name) != std::string::npos);
  };
  for (int number = 2; is_taken(made.entry); ++number)
    made.entry = kernel.name + "_" + std::to_string(number);
  of_arguments.name = made.entry;
  made_.instantiations.push_back(std::move(made));
  return of_arguments;
}

}  // namespace tunesmith
