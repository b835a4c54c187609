// SPDX-License-Identifier: Apache-2.0
// Describes axes: template parameters and constants.
#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "generator/error.h"
#include "kernel_file/c_type.h"
#include "kernel_file/describer.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

bool is_power_of_2(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

// True if the name is one that authors give to constants which may be tuned.
bool is_tunable_name(const std::string& name) {
  std::string words = "_";
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool begins =
        std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1]));
    if (begins) words += '_';
    words += static_cast<char>(std::toupper(c));
  }
  words += "_";
  static const std::regex excluded(R"(_(NUM|N|NR|MAX|MIN|TOTAL|COUNT|LOG|LOG2)_|WARP_?SIZE|PI_|EPS)");
  static const std::regex tunable(
      R"(BLOCK|BLK|TILE|THREAD|_BDIM|_TB_|UNROLL|_WPT|COARSE|COARSEN|_ITEMS|WARPS|_VEC|VECTOR|_B[XYZMNK]_|_T[XYMN]_|_W[MN]_|_WG|WORK_?GROUP|LOCAL_SIZE|_GROUP|CHUNK|PER_|_STAGES?_|_USE_|SUB_?SIZE|STEP_?SIZE)");
  return !std::regex_search(words, excluded) && std::regex_search(words, tunable);
}

// True if the parenthesis opens the arguments of a macro that pastes them.
bool is_pasted(const std::string& text, std::size_t open) {
  std::size_t begin = open;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  if (begin == open) return false;
  const std::size_t defined = text.find("define " + text.substr(begin, open - begin) + "(");
  return defined != std::string::npos &&
         text.substr(defined, text.find('\n', defined) - defined).find("##") != std::string::npos;
}

}  // namespace

std::vector<std::int64_t> around(std::int64_t value, std::int64_t most) {
  std::vector<std::int64_t> all = {value};
  const auto add = [&](std::int64_t other) {
    if (other >= 1 && other <= most && std::find(all.begin(), all.end(), other) == all.end())
      all.push_back(other);
  };
  if (value == 0) return {0, 1};
  if (value < 0) return all;
  if (!is_power_of_2(value)) {
    if (value % 2 == 0) add(value / 2);
    add(value * 2);
    return all;
  }
  if (value % 2 == 0) add(value / 2);
  add(value * 2);
  if (value % 4 == 0) add(value / 4);
  add(value * 4);
  return all;
}

void Describer::add_axis(Axis axis) {
  if (std::none_of(axes_.begin(), axes_.end(), [&](const Axis& one) { return one.name == axis.name; }))
    axes_.push_back(std::move(axis));
}

bool Describer::is_axis(const std::string& name) const {
  return std::any_of(axes_.begin(), axes_.end(), [&](const Axis& one) { return one.name == name; });
}

std::optional<std::int64_t> Describer::value_of(const std::string& words) {
  if (words == "true" || words == "false") return words == "true";
  Names names;
  const auto made = host_->resolved(words, place_, names);
  if (!made) return std::nullopt;
  if (made->kind == HostExpression::Kind::number) return made->number;
  if (made->kind == HostExpression::Kind::name) return names[made->word].value;
  return std::nullopt;
}

std::string Describer::dtype_of_type(const std::string& words) const {
  const CType type = c_type(words, code_);
  return type.dtype && type.ambiguity.empty() && type.lanes == 1 ? std::string(name(*type.dtype)) : "";
}

bool Describer::is_type_of_array(const std::string& type) const {
  return std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(), [&](const auto& one) {
    std::string plain = one.type;
    std::erase_if(plain, [](char c) { return c == '*' || c == ' ' || c == '&'; });
    return one.is_pointer && plain == type;
  });
}

