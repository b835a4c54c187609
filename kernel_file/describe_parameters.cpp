// SPDX-License-Identifier: Apache-2.0
// Describes the numbers that the kernel takes, and the problem's sizes.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "kernel_file/c_type.h"
#include "kernel_file/describer.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {

void Describer::find_scalars() {
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
    const DeclaredKernel::Parameter& one = kernel_.parameters[i];
    const std::string given = launch_ && i < launch_->arguments.size() ? launch_->arguments[i] : "";
    arguments_.push_back(one.name);
    if (one.is_pointer) continue;
    const auto of_template = types_.find(one.type);
    const CType type = c_type(of_template != types_.end() ? "float" : one.type, code_);
    if (!is_integer(type)) {
      arguments_.back() = real_of(given, type);
      continue;
    }
    if (one.name.empty()) {
      arguments_.back() = "?";
      continue;
    }
    std::string plain = given;
    static const std::regex cast(R"(\(\s*[\w\s]+\)\s*(\w+))");
    std::smatch match;
    if (std::regex_match(given, match, cast)) plain = match[1].str();
    const bool is_name_there = !plain.empty() && std::all_of(plain.begin(), plain.end(), is_name) &&
                               std::isdigit(static_cast<unsigned char>(plain[0])) == 0;
    if (is_name_there && place_.known.contains(plain)) {
      arguments_.back() = place_.known.at(plain);
      continue;
    }
    Size size;
    if (type.dtype == DType::boolean) size.given = "{ minimum = 0, maximum = 1, default = 1 }";
    if (is_name_there && plain != "true" && plain != "false") {
      Names names;
      const auto made = host_->resolved(plain, place_, names);
      if (made && made->kind == HostExpression::Kind::name) {
        size.value = names[made->word].value;
        if (const auto known = place_.known.find(made->word); known != place_.known.end()) {
          arguments_.back() = known->second;
          continue;
        }
        place_.known[made->word] = one.name;
      } else if (made) {
        computed_[one.name] = *made;
        for (const auto& [word, known] : names) names_.emplace(word, known);
      }
      place_.known[plain] = one.name;
    } else if (!given.empty()) {
      size.value = value_of(given);
      expressions_[one.name] = given;
    }
    sizes_[one.name] = size;
    order_.push_back(one.name);
  }
}

std::string Describer::real_of(const std::string& given, const CType& type) const {
  const bool is_real =
      type.dtype && type.lanes == 1 && (*type.dtype == DType::f32 || *type.dtype == DType::f64);
  if (!is_real) return "?";
  static const std::regex form(R"(\(?\s*(-?\s*\d*\.?\d*(?:[eE][-+]?\d+)?)[fF]?\s*\)?)");
  std::smatch match;
  std::string words = given;
  if (!words.empty() && std::all_of(words.begin(), words.end(), is_name) &&
      std::isdigit(static_cast<unsigned char>(words[0])) == 0) {
    const std::regex defined("\\b" + words + R"(\s*=\s*([-+\d.eEfF]+)\s*[;,])");
    const std::regex macro("#\\s*define\\s+" + words + R"(\s+\(?([-+\d.eEfF]+)\)?\s*\n)");
    if (std::regex_search(host_text_, match, defined) || std::regex_search(host_text_, match, macro))
      words = match[1].str();
  }
  if (std::regex_match(words, match, form)) {
    std::string number = match[1].str();
    std::erase(number, ' ');
    if (number.empty() || number == "." || number == "-") return "1.0";
    if (number.starts_with('.')) number = "0" + number;
    if (number.starts_with("-.")) number = "-0" + number.substr(1);
    const std::size_t dot = number.find('.');
    if (dot == std::string::npos) {
      if (number.find_first_of("eE") == std::string::npos) number += ".0";
    } else if (dot + 1 == number.size() || std::isdigit(static_cast<unsigned char>(number[dot + 1])) == 0) {
      number.insert(dot + 1, "0");
    }
    const std::size_t first = number.find_first_not_of("-0");
    if (first == std::string::npos || number[first] == '.') return number;
    while (number[0] == '0' && number.size() > 1 && number[1] != '.') number.erase(0, 1);
    return number;
  }
  return "1.0";
}

void Describer::find_bounds() {
  std::set<std::string> names;
  for (const auto& [name, size] : sizes_) names.insert(name);
  for (const auto& [name, value] : constants_)
    if (is_literal(name)) names.insert(name);
  for (const Axis& one : axes_) names.insert(one.name);
  bounds_.emplace(body_, std::move(names), macros_);
}

bool Describer::is_literal(const std::string& name) const {
  const auto found = macros_.find(name);
  if (found == macros_.end()) return true;
  return std::none_of(found->second.begin(), found->second.end(), [](char c) {
    return (std::isalpha(static_cast<unsigned char>(c)) != 0 &&
            std::string_view("xXuUlLaAbBcCdDeEfF").find(c) == std::string_view::npos) ||
           c == '_';
  });
}

}  // namespace tunesmith
