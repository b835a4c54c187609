// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/describe.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "kernel_file/c_type.h"
#include "kernel_file/description.h"
#include "kernel_file/headers.h"
#include "kernel_file/host_code.h"
#include "kernel_file/index_bounds.h"
#include "kernel_file/kernel_source.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/reach.h"
#include "kernel_file/text_scanner.h"
#include "kernel_file/unset_variable.h"

namespace tunesmith {
namespace {

constexpr std::int64_t most_threads = 1024;
constexpr std::string_view components_of_dim3 = "xyz";

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

std::string listed_values(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t one : values) text += (text.empty() ? "" : ", ") + std::to_string(one);
  return "[" + text + "]";
}

std::string listed_texts(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& one : texts) {
    const bool is_number =
        !one.empty() && std::all_of(one.begin(), one.end(), [](char c) { return c >= '0' && c <= '9'; });
    text += (text.empty() ? "" : ", ") + (is_number ? one : in_quotes(one));
  }
  return "[" + text + "]";
}

bool is_power_of_2(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

// Returns values around the present one, which comes first.
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

class Describer {
 public:
  Describer(const KernelFile& file, const std::string& kernel,
            const std::function<bool(const std::string&)>& is_taken)
      : file_(file), is_taken_(is_taken) {
    texts_ = compiled_texts(file.cu, file.included, {});
    for (const CompiledText& one : texts_) code_ += one.text + "\n";
    choose(kernel);
    const Reach reach = reach_of(texts_, {kernel_.name}, {});
    words_ = reach.words;
    declared_ = reach.declared;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      std::string text = texts_[i].text;
      leave_out(text, reach.unreached[i]);
      reached_ += text + "\n";
    }
    reached_code_.emplace(reached_);
    macros_ = HostCode(code_).plain_macros();
    host_text_ = code_;
    if (code_.find("<<") == std::string::npos) {  // host code may be guarded by #ifndef TUNESMITH
      host_text_ = blanked(file.cu) + "\n";
      for (const auto& [name, text] : file.included) host_text_ += blanked(text) + "\n";
    }
    // nvcc takes "<< <" too.
    static const std::regex opening(R"(<\s*<\s*<)"), closing(R"(>\s*>\s*>)");
    host_text_ = std::regex_replace(std::regex_replace(host_text_, opening, "<<<"), closing, ">>>");
    host_.emplace(host_text_);
    find_body();
  }

  std::string text() {
    choose_launch();
    find_template();
    find_constants();
    find_scalars();
    find_bounds();
    find_block();
    find_grid();
    find_arrays();
    find_symbols();
    find_shared();
    replace_computed();
    return written();
  }

 private:
  struct Axis {
    std::string name;
    std::vector<std::int64_t> values;
    std::string comment;
  };
  struct Array {
    std::string name;
    std::vector<std::string> extents = {};
    std::string role = {}, dtype = {}, comment = {};
  };
  struct Size {  // a parameter of the problem
    std::optional<std::int64_t> value = std::nullopt;
    bool is_extent = false;
    std::string given = {};  // set: the line's right side
    std::string comment = {};
  };

  void choose(const std::string& name) {
    const std::vector<DeclaredKernel> all = kernels_of(code_);
    std::vector<std::string> names;
    for (const DeclaredKernel& one : all)
      if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
    if (names.empty())
      throw UsageError(file_.path + " has no __global__ function; there is nothing to describe.");
    if (name.empty() && names.size() > 1)
      throw UsageError(file_.path + " has several kernels (" + listed(names) +
                       "); choose one by --kernel NAME.");
    const std::string wanted = name.empty() ? names.front() : name;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const DeclaredKernel& one) { return one.name == wanted; });
    if (found == all.end())
      throw UsageError("There is no kernel " + wanted + " in " + file_.path +
                       "; its __global__ functions are " + listed(names) + ".");
    kernel_ = *found;
  }

  void find_body() {
    for (const Braces& one : outer_braces(code_)) {
      const std::string_view head = std::string_view(code_).substr(one.head, one.open - one.head);
      if (one.is_transparent() || find_word(head, kernel_.name) == std::string_view::npos ||
          find_word(head, "__global__") == std::string_view::npos)
        continue;
      body_ = code_.substr(one.open + 1, one.close - one.open - 1);
      return;
    }
    throw UsageError("The kernel " + kernel_.name + " of " + file_.path + " has no body there.");
  }

  bool reads(const std::string& name) const { return find_word(reached_, name) != std::string::npos; }
  bool reads_component(const std::string& of, char component) const {
    const std::regex form("\\b" + of + "\\s*\\.\\s*" + component + "\\b");
    return std::regex_search(reached_, form);
  }

  // The launch whose sizes are understood best.
  void choose_launch() {
    for (const HostLaunch& one : host_->launches_of(kernel_.name)) {
      if (one.arguments.size() > kernel_.parameters.size()) continue;
      Names names;
      const HostCode::Place place{.at = one.at, .known = {}};
      const bool is_better = !host_->components(one.block, place, names).empty() &&
                             !host_->components(one.grid, place, names).empty();
      if (!launch_ || is_better) launch_ = one;
      if (is_better) break;
    }
    if (launch_) place_.at = launch_->at;
  }

  static bool is_integer(const CType& type) {
    return type.dtype && type.lanes == 1 && *type.dtype != DType::f32 && *type.dtype != DType::f64 &&
           *type.dtype != DType::f16 && *type.dtype != DType::bf16;
  }

  // ---- constants

  void add_axis(Axis axis) {
    if (std::none_of(axes_.begin(), axes_.end(), [&](const Axis& one) { return one.name == axis.name; }))
      axes_.push_back(std::move(axis));
  }
  bool is_axis(const std::string& name) const {
    return std::any_of(axes_.begin(), axes_.end(), [&](const Axis& one) { return one.name == name; });
  }

  // Returns the value of a template's argument in the launch; nothing: not known.
  std::optional<std::int64_t> value_of(const std::string& words) {
    if (words == "true" || words == "false") return words == "true";
    Names names;
    const auto made = host_->resolved(words, place_, names);
    if (!made) return std::nullopt;
    if (made->kind == HostExpression::Kind::number) return made->number;
    if (made->kind == HostExpression::Kind::name) return names[made->word].value;
    return std::nullopt;
  }

  std::string dtype_of_type(const std::string& words) const {
    const CType type = c_type(words, code_);
    return type.dtype && type.ambiguity.empty() && type.lanes == 1 ? std::string(name(*type.dtype)) : "";
  }

  bool is_type_of_array(const std::string& type) const {
    return std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(), [&](const auto& one) {
      std::string plain = one.type;
      std::erase_if(plain, [](char c) { return c == '*' || c == ' ' || c == '&'; });
      return one.is_pointer && plain == type;
    });
  }

  void find_template() {
    if (!kernel_.is_template) return;
    const std::vector<std::string> given = launch_ ? launch_->template_arguments : std::vector<std::string>{};
    std::vector<std::string> arguments;
    bool is_needed = false;
    for (std::size_t i = 0; i < kernel_.template_parameters.size(); ++i) {
      const TemplateParameter& one = kernel_.template_parameters[i];
      const std::string argument = i < given.size() ? given[i] : one.initial;
      if (one.kind == TemplateParameter::Kind::other)
        throw UsageError("The kernel " + kernel_.name + " of " + file_.path +
                         " has a template parameter that is a pack or a template; such kernels are not "
                         "described.");
      if (one.kind == TemplateParameter::Kind::type) {
        const std::string dtype = dtype_of_type(argument);
        if (is_type_of_array(one.name)) {
          types_[one.name] = dtype.empty() ? "f32" : dtype;
          if (dtype_.empty()) dtype_ = types_[one.name];
          if (types_[one.name] == dtype_) {
            arguments.push_back(one.name);
          } else {
            arguments.push_back(argument);
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

  bool is_named_type(const std::string& words) const {
    const std::string name = words.substr(0, words.find('<'));
    return declared_.contains(name) || find_word(code_, "struct " + name) != std::string::npos;
  }

  // Macros and constants that kernels reach, with a number as value.
  void find_constants() {
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
        sizes_[word] = {.given = "\"?\"", .comment = "the file does not define it"};
        order_.push_back(word);
      }
    }
    for (const auto& [name, value] : constants_)
      if (is_tunable_name(name) && !compared_.contains(name)) add_constant_axis(name);
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

  static bool is_in_capitals(const std::string& word) {
    static const std::set<std::string> known = {"TRUE", "FALSE",     "NULL",    "INFINITY",
                                                "NAN",  "HUGE_VALF", "HUGE_VAL"};
    return word.size() > 1 && !known.contains(word) &&
           std::isupper(static_cast<unsigned char>(word[0])) != 0 &&
           std::all_of(word.begin(), word.end(), [](char c) {
             return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0 ||
                    std::isdigit(static_cast<unsigned char>(c)) != 0;
           });
  }

  // True for `const int TILE = 16;` in the kernel, which stands alone in its declaration.
  bool is_local_constant(const std::string& word) const {
    const std::regex form("\\b(const|constexpr)\\s+(static\\s+)?(unsigned\\s+)?(int|unsigned|size_t)\\s+" +
                          word + "\\s*=\\s*\\w+\\s*;");
    return std::regex_search(body_, form);
  }

  std::optional<std::int64_t> constant_of(const std::string& word) const {
    if (const auto value = reached_code_->constant(word)) return value;
    static const std::regex number(R"(\d+)");
    std::smatch match;
    const std::regex form(
        "\\b(?:const|constexpr)\\s+(?:static\\s+)?(?:unsigned\\s+)?(?:int|unsigned|size_t)\\s+" + word +
        "\\s*=\\s*(\\d+)\\s*;");
    if (std::regex_search(reached_, match, form)) return std::stoll(match[1].str());
    return std::nullopt;
  }

  // True if the kernel uses the word without any sign of a declaration.
  bool is_undeclared(const std::string& word) const {
    static const std::set<std::string> own = {"blockDim", "blockIdx", "threadIdx", "gridDim", "warpSize"};
    if (own.contains(word)) return false;
    for (std::size_t at = 0; (at = find_word(reached_, word, at)) != std::string::npos; ++at) {
      const std::size_t behind = skip_space(reached_, at + word.size());
      const char next = behind < reached_.size() ? reached_[behind] : ' ';
      const bool is_comparison = next == '<' && reached_.compare(behind, 2, "<=") == 0;
      if (next == '(' || next == '.' || next == ':' || next == '{' || is_name(next)) return false;
      if (next == '=' && reached_.compare(behind, 2, "==") != 0) return false;  // an enumerator
      if (next == '<' && !is_comparison && reached_.find('>', behind) < reached_.find(';', behind))
        return false;
      std::size_t back = at;
      while (back > 0 && is_space(reached_[back - 1])) --back;
      if (back == 0) return false;
      if (reached_[back - 1] == '.' || (reached_[back - 1] == '>' && back > 1 && reached_[back - 2] == '-'))
        return false;
      if (is_name(reached_[back - 1]) && !in_directive(reached_, at)) {
        std::size_t begin = back;
        while (begin > 0 && is_name(reached_[begin - 1])) --begin;
        const std::string before = reached_.substr(begin, back - begin);
        if (before != "return" && before != "unroll" && before != "case") return false;
      }
    }
    return true;
  }

  static std::int64_t guess_of(const std::string& word) {
    std::string lower;
    for (const char c : word) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower.find("block") != std::string::npos || lower.find("thread") != std::string::npos ||
        lower.find("group") != std::string::npos) {
      if (lower.ends_with("z") || lower.find("_z_") != std::string::npos) return 1;
      if (lower.ends_with("y")) return 4;
      return 64;
    }
    return lower.find("use") != std::string::npos ? 0 : 1;
  }

  void add_constant_axis(const std::string& name) {
    const bool is_guess = guessed_.contains(name);
    const std::int64_t value = constants_.at(name);
    add_axis({name, around(value, most_threads), is_guess ? "the file does not define it: a guess" : ""});
  }

  // ---- parameters

  void find_scalars() {
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

  // Returns a floating-point argument as a number; "?": it is no number's.
  std::string real_of(const std::string& given, const CType& type) const {
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

  void find_bounds() {
    std::set<std::string> names;
    for (const auto& [name, size] : sizes_) names.insert(name);
    for (const auto& [name, value] : constants_)
      if (is_literal(name)) names.insert(name);
    for (const Axis& one : axes_) names.insert(one.name);
    bounds_.emplace(body_, std::move(names), macros_);
  }

  // True if the constant is defined as a number, and not by other constants.
  bool is_literal(const std::string& name) const {
    const auto found = macros_.find(name);
    if (found == macros_.end()) return true;
    return std::none_of(found->second.begin(), found->second.end(), [](char c) {
      return (std::isalpha(static_cast<unsigned char>(c)) != 0 &&
              std::string_view("xXuUlLaAbBcCdDeEfF").find(c) == std::string_view::npos) ||
             c == '_';
    });
  }

  // ---- block and grid

  using Names = std::map<std::string, HostName>;

  int dimensions() const {
    for (const int i : {2, 1})
      for (const char* of : {"threadIdx", "blockIdx", "blockDim"})
        if (reads_component(of, components_of_dim3[static_cast<std::size_t>(i)])) return i + 1;
    return 1;
  }

  // Names an axis for a component of a block that the kernel reads as blockDim.
  std::string new_block_axis(std::size_t i, std::size_t count) const {
    std::string name = count == 1 ? "BLOCK" : std::string("BLOCK_") + "XYZ"[i];
    while (declared_.contains(name) || words_.contains(name)) name = "T" + name;
    return name;
  }

  // Replaces names by what stands for them.
  static HostExpression with(const HostExpression& one,
                             const std::map<std::string, HostExpression>& meanings) {
    if (one.kind == HostExpression::Kind::name) {
      const auto found = meanings.find(one.word);
      return found != meanings.end() ? found->second : one;
    }
    HostExpression made = one;
    for (HostExpression& part : made.parts) part = with(part, meanings);
    if (made.kind == HostExpression::Kind::binary) return joined(made.word, made.parts[0], made.parts[1]);
    return made;
  }

  static void gather_names(const HostExpression& one, std::set<std::string>& names) {
    if (one.kind == HostExpression::Kind::name) names.insert(one.word);
    for (const HostExpression& part : one.parts) gather_names(part, names);
  }

  void find_block() {
    std::vector<HostExpression> all;
    if (launch_) all = host_->components(launch_->block, place_, names_);
    const auto name_of = [](const std::string& word) {
      return HostExpression{.kind = HostExpression::Kind::name, .word = word};
    };
    if (all.empty()) {
      const auto dims = static_cast<std::size_t>(dimensions());
      const bool reads_dim = reads("blockDim");
      if (launch_) block_comment_ = "the launch is not understood: a guess";
      // Axes with names such as block_size_x, BLOCK_Y or TILE_DIM.
      std::vector<std::string> blocks;
      for (const Axis& one : axes_) {
        std::string lower;
        for (const char c : one.name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (lower.find("block") != std::string::npos || lower.find("thread") != std::string::npos ||
            lower == "wg" || lower.find("work_group") != std::string::npos)
          blocks.push_back(one.name);
      }
      for (std::size_t i = 0; i < dims; ++i) {
        const std::string suffix(1, components_of_dim3[i]);
        const auto fits = std::find_if(blocks.begin(), blocks.end(), [&](const std::string& one) {
          return static_cast<char>(std::tolower(static_cast<unsigned char>(one.back()))) == suffix[0];
        });
        if (fits != blocks.end()) {
          block_.push_back(*fits);
        } else if (blocks.size() == 1 && !reads_dim) {
          block_.push_back(blocks.front());
        } else if (reads_component("blockDim", components_of_dim3[i]) || (reads_dim && i == 0)) {
          const std::string name = new_block_axis(i, dims);
          const std::int64_t value = dims == 1 ? 256 : i == 0 ? 32 : i == 1 ? 8 : 1;
          add_axis({name, around(value, most_threads), ""});
          block_.push_back(name);
        } else {
          block_.emplace_back("?");
        }
      }
      if (!launch_ && std::find(block_.begin(), block_.end(), "?") == block_.end())
        block_comment_ = "no launch in the file says it";
      return;
    }
    static const std::regex warp("[Ww][Aa][Rr][Pp]");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const HostExpression& one = all[i];
      std::set<std::string> used;
      gather_names(one, used);
      const bool is_of_axes =
          !used.empty() && std::all_of(used.begin(), used.end(), [&](const std::string& name) {
            return is_axis(name) || constants_.contains(name);
          });
      std::optional<std::int64_t> value;
      if (one.kind == HostExpression::Kind::number) value = one.number;
      if (one.kind == HostExpression::Kind::name && names_.contains(one.word))
        value = names_.at(one.word).value;
      const bool reads_dim = reads_component("blockDim", components_of_dim3[i]);
      const bool is_warp =
          one.kind == HostExpression::Kind::name && std::regex_search(one.word, warp) && !is_axis(one.word);
      if (is_of_axes && !is_warp) {
        for (const std::string& name : used)
          if (!is_axis(name)) add_constant_axis(name);
        block_.push_back(one.text());
        meanings_.emplace(one.word, one);
      } else if (value && is_warp) {
        block_.push_back(std::to_string(*value));
        meanings_[one.word] = {.kind = HostExpression::Kind::number, .number = *value, .word = {}};
      } else if (!value && reads_dim && one.kind != HostExpression::Kind::name && are_free(used)) {
        // An expression of the host's own sizes, which become axes.
        std::map<std::string, HostExpression> values;
        for (const std::string& name : used) {
          if (names_[name].value && std::regex_search(name, warp))
            values[name] = {.kind = HostExpression::Kind::number, .number = *names_[name].value, .word = {}};
          else
            add_axis({name, around(names_[name].value.value_or(256), most_threads),
                      names_[name].value ? "" : "the launch takes it"});
        }
        block_.push_back(with(one, values).text());
        for (const auto& [name, of] : values) meanings_[name] = of;
      } else if (reads_dim) {
        const bool is_constant = one.kind == HostExpression::Kind::name && names_.contains(one.word) &&
                                 names_.at(one.word).is_constant && is_identifier_here(one.word);
        const std::string name = is_constant ? one.word : new_block_axis(i, all.size());
        std::int64_t now = value.value_or(all.size() == 1 ? 256 : i == 0 ? 32 : 8);
        if (now < 1 || now > most_threads) now = 256;
        Axis axis{name, around(now, most_threads), ""};
        if (now == 1) axis.values = {1};
        if (!value) axis.comment = "the launch takes " + one.text();
        add_axis(std::move(axis));
        block_.push_back(name);
        if (one.kind == HostExpression::Kind::name) meanings_[one.word] = name_of(name);
        numbers_[i] = now;
        block_names_[i] = name;
      } else if (value) {
        block_.push_back(std::to_string(*value));
        if (one.kind == HostExpression::Kind::name)
          meanings_[one.word] = {.kind = HostExpression::Kind::number, .number = *value, .word = {}};
      } else if (const std::string name = block_constant(); !name.empty() && all.size() == 1) {
        if (!is_axis(name)) add_constant_axis(name);
        block_.push_back(name);
        block_comment_ = "the launch takes " + one.text();
      } else {
        block_.emplace_back("?");
        block_comment_ = "the launch takes " + one.text();
      }
    }
  }

  // The only constant that the kernel calls by a name of blocks or threads; empty: there are none or several.
  std::string block_constant() const {
    static const std::regex words("block|thread", std::regex::icase);
    std::string found;
    for (const auto& [name, value] : constants_) {
      if (!std::regex_search(name, words) || value < 1 || value > most_threads) continue;
      if (!found.empty()) return "";
      found = name;
    }
    return found;
  }

  // True if the host alone has all of the names.
  bool are_free(const std::set<std::string>& names) const {
    return !names.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return names_.contains(name) && !sizes_.contains(name) && !is_axis(name) && is_identifier_here(name);
    });
  }

  static bool is_identifier_here(const std::string& name) {
    return name.size() <= 60 && !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  }

  // In the grid's component, the block's own number stands for its axis: ceil_div(n, 256).
  HostExpression with_block(const HostExpression& one, std::size_t i) const {
    HostExpression made = one;
    for (HostExpression& part : made.parts) part = with_block(part, i);
    const bool divides = (made.kind == HostExpression::Kind::call && made.word == "ceil_div") ||
                         (made.kind == HostExpression::Kind::binary && made.word == "/");
    const auto number = numbers_.find(i);
    if (divides && number != numbers_.end() && number->second > 1 && made.parts[1].is_number(number->second))
      made.parts[1] = {.kind = HostExpression::Kind::name, .word = block_names_.at(i)};
    return made;
  }

  // Makes names that stay parameters of the problem. False: one of them cannot be.
  bool adopt(const HostExpression& one) {
    std::set<std::string> used;
    gather_names(one, used);
    for (const std::string& name : used) {
      if (sizes_.contains(name)) sizes_[name].is_extent = true;
      if (sizes_.contains(name) || is_axis(name)) continue;
      static const std::set<std::string> reserved = {"weight", "dtype", "dtype_bytes",
                                                     "min",    "max",   "ceil_div"};
      if (!is_identifier_here(name) || reserved.contains(name)) return false;
      Size size;
      size.is_extent = true;
      if (const auto found = constants_.find(name); found != constants_.end()) {
        if (!is_literal(name)) return false;
        size.value = found->second;
        compiled_in_.push_back(name);
      } else if (const auto host = names_.find(name); host != names_.end()) {
        size.value = host->second.value;
      } else {
        return false;
      }
      sizes_[name] = size;
      order_.push_back(name);
    }
    return true;
  }

  // Adds the component of the grid that the kernel's own indices ask for, or "?".
  void grid_by_index(std::size_t i) {
    const auto blocks = bounds_->blocks(components_of_dim3[i]);
    if (!blocks) {
      if (i == 0 && !reads("blockIdx")) {
        grid_.emplace_back("1");
      } else {
        grid_.emplace_back("?");
        grid_comment_ = "the number of blocks";
      }
      return;
    }
    std::string of_block = blocks->of_block;
    for (std::size_t j = 0; j < block_.size(); ++j) {
      const std::string dim = std::string("blockDim.") + components_of_dim3[j];
      for (std::size_t at; (at = of_block.find(dim)) != std::string::npos;)
        of_block.replace(at, dim.size(),
                         block_[j].find(' ') == std::string::npos ? block_[j] : "(" + block_[j] + ")");
    }
    const auto per_block = parsed_expression(of_block), size = parsed_expression(blocks->size);
    std::set<std::string> used;
    if (per_block) gather_names(*per_block, used);
    const bool is_known = per_block && std::all_of(used.begin(), used.end(), [&](const std::string& name) {
                            return is_axis(name) || sizes_.contains(name) || constants_.contains(name);
                          });
    if (is_known && size && adopt(*size) && adopt_constants(used)) {
      grid_.push_back(of_block == "1" ? size->text() : "ceil_div(" + size->text() + ", " + of_block + ")");
      grid_comment_ = "from the kernel's indices";
    } else {
      grid_.emplace_back("?");
      grid_comment_ = "the number of blocks";
    }
  }

  void find_grid() {
    std::vector<HostExpression> all;
    if (launch_) all = host_->components(launch_->grid, place_, names_);
    const auto count = std::max<std::size_t>(all.size(), static_cast<std::size_t>(dimensions()));
    for (std::size_t i = 0; i < count; ++i) {
      if (!all.empty()) {
        if (i >= all.size()) break;
        const HostExpression one = with_block(with(all[i], meanings_), i);
        std::set<std::string> used;
        gather_names(one, used);
        const bool has_own = std::any_of(used.begin(), used.end(), [&](const std::string& name) {
          return !sizes_.contains(name) && !is_axis(name);
        });
        // A number of blocks that the host chooses.
        std::optional<std::int64_t> value;
        if (one.kind == HostExpression::Kind::number) value = one.number;
        if (one.kind == HostExpression::Kind::name && has_own) value = names_[one.word].value;
        if (value && reads_component("gridDim", components_of_dim3[i]) && *value > 1) {
          const std::string name = "GRID" + (all.size() > 1 ? std::string("_") + "XYZ"[i] : "");
          add_axis({name, around(*value, 65535), ""});
          grid_.push_back(name);
        } else if (value && one.kind == HostExpression::Kind::number) {
          grid_.push_back(std::to_string(*value));
        } else if (!has_own && adopt(one)) {
          grid_.push_back(one.text());
        } else {
          // A size that only the host has might not fit to the kernel's own ones.
          grid_by_index(i);
          if (grid_.back() == "?") grid_comment_ = "the launch takes " + one.text();
        }
        continue;
      }
      if (i > 0 && !reads_component("blockIdx", components_of_dim3[i])) continue;
      grid_by_index(i);
    }
    while (grid_.size() > 1 && grid_.back() == "1") grid_.pop_back();
    if (std::find(grid_.begin(), grid_.end(), "?") != grid_.end()) find_unguarded();
  }

  // A kernel without sizes and without a guard: its problem is a number of whole blocks.
  void find_unguarded() {
    if (!sizes_.empty() || launch_ || block_.size() != 1 || block_[0] == "?") return;
    const auto index = bounds_->unguarded();
    if (!index) return;
    std::string of_block = index->of_block;
    constexpr std::string_view dim = "blockDim.x";
    for (std::size_t at; (at = of_block.find(dim)) != std::string::npos;)
      of_block.replace(at, dim.size(), block_[0]);
    const auto tree = parsed_expression(of_block);
    std::set<std::string> used;
    if (tree) gather_names(*tree, used);
    if (!tree ||
        !std::all_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); }))
      return;
    sizes_["n"] = {.is_extent = true};
    order_.push_back("n");
    grid_ = {"n / " + (tree->parts.empty() ? tree->text() : "(" + tree->text() + ")")};
    grid_comment_ = "the kernel has no guard: whole blocks";
    rule_ = "n % " + (tree->parts.empty() ? tree->text() : "(" + tree->text() + ")") + " == 0";
  }

  // Constants of the kernel that a launch names become axes with one value.
  bool adopt_constants(const std::set<std::string>& used) {
    for (const std::string& name : used)
      if (!is_axis(name) && !sizes_.contains(name)) add_axis({name, {constants_.at(name)}, ""});
    return true;
  }

  // ---- arrays

  // Returns the dtype of the elements of all types that a sentence names, "vector is float, float2 or
  // float4";
  // "?": they differ.
  std::string common_dtype(const std::string& sentence) const {
    std::string dtype, words = sentence.substr(std::min(sentence.find(" is ") + 4, sentence.size()));
    words = std::regex_replace(words, std::regex(" or |, "), ";");
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t end = std::min(words.find(';', at), words.size());
      const CType type = c_type(words.substr(at, end - at), code_);
      at = end + 1;
      if (!type.dtype || (!dtype.empty() && dtype != name(*type.dtype))) return "?";
      dtype = name(*type.dtype);
    }
    return dtype.empty() ? "?" : dtype;
  }

  void find_arrays() {
    // An axis may choose a type by #if.
    std::vector<std::string> names;
    for (const Axis& one : axes_) names.push_back(one.name);
    std::string of_axes;
    for (const CompiledText& one : compiled_texts(file_.cu, file_.included, names))
      of_axes += one.text + "\n";
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const DeclaredKernel::Parameter& one = kernel_.parameters[i];
      if (!one.is_pointer) continue;
      Array array{.name = one.name};
      if (array.name.empty())
        throw UsageError("The kernel " + kernel_.name + " of " + file_.path +
                         " has a pointer without a name; give it one.");
      std::string plain = one.type;
      std::erase(plain, '*');
      while (!plain.empty() && plain.back() == ' ') plain.pop_back();
      const bool is_of_template = types_.contains(plain);
      const CType type = c_type(one.type, of_axes);
      std::int64_t members = 1;
      std::string element = plain;
      if (type.is_pointer_to_pointer)
        throw UsageError("The parameter " + one.name + " of the kernel " + kernel_.name + " of " +
                         file_.path + " is a pointer to pointers, which cannot be given.");
      if (is_of_template) {
        if (types_.at(plain) != dtype_) array.dtype = types_.at(plain);
      } else if (!type.ambiguity.empty()) {
        array.dtype = common_dtype(type.ambiguity);
        array.comment =
            array.dtype == "?" ? type.ambiguity : type.ambiguity + ": extents count " + array.dtype;
      } else if (!type.dtype) {
        const auto [dtype, count] = members_of(plain);
        array.dtype = dtype.empty() ? "?" : dtype;
        members = count;
        if (dtype.empty()) array.comment = "the type of the members of " + plain + ", or u8 for its bytes";
      }
      const ArrayUse use = bounds_->use_of(one.name);
      const bool may_be_written = !one.is_const && (use.is_written || use.is_passed);
      array.role = !may_be_written ? "" : use.is_read || use.is_passed ? "inout" : "output";
      find_extents(array, i, element);
      if (members > 1 && (array.extents.empty() || array.extents.front() != "?"))
        array.extents.push_back(std::to_string(members));
      arrays_.push_back(std::move(array));
    }
    // Every kernel has an output; with none found, each pointer that may be written is one.
    const bool has_output =
        std::any_of(arrays_.begin(), arrays_.end(), [](const Array& one) { return !one.role.empty(); });
    if (has_output) return;
    for (Array& one : arrays_)
      for (const auto& parameter : kernel_.parameters)
        if (parameter.name == one.name && !parameter.is_const) {
          one.role = "inout";
          one.comment += one.comment.empty() ? "a guess: its role" : "";
        }
  }

  // Returns the dtype of a struct whose members are all of one type, and their number.
  std::pair<std::string, std::int64_t> members_of(const std::string& type) const {
    static const std::regex member(R"(\s*((?:unsigned\s+)?[A-Za-z_]\w*)\s+([\w\s,]+))");
    std::smatch match;
    const std::string name = type.starts_with("struct ") ? type.substr(7) : type;
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name)) return {};
    const std::regex tagged("\\bstruct\\s+(?:__align__\\s*\\(\\d+\\)\\s*)?" + name + R"(\s*\{([^{}()]*)\})");
    const std::regex alias(R"(\btypedef\s+struct\s*\w*\s*\{([^{}()]*)\}\s*)" + name + "\\s*;");
    if (!std::regex_search(code_, match, tagged) && !std::regex_search(code_, match, alias)) return {};
    std::string body = match[1].str(), dtype;
    std::int64_t count = 0;
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t end = std::min(body.find(';', at), body.size());
      const std::string one = body.substr(at, end - at);
      at = end + 1;
      if (squeezed(one).empty() || squeezed(one) == " ") continue;
      std::smatch parts;
      if (!std::regex_match(one, parts, member)) return {};
      const std::string found = dtype_of_type(parts[1].str());
      if (found.empty() || (!dtype.empty() && found != dtype)) return {};
      dtype = found;
      const std::string names = parts[2].str();
      count += 1 + std::count(names.begin(), names.end(), ',');
    }
    return {dtype, count};
  }

  void find_extents(Array& array, std::size_t i, const std::string& element) {
    std::vector<std::string> by_index = bounds_->extents_of(array.name);
    std::vector<HostExpression> trees;
    for (const std::string& one : by_index) {
      const auto tree = parsed_expression(one);
      if (!tree || !may_be_extent(*tree)) by_index.clear();
      if (by_index.empty()) break;
      trees.push_back(*tree);
    }
    if (launch_ && i < launch_->arguments.size()) {
      Names names;
      if (const auto bytes = host_->allocation(launch_->arguments[i], place_, names)) {
        auto count = host_->elements(*bytes, element_of_template(element));
        if (count) {
          *count = with(*count, meanings_);
          std::set<std::string> used;
          gather_names(*count, used);
          // A name that only the host has may differ from the kernel's own sizes.
          const bool has_others = std::any_of(
              used.begin(), used.end(), [&](const std::string& name) { return !sizes_.contains(name); });
          for (const auto& [name, one] : names) names_.emplace(name, one);
          if ((by_index.empty() || !has_others) && may_be_extent(*count) && adopt(*count)) {
            array.extents = product_of(*count);
            return;
          }
        }
      }
    }
    if (!by_index.empty() &&
        std::all_of(trees.begin(), trees.end(), [&](const HostExpression& one) { return adopt(one); })) {
      array.extents = by_index;
      return;
    }
    std::vector<std::string> all;
    for (const auto& [name, size] : sizes_)
      if (size.given.empty() && !expressions_.contains(name)) all.push_back(name);
    if (all.size() == 1) {
      array.extents = all;
      sizes_[all.front()].is_extent = true;
      if (array.comment.empty()) array.comment = "a guess";
      return;
    }
    array.extents = {"?"};
    if (array.comment.empty()) array.comment = "the number of elements";
  }

  // An extent names no axis.
  bool may_be_extent(const HostExpression& one) const {
    std::set<std::string> used;
    gather_names(one, used);
    return std::none_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); });
  }

  std::string element_of_template(const std::string& type) const {
    static const std::map<std::string, std::string> words = {
        {"f32", "float"}, {"f64", "double"},      {"i32", "int"},    {"u32", "unsigned"},
        {"i64", "long"},  {"u64", "size_t"},      {"f16", "__half"}, {"bf16", "__nv_bfloat16"},
        {"i8", "char"},   {"u8", "unsigned char"}};
    const auto found = types_.find(type);
    const auto word = found == types_.end() ? words.end() : words.find(found->second);
    return word == words.end() ? type : word->second;
  }

  // n * m are two extents.
  static std::vector<std::string> product_of(const HostExpression& one) {
    if (one.kind == HostExpression::Kind::binary && one.word == "*") {
      std::vector<std::string> all = product_of(one.parts[0]);
      for (std::string& more : product_of(one.parts[1])) all.push_back(std::move(more));
      return all;
    }
    return {one.text()};
  }

  // ---- variables and shared memory

  void find_symbols() {
    std::vector<std::string> filled;
    for (int i = 0; i < 32; ++i) {
      const auto unset = unset_variable(code_, kernel_.name, filled);
      if (!unset) return;
      filled.push_back(unset->name);
      if (!unset->is_constant) {
        zeroed_.push_back(unset->name);
        continue;
      }
      Array array{.name = unset->name, .role = "constant"};
      for (const DeviceVariable& one : device_variables(code_)) {
        if (one.name != unset->name) continue;
        const std::string words = code_.substr(one.begin, one.end - one.begin);
        std::size_t at = find_word(words, one.name);
        at = at == std::string::npos ? words.size() : skip_space(words, at + one.name.size());
        while (at < words.size() && words[at] == '[') {
          const std::size_t close = behind_close(words, at);
          if (close == std::string::npos) break;
          const auto extent = value_in_kernel(words.substr(at + 1, close - at - 2));
          array.extents.push_back(extent ? std::to_string(*extent) : "?");
          at = skip_space(words, close);
        }
        if (array.extents.empty()) array.extents = {"1"};
        if (!c_type(one.type, code_).dtype) {
          const auto [dtype, count] = members_of(one.type);
          array.dtype = dtype.empty() ? "?" : dtype;
          if (count > 1) array.extents.push_back(std::to_string(count));
        }
      }
      if (array.extents.empty()) array.extents = {"?"};
      arrays_.push_back(std::move(array));
    }
  }

  std::optional<std::int64_t> value_in_kernel(const std::string& words) const {
    Names names;
    const auto made = reached_code_->resolved(words, {.at = 0, .known = {}}, names);
    if (!made) return std::nullopt;
    std::map<std::string, HostExpression> values;
    for (const auto& [name, one] : names)
      if (one.value) values[name] = {.kind = HostExpression::Kind::number, .number = *one.value, .word = {}};
    const auto folded = parsed_expression(with(*made, values).text());
    return folded && folded->kind == HostExpression::Kind::number ? std::optional(folded->number)
                                                                  : std::nullopt;
  }

  void find_shared() {
    static const std::regex dynamic(R"(\bextern\s+(?:volatile\s+)?__shared__\b)");
    if (!std::regex_search(reached_, dynamic)) return;
    if (launch_ && !launch_->shared_bytes.empty()) {
      if (const auto bytes = host_->resolved(launch_->shared_bytes, place_, names_)) {
        HostExpression one = with(*bytes, meanings_);
        std::map<std::string, HostExpression> values;
        std::set<std::string> used;
        gather_names(one, used);
        for (const std::string& name : used)
          if (const auto host = names_.find(name);
              !sizes_.contains(name) && !is_axis(name) && host != names_.end() && host->second.value)
            values[name] = {.kind = HostExpression::Kind::number, .number = *host->second.value, .word = {}};
        one = with(one, values);
        if (adopt(one) && !one.is_number(0)) {
          shared_ = one.text();
          return;
        }
      }
    }
    shared_ = "?";
  }

  // A size that the host computes from others is no parameter beside them: N = B * T.
  void replace_computed() {
    for (const auto& [size, value] : computed_) {
      std::set<std::string> used;
      gather_names(value, used);
      if (used.contains(size) || !sizes_.contains(size) ||
          !std::all_of(used.begin(), used.end(),
                       [&](const std::string& name) { return sizes_.contains(name); }))
        continue;
      const auto replace = [&, of = size, by = value](std::string& text) {
        const auto tree = text == "?" ? std::nullopt : parsed_expression(text);
        if (tree) text = with(*tree, {{of, by}}).text();
      };
      for (std::string& one : grid_) replace(one);
      for (std::string& one : block_) replace(one);
      if (!shared_.empty()) replace(shared_);
      for (Array& array : arrays_) {
        std::vector<std::string> extents;
        for (std::string& one : array.extents) {
          replace(one);
          const auto tree = one == "?" ? std::nullopt : parsed_expression(one);
          for (std::string& factor : tree ? product_of(*tree) : std::vector<std::string>{one})
            extents.push_back(std::move(factor));
        }
        array.extents = std::move(extents);
      }
      for (std::string& one : arguments_)
        if (one == size) one = value.text();
      sizes_.erase(size);
      std::erase(order_, size);
    }
  }

  // ---- the text

  static void add_line(std::string& text, const std::string& line, const std::string& comment) {
    text += line + (comment.empty() ? "" : "  # " + comment) + "\n";
  }

  std::string usual_of(const std::string& name, const Size& size, std::size_t sizes) const {
    if (!size.given.empty()) return size.given;
    if (!size.is_extent) {
      const std::int64_t value = size.value.value_or(1);
      const std::int64_t least = std::min<std::int64_t>(value, 0);
      return "{ minimum = " + std::to_string(least) + ", default = " + std::to_string(value) + " }";
    }
    const bool is_fixed = std::find(compiled_in_.begin(), compiled_in_.end(), name) != compiled_in_.end();
    if (is_fixed && size.value && *size.value >= 1)
      return "{ default = " + std::to_string(*size.value) + " }";
    std::int64_t most = sizes <= 1 ? 1 << 20 : sizes == 2 ? 4096 : 512;
    if (size.value && *size.value > 1) most = std::min<std::int64_t>(*size.value, std::int64_t{1} << 24);
    return "[1, " + std::to_string(most) + "]";
  }

  std::string op_name() const {
    std::string made;
    for (const char c : kernel_.name) made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (is_taken_ && is_taken_(made)) made += "_kernel";
    return made;
  }

  std::string written() {
    std::string text;
    const std::string name = op_name();
    if (name != kernel_.name) text += "name = " + in_quotes(name) + "\n";
    text += "kernel = " + in_quotes(kernel_.name) + "\n";
    if (!dtype_.empty()) text += "dtype = " + in_quotes(dtype_) + "\n";
    if (!instantiate_.empty()) {
      std::string words;
      bool is_open = false;
      for (const std::string& one : instantiate_) {
        words += (words.empty() ? "" : ", ") + one;
        is_open |= one == "?";
      }
      if (is_open)
        add_line(text, "instantiate = \"?\"",
                 "its template arguments: \"" + kernel_.name + "<" + words + ">\"");
      else
        text += "instantiate = " + in_quotes(kernel_.name + "<" + words + ">") + "\n";
    }
    std::set<std::string> of_arguments(arguments_.begin(), arguments_.end());
    if (!compiled_in_.empty()) text += "compiled_in = " + listed_texts(compiled_in_) + "\n";
    if (!zeroed_.empty()) text += "zeroed = " + listed_texts(zeroed_) + "\n";

    text += "\n[problem]\n";
    const auto extents = static_cast<std::size_t>(
        std::count_if(sizes_.begin(), sizes_.end(), [](const auto& one) { return one.second.is_extent; }));
    for (const std::string& size : order_) {
      const Size& one = sizes_.at(size);
      std::string comment = one.comment;
      if (!one.is_extent && one.given.empty() && comment.empty())
        comment = one.value ? "as in the launch" : "a guess: no size depends on it";
      add_line(text, size + " = " + usual_of(size, one, extents), comment);
    }
    if (order_.empty()) add_line(text, "n = \"?\"", "the problem's sizes; name at least one");

    text += "\n[arrays]\n";
    for (const Array& one : arrays_) {
      std::string line = one.name + " = ";
      if (one.role.empty() && one.dtype.empty()) {
        line += listed_texts(one.extents);
      } else {
        line += "{ extents = " + listed_texts(one.extents);
        if (!one.role.empty()) line += ", role = " + in_quotes(one.role);
        if (!one.dtype.empty()) line += ", dtype = " + in_quotes(one.dtype);
        line += " }";
      }
      add_line(text, line, one.comment);
    }
    if (arrays_.empty()) add_line(text, "y = \"?\"", "the kernel's arrays; it has no pointers");

    text += "\n[axes]\n";
    for (const Axis& one : axes_) add_line(text, one.name + " = " + listed_values(one.values), one.comment);
    if (axes_.empty())
      add_line(text, "BLOCK = \"?\"", "the kernel has no constant to tune; give one of its numbers a name");

    std::vector<std::string> factors;
    for (const std::string& one : block_)
      if (one != "?" && one != "1")
        factors.push_back(one.find(' ') != std::string::npos ? "(" + one + ")" : one);
    std::string threads;
    for (const std::string& one : factors) threads += (threads.empty() ? "" : " * ") + one;
    const bool needs_rule = std::find(block_.begin(), block_.end(), "?") == block_.end() &&
                            !threads.empty() && std::any_of(threads.begin(), threads.end(), [](char c) {
                              return std::isalpha(static_cast<unsigned char>(c)) != 0;
                            });
    std::vector<std::string> rules;
    if (needs_rule) rules.push_back(threads + " <= 1024");
    if (!rule_.empty()) rules.push_back(rule_);
    if (!rules.empty()) text += "\n[rules]\nmust = " + listed_texts(rules) + "\n";

    text += "\n[launch]\n";
    add_line(text, "grid = " + listed_texts(grid_), grid_comment_);
    add_line(text, "block = " + listed_texts(block_), block_comment_);
    if (!shared_.empty())
      add_line(text, "shared_bytes = " + in_quotes(shared_),
               shared_ == "?" ? "of the kernel's dynamic shared memory" : "");
    bool are_own = true;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      are_own &= arguments_[i] == kernel_.parameters[i].name;
    if (!are_own) {
      std::string list, comment;
      for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const DeclaredKernel::Parameter& parameter = kernel_.parameters[i];
        const CType type = c_type(types_.contains(parameter.type) ? "float" : parameter.type, code_);
        const bool is_number = !parameter.is_pointer && !is_integer(type) && arguments_[i] != "?";
        list += (i == 0 ? "" : ", ") + (is_number ? arguments_[i] : in_quotes(arguments_[i]));
        if (arguments_[i] == "?")
          comment += (comment.empty() ? "" : ", ") + parameter.name + " is a " + parameter.type;
      }
      add_line(text, "arguments = [" + list + "]", comment);
    }
    return text;
  }

  const KernelFile& file_;
  const std::function<bool(const std::string&)>& is_taken_;
  std::vector<CompiledText> texts_;
  std::string code_, reached_, host_text_, body_;
  std::set<std::string> words_, declared_;
  DeclaredKernel kernel_;
  std::optional<HostCode> host_, reached_code_;
  std::map<std::string, std::string> macros_;
  std::optional<HostLaunch> launch_;
  HostCode::Place place_;
  std::optional<IndexBounds> bounds_;
  Names names_;                                     // the host's names in expressions
  std::map<std::string, HostExpression> meanings_;  // what stands for the host's names of block sizes
  std::map<std::size_t, std::int64_t> numbers_;     // by component: the block's number in the launch
  std::map<std::size_t, std::string> block_names_;  // and its axis
  std::map<std::string, std::string> types_;        // by template parameter: its dtype
  std::string dtype_, shared_, rule_, block_comment_, grid_comment_;
  std::vector<std::string> instantiate_, compiled_in_, zeroed_, block_, grid_, arguments_, order_;
  std::map<std::string, std::int64_t> constants_;
  std::map<std::string, std::vector<std::int64_t>> compared_;
  std::set<std::string> guessed_;
  std::map<std::string, Size> sizes_;
  std::map<std::string, HostExpression> computed_;  // by size: its value in other sizes
  std::map<std::string, std::string> expressions_;  // arguments that are no plain names
  std::vector<Axis> axes_;
  std::vector<Array> arrays_;
};

}  // namespace

std::string described(const KernelFile& file, const std::string& kernel,
                      const std::function<bool(const std::string&)>& is_taken) {
  return Describer(file, kernel, is_taken).text();
}

}  // namespace tunesmith