void Describer::find_template() {
  if (!kernel_.is_template) return;
  const std::vector<std::string> given = launch_ ? launch_->template_arguments : std::vector<std::string>{};
  std::vector<std::string> arguments;
  bool is_needed = false;
  for (std::size_t i = 0; i < kernel_.template_parameters.size(); ++i) {
    const TemplateParameter& one = kernel_.template_parameters[i];
    std::string argument = i < given.size() ? given[i] : one.initial;
    if (launch_ && i < given.size())
      if (const auto of_function = host_->template_argument(argument, place_.at)) argument = *of_function;
    if (one.kind == TemplateParameter::Kind::other)
      throw UsageError("The kernel " + kernel_.name + " of " + file_.path +
                       " has a template parameter that is a pack or a template; such kernels are not "
                       "described.");
    if (one.kind == TemplateParameter::Kind::type) {
      const std::string dtype = dtype_of_type(argument);
      if (is_type_of_array(one.name)) {
        static const std::regex of_indices("idx|index|int|size|count|offset", std::regex::icase);
        types_[one.name] = !dtype.empty() ? dtype : std::regex_search(one.name, of_indices) ? "i32" : "f32";
        if (dtype.empty()) dtype_comment_ = "a guess: no launch says the type of " + one.name;
        if (dtype_.empty()) dtype_ = types_[one.name];
        if (types_[one.name] == dtype_) {
          arguments.push_back(one.name);
        } else {
          arguments.push_back(dtype.empty() ? element_of_template(one.name) : argument);
          is_needed = true;
        }
      } else if (!dtype.empty()) {
        types_[one.name] = dtype;
        arguments.push_back(argument);
        is_needed = true;
      } else if (!argument.empty() && find_word(code_, argument) != std::string::npos &&
                 argument.find("typename") == std::string::npos && is_named_type(argument)) {
        arguments.push_back(argument);
        is_needed = true;
      } else {
        arguments.emplace_back("?");
        is_needed = true;
      }
      continue;
    }
    const std::optional<std::int64_t> value = argument.empty() ? std::nullopt : value_of(argument);
    const bool is_bool = one.type == "bool";
    // reduce<BLOCK, BLOCK / 32>: the second argument follows from the first, so it is no axis.
    Names names;
    const auto made = argument.empty() ? std::nullopt : host_->resolved(argument, place_, names);
    std::set<std::string> used;
    if (made && !made->parts.empty()) gather_names(*made, used);
    if (!used.empty() && std::all_of(used.begin(), used.end(),
                                     [&](const std::string& name) { return meanings_.contains(name); })) {
      arguments.push_back(with(*made, meanings_).text());
      is_needed = true;
      continue;
    }
    if (made && made->kind == HostExpression::Kind::name && !one.name.empty() && made->word != one.name)
      meanings_[made->word] = {.kind = HostExpression::Kind::name, .word = one.name};
    else if (made && made->kind == HostExpression::Kind::name)
      meanings_[made->word] = *made;
    if (is_bool && value) {
      arguments.emplace_back(*value != 0 ? "true" : "false");
      is_needed = true;
    } else if (one.name.empty() || (!is_bool && !is_integer(c_type(one.type, code_)) && !value)) {
      arguments.push_back(argument.empty() ? "?" : argument);
      is_needed = true;
    } else {
      const bool is_tunable = is_tunable_name(one.name);
      const std::int64_t now = value.value_or(is_bool ? 0 : is_tunable ? 16 : 1);
      Axis axis{one.name, is_tunable ? around(now, most_threads) : std::vector<std::int64_t>{now}, ""};
      if (!value) axis.comment = "no launch says its value";
      if (!is_tunable && value) axis.comment = "its other values may compute something else";
      add_axis(std::move(axis));
      arguments.push_back(one.name);
    }
  }
  if (is_needed) instantiate_ = arguments;
}

bool Describer::is_named_type(const std::string& words) const {
  const std::string name = words.substr(0, words.find('<'));
  return declared_.contains(name) || find_word(code_, "struct " + name) != std::string::npos;
}

