// SPDX-License-Identifier: Apache-2.0
// Describes the numbers that the kernel takes, and the problem's sizes.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "kernel_file/c_type.h"
#include "kernel_file/describer.h"
#include "kernel_file/struct_layout.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {

void Describer::find_scalars() {
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
    const DeclaredKernel::Parameter& one = kernel_.parameters[i];
    const std::string given = launch_ && i < launch_->arguments.size() ? launch_->arguments[i] : "";
    arguments_.push_back(one.name);
    if (one.is_pointer) continue;
    const auto of_template = types_.find(one.type);
    CType type = c_type(of_template != types_.end() ? "float" : one.type, code_);
    if (of_template != types_.end()) type.dtype = dtype_of({{"dtype", of_template->second}});
    static const std::regex constant(R"(\bconst\b|\s)");
    if (const std::string plain = std::regex_replace(one.type, constant, "");
        !type.dtype && is_real_elsewhere(plain)) {
      type.dtype = DType::f32;
      types_beside_[plain] = "float";
    }
    if (!is_integer(type)) {
      arguments_.back() = real_of(given, type);
      if (arguments_.back() == "?" && of_template == types_.end())
        arguments_.back() = members_of_argument(one, given);
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
      arguments_.back() = member_names_[one.name] = place_.known.at(plain);
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
          arguments_.back() = member_names_[one.name] = known->second;
          continue;
        }
        // A constant of the program that the kernel reads beside its parameter is the size itself.
        const auto constant = constants_.find(made->word);
        if (constant != constants_.end() && !is_axis(made->word) && is_literal(made->word) &&
            reads(made->word)) {
          const std::string word = made->word;
          arguments_.back() = word;
          place_.known[plain] = word;
          member_names_[one.name] = word;
          if (sizes_.contains(word)) continue;
          sizes_[word] = {.value = constant->second, .is_extent = true};
          if (constant->second >= 1) sizes_[word].given = "[1, " + std::to_string(constant->second) + "]";
          order_.push_back(word);
          compiled_in_.push_back(word);
          continue;
        }
        place_.known[made->word] = one.name;
        read_loop(one.name, made->word, size);
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

void Describer::read_loop(const std::string& parameter, const std::string& variable, Size& size) {
  const auto loop = host_->loop_of(variable, place_.at);
  if (!loop) return;
  const auto first = value_of(loop->first);
  if (first) size.value = *first;
  loops_.push_back({parameter, loop->comparison, loop->limit});
}

void Describer::add_rules_of_loops() {
  for (const auto& [parameter, comparison, limit] : loops_) {
    if (!sizes_.contains(parameter)) continue;
    Names names;
    const auto made = host_->resolved(limit, place_, names);
    std::set<std::string> used;
    if (made) gather_names(*made, used);
    used.erase(parameter);
    if (!made || used.empty()) continue;
    std::map<std::string, HostExpression> values;
    for (const std::string& name : used) {
      if (sizes_.contains(name)) continue;
      const auto value = constants_.contains(name) ? std::optional(constants_.at(name)) : names[name].value;
      if (value) values[name] = {.kind = HostExpression::Kind::number, .number = *value, .word = {}};
    }
    for (const Axis& axis : axes_)  // of all values of an axis
      values[axis.name] = {.kind = HostExpression::Kind::number,
                           .number = *std::max_element(axis.values.begin(), axis.values.end()),
                           .word = {}};
    const HostExpression rule = with(*made, values);
    used.clear();
    gather_names(rule, used);
    if (used.empty() || !std::all_of(used.begin(), used.end(),
                                     [&](const std::string& name) { return sizes_.contains(name); }))
      continue;
    problem_rules_.push_back(parameter + " " + comparison + " " + rule.text());
  }
}

std::string Describer::assigned_member(const std::string& variable, const std::string& member) const {
  if (variable.empty() || !std::all_of(variable.begin(), variable.end(), is_name)) return "";
  const std::regex form("\\b" + variable + "\\s*\\.\\s*" + member + "\\s*=([^=;]+);");
  std::string found;
  for (std::sregex_iterator at(host_text_.begin(), host_text_.end(), form), none; at != none; ++at) {
    if (!found.empty()) return "";
    found = (*at)[1].str();
  }
  return found;
}

std::string Describer::members_of_argument(const DeclaredKernel::Parameter& parameter,
                                           const std::string& given) {
  const StructLayout layout = struct_layout(parameter.type, code_);
  if (!layout.why.empty() || layout.members.empty() || parameter.name.empty()) return "?";
  const bool is_vector = layout.members.front().name == "x";  // its names say nothing alone
  std::string text;
  for (const StructMember& member : layout.members) {
    const std::string words = assigned_member(given, member.name);
    const bool is_real = member.dtype == DType::f32 || member.dtype == DType::f64;
    std::string value;
    if (is_real || member.count > 0) {
      value = is_real ? other_real() : "1";
      if (member.count > 0) {
        std::string list = value;
        for (std::int64_t i = 1; i < member.count; ++i) list += ", " + (is_real ? other_real() : value);
        value = "[" + list + "]";
      } else if (!words.empty()) {
        value = real_of(squeezed(words), {.dtype = DType::f32});
      }
    } else {
      std::string size = is_vector ? parameter.name + "_" + member.name : member.name;
      const auto is_taken = [&](const std::string& name) {
        return sizes_.contains(name) || is_axis(name) ||
               std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(),
                           [&](const auto& one) { return one.name == name; });
      };
      if (is_taken(size)) size = parameter.name + "_" + member.name;
      if (is_taken(size)) return "?";
      Size made;
      if (!words.empty()) made.value = value_of(squeezed(words));
      if (member.dtype == DType::boolean) made.given = "{ minimum = 0, maximum = 1, default = 1 }";
      sizes_[size] = made;
      order_.push_back(size);
      member_names_[parameter.name + "." + member.name] = size;
      value = "\"" + size + "\"";
    }
    text += (text.empty() ? "{ " : ", ") + member.name + " = " + value;
  }
  return text + " }";
}