void Describer::find_constants() {
  std::set<std::string> parameters;
  for (const auto& one : kernel_.parameters) parameters.insert(one.name);
  for (const auto& one : kernel_.template_parameters) parameters.insert(one.name);
  // #if NAME == 2: these are its values.
  static const std::regex compared(R"(#\s*(?:el)?if\b[^\n]*?\b([A-Za-z_]\w*)\s*==\s*(\d+))");
  for (std::sregex_iterator at(code_.begin(), code_.end(), compared), none; at != none; ++at) {
    const std::string name = (*at)[1].str();
    if (name.starts_with("__") || parameters.contains(name)) continue;
    if (!declared_.contains(name)) guessed_.insert(name);
    const std::int64_t value = std::stoll((*at)[2].str());
    std::vector<std::int64_t>& all = compared_[name];
    if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
  }
  for (const std::string& word : words_) {
    if (parameters.contains(word)) continue;
    if (declared_.contains(word) || is_local_constant(word)) {
      if (const auto value = constant_of(word)) constants_[word] = *value;
    } else if (is_tunable_name(word) && is_undeclared(word)) {
      constants_[word] = guess_of(word);
      guessed_.insert(word);
    } else if (is_in_capitals(word) && !compared_.contains(word) && !may_be_of_compiler(word) &&
               is_undeclared(word)) {
      compiled_in_.push_back(word);
      const auto beside = constant_beside(word);
      sizes_[word] = {.value = beside,
                      .given = beside ? "{ default = " + std::to_string(*beside) + " }" : "\"?\"",
                      .comment = beside ? "from a file beside" : "the file does not define it"};
      order_.push_back(word);
    }
  }
  for (const auto& [name, value] : constants_)
    if (is_tunable_name(name) && !compared_.contains(name) && !follows_another(name)) add_constant_axis(name);
  for (auto& [name, values] : compared_) {
    const auto now = constants_.find(name);
    if (now != constants_.end() && !guessed_.contains(name)) {
      std::erase(values, now->second);
      values.insert(values.begin(), now->second);
    } else if (values.size() == 1) {
      values.push_back(values.front() == 0 ? 1 : 0);
    }
    if (now == constants_.end() && declared_.contains(name)) continue;
    add_axis({name, values, "the values that #if asks for"});
  }
}

bool Describer::follows_another(const std::string& name) const {
  const auto found = macros_.find(name);
  return found != macros_.end() && std::any_of(constants_.begin(), constants_.end(), [&](const auto& one) {
           return one.first != name && is_tunable_name(one.first) &&
                  find_word(found->second, one.first) != std::string::npos;
         });
}

bool Describer::is_in_capitals(const std::string& word) {
  static const std::set<std::string> known = {
      "TRUE",         "FALSE",   "NULL",    "INFINITY", "NAN",     "HUGE_VALF", "HUGE_VAL", "EXIT_FAILURE",
      "EXIT_SUCCESS", "INT_MAX", "INT_MIN", "UINT_MAX", "FLT_MAX", "FLT_MIN",   "DBL_MAX",  "DBL_MIN"};
  return word.size() > 1 && !known.contains(word) && std::isupper(static_cast<unsigned char>(word[0])) != 0 &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0 ||
                  std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

bool Describer::is_local_constant(const std::string& word) const {
  const std::regex form("\\b(const|constexpr)\\s+(static\\s+)?(unsigned\\s+)?(int|unsigned|size_t)\\s+" +
                        word + "\\s*=\\s*\\w+\\s*;");
  return std::regex_search(body_, form);
}

std::optional<std::int64_t> Describer::constant_of(const std::string& word) const {
  if (const auto value = reached_code_->constant(word)) return value;
  static const std::regex number(R"(\d+)");
  std::smatch match;
  const std::regex form(
      "\\b(?:const|constexpr)\\s+(?:static\\s+)?(?:unsigned\\s+)?(?:int|unsigned|size_t)\\s+" + word +
      "\\s*=\\s*(\\d+)\\s*;");
  if (std::regex_search(reached_, match, form)) return std::stoll(match[1].str());
  return std::nullopt;
}

std::optional<std::int64_t> Describer::constant_beside(const std::string& word) const {
  for (const std::string& text : beside_) {
    if (find_word(text, word) == std::string::npos) continue;
    const std::string blank = blanked(text);
    if (const auto value = HostCode(blank).constant(word)) return value;
  }
  return std::nullopt;
}

std::string Describer::type_beside(const std::string& type) const {
  for (const std::string& text : beside_) {
    if (find_word(text, type) == std::string::npos) continue;
    const CType found = c_type(type, blanked(text));
    if (found.dtype && found.lanes == 1 && found.ambiguity.empty() && !found.is_pointer_to_pointer)
      return std::string(name(*found.dtype));
  }
  return "";
}

bool Describer::is_real_elsewhere(const std::string& type) const {
  static const std::regex real(R"((?:\w*_)?(?:real|float|scalar|fp|data_?type|type)(?:type|_t|_type)?)",
                               std::regex::icase);
  if (!std::regex_match(type, real)) return false;
  const std::regex declared(R"(\b(?:struct|class|union|enum|using|define|typename|class)\s+)" + type +
                            R"(\b|\btypedef\b[^;]*\b)" + type + R"(\s*;)");
  return !std::regex_search(code_, declared);
}

bool Describer::is_undeclared(const std::string& word) const {
  if (find_word(device_text_, word) == std::string::npos) return false;  // the host's
  static const std::set<std::string> own = {"blockDim", "blockIdx", "threadIdx", "gridDim", "warpSize"};
  if (own.contains(word)) return false;
  for (std::size_t at = 0; (at = find_word(device_text_, word, at)) != std::string::npos; ++at) {
    const std::size_t behind = skip_space(device_text_, at + word.size());
    const char next = behind < device_text_.size() ? device_text_[behind] : ' ';
    const bool is_comparison = next == '<' && device_text_.compare(behind, 2, "<=") == 0;
    // Pasted tokens, and (&items)[N].
    if (device_text_.compare(behind, 2, "##") == 0 ||
        (next == ')' && behind + 1 < device_text_.size() && device_text_[behind + 1] == '['))
      return false;
    // #if SYSTEM(LINUX), a macro that pastes its argument
    if (next == ')' && at > 0 && device_text_[at - 1] == '(' &&
        (in_directive(device_text_, at) || is_pasted(device_text_, at - 1)))
      return false;
    if (next == '(' || next == '.' || next == ':' || next == '{' || is_name(next)) return false;
    if (next == '=' && device_text_.compare(behind, 2, "==") != 0) return false;  // an enumerator
    if (next == '<' && !is_comparison && device_text_.find('>', behind) < device_text_.find(';', behind))
      return false;
    std::size_t back = at;
    while (back > 0 && is_space(device_text_[back - 1])) --back;
    if (back == 0) return false;
    const bool is_of_namespace = back > 1 && device_text_.compare(back - 2, 2, "::") == 0;
    if (device_text_[back - 1] == '.' || is_of_namespace ||
        (device_text_[back - 1] == '>' && back > 1 && device_text_[back - 2] == '-'))
      return false;
    if (is_name(device_text_[back - 1])) {
      std::size_t begin = back;
      while (begin > 0 && is_name(device_text_[begin - 1])) --begin;
      const std::string before = device_text_.substr(begin, back - begin);
      if (before == "typename" || before == "class" || before == "struct") return false;
      if (in_directive(device_text_, at)) continue;
      if (before != "return" && before != "unroll" && before != "case") return false;
    }
  }
  return true;
}

std::int64_t Describer::guess_of(const std::string& word) {
  const std::string lower = in_lower_case(word);
  if (lower.find("block") != std::string::npos || lower.find("thread") != std::string::npos ||
      lower.find("group") != std::string::npos) {
    if (lower.ends_with("z") || lower.find("_z_") != std::string::npos) return 1;
    if (lower.ends_with("y")) return 4;
    return 64;
  }
  return lower.find("use") != std::string::npos ? 0 : 1;
}

void Describer::add_constant_axis(const std::string& name) {
  const bool is_guess = guessed_.contains(name);
  const std::int64_t value = constants_.at(name);
  add_axis({name, around(value, most_threads), is_guess ? "the file does not define it: a guess" : ""});
}

}  // namespace tunesmith