std::string Describer::real_of(const std::string& given, const CType& type) {
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
    if (number.empty() || number == "." || number == "-") return other_real();
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
  return other_real();
}

// Numbers that differ: with equal ones, or 1, a kernel that confuses them would be right.
std::string Describer::other_real() {
  constexpr int most = 15;
  const int eighths = 8 + ++reals_ % most;
  std::string text = std::to_string(eighths / 8) + "." + std::to_string(eighths % 8 * 125);
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

std::string Describer::body_with_calls() const {
  constexpr std::size_t most_calls = 24;
  struct DeviceFunction {
    std::vector<std::string> parameters;
    std::string body;
  };
  std::map<std::string, DeviceFunction> functions;
  for (const Braces& one : outer_braces(reached_)) {
    const std::string head = reached_.substr(one.head, one.open - one.head);
    const std::size_t open = head.find('(');
    if (one.kind != Braces::Kind::function || open == std::string::npos ||
        find_word(head, "__device__") == std::string::npos)
      continue;
    const std::size_t close = behind_close(head, open);
    std::size_t end = open;
    while (end > 0 && is_space(head[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_name(head[begin - 1])) --begin;
    if (close == std::string::npos || begin == end) continue;
    DeviceFunction made{.parameters = {}, .body = reached_.substr(one.open + 1, one.close - one.open - 1)};
    for (const std::string& words : split_list(std::string_view(head).substr(open + 1, close - open - 2))) {
      std::string plain = words.substr(0, words.find_first_of("=["));
      while (!plain.empty() && !is_name(plain.back())) plain.pop_back();
      std::size_t first = plain.size();
      while (first > 0 && is_name(plain[first - 1])) --first;
      made.parameters.push_back(plain.substr(first));
    }
    functions.emplace(head.substr(begin, end - begin), std::move(made));  // of several, the first
  }
  std::set<std::string> arrays;
  for (const auto& one : kernel_.parameters)
    if (one.is_pointer) arrays.insert(one.name);
  const auto is_array = [&](const std::string& words) {  // x, x + first, &x[first]
    const std::size_t begin = std::min(words.find_first_not_of("& ("), words.size());
    std::size_t end = begin;
    while (end < words.size() && is_name(words[end])) ++end;
    return arrays.contains(words.substr(begin, end - begin));
  };
  std::string all = body_;
  std::size_t calls = 0;
  for (std::size_t at = 0; at < all.size() && calls < most_calls;) {
    if (!is_name(all[at]) || (at > 0 && is_name(all[at - 1]))) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < all.size() && is_name(all[end])) ++end;
    const auto found = functions.find(all.substr(at, end - at));
    const std::size_t open = skip_space(all, end);
    at = end;
    if (found == functions.end() || open >= all.size() || all[open] != '(') continue;
    const std::size_t close = behind_close(all, open);
    if (close == std::string::npos) continue;
    const std::vector<std::string> given =
        split_list(std::string_view(all).substr(open + 1, close - open - 2));
    const std::vector<std::string>& parameters = found->second.parameters;
    if (given.size() != parameters.size() || std::none_of(given.begin(), given.end(), is_array)) continue;
    const std::string suffix = "_of_call_" + std::to_string(++calls);
    std::map<std::string, std::string> names;
    std::string copy = "\n;";
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool is_plain = std::all_of(given[i].begin(), given[i].end(), is_name);
      names[parameters[i]] = is_plain ? given[i] : "(" + given[i] + ")";
      if (is_plain || !is_array(given[i])) continue;
      names[parameters[i]] = parameters[i] + suffix;  // a pointer into the array
      copy += "auto " + names[parameters[i]] + " = " + given[i] + ";";
    }
    // Names that the function declares differ from the kernel's and from those of other calls.
    const std::string& body = found->second.body;
    static const std::regex declared(R"([A-Za-z_]\w*[\s*&]+([A-Za-z_]\w*)\s*(?=[=;,\[]))");
    static const std::set<std::string> no_types = {"return", "else", "case", "goto"};
    for (std::sregex_iterator one(body.begin(), body.end(), declared), none; one != none; ++one) {
      const std::string name = (*one)[1].str(), words = one->str();
      if (no_types.contains(words.substr(0, words.find_first_of(" \t\n*&")))) continue;
      if (!sizes_.contains(name) && !constants_.contains(name)) names.emplace(name, name + suffix);
    }
    for (std::size_t i = 0; i < body.size();) {
      std::size_t stop = i + 1;
      if (is_name(body[i])) {
        while (stop < body.size() && is_name(body[stop])) ++stop;
        const auto other = names.find(body.substr(i, stop - i));
        const bool is_member =
            i > 0 && (body[i - 1] == '.' || (body[i - 1] == '>' && i > 1 && body[i - 2] == '-'));
        copy += other == names.end() || is_member ? body.substr(i, stop - i) : other->second;
      } else {
        copy += body[i];
      }
      i = stop;
    }
    all += copy + "\n;";
  }
  return all;
}

void Describer::find_bounds() {
  std::set<std::string> names;
  for (const auto& [name, size] : sizes_) names.insert(name);
  for (const auto& [name, value] : constants_)
    if (is_literal(name)) names.insert(name);
  for (const Axis& one : axes_) names.insert(one.name);
  std::map<std::string, std::string> meanings = macros_;
  for (auto& [name, text] : meanings) {  // a macro by another one with parameters
    if (text.find('(') == std::string::npos || !reads(name)) continue;
    Names of_macro;
    const auto made = reached_code_->resolved(text, {.at = 0, .known = {}}, of_macro);
    if (made && made->kind == HostExpression::Kind::name) text = made->word;
  }
  meanings.insert(member_names_.begin(), member_names_.end());
  // Constants of classes, such as Packed<float>::size.
  static const std::regex member(R"(\b[A-Za-z_]\w*::[A-Za-z_]\w*\b)");
  for (std::sregex_iterator at(body_.begin(), body_.end(), member), none; at != none; ++at)
    if (const auto value = value_in_kernel(at->str())) meanings[at->str()] = std::to_string(*value);
  const auto bytes_of = [&](const std::string& word) -> std::int64_t {
    std::string type = word;
    for (const auto& one : kernel_.parameters)
      if (one.name == word && one.is_pointer) type = one.type.substr(0, one.type.find('*'));
    while (type.ends_with(' ')) type.pop_back();
    const CType made = c_type(types_beside_.contains(type) ? "float" : element_of_template(type), code_);
    return made.dtype && made.ambiguity.empty() ? bytes(*made.dtype) * made.lanes : 0;
  };
  with_calls_ = body_with_calls();
  bounds_.emplace(with_calls_, std::move(names), meanings, bytes_of);
  // An array within the kernel has a number of elements that a size must not pass.
  for (const auto& [size, most] :
       bounds_->limits([&](const std::string& words) -> std::optional<std::int64_t> {
         if (is_axis(words)) return std::nullopt;
         return value_in_kernel(words);
       }))
    if (const auto found = sizes_.find(size); found != sizes_.end())
      found->second.most = std::min(found->second.most, most);
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
