// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/describe.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "generator/error.h"
#include "generator/listed.h"
#include "kernel_file/c_type.h"
#include "kernel_file/describer.h"
#include "kernel_file/reach.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

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

// Products of 24 bits, as old kernels write their indices, and macros that stand for them.
std::string with_plain_products(std::string text) {
  std::set<std::string> names = {"__mul24", "__umul24"};
  static const std::regex macro(
      R"(#[ \t]*define[ \t]+(\w+)\(\s*\w+\s*,\s*\w+\s*\)[ \t]*(?:\(\s*)?__u?mul24\b.*)");
  for (std::smatch found; std::regex_search(text, found, macro);) {
    names.insert(found[1].str());
    std::fill_n(text.begin() + found.position(), found.length(), ' ');
  }
  for (const std::string& name : names) {
    for (std::size_t at = 0; (at = find_word(text, name, at)) != std::string::npos;) {
      const std::size_t open = skip_space(text, at + name.size());
      const std::size_t behind =
          open < text.size() && text[open] == '(' ? behind_close(text, open) : std::string::npos;
      std::vector<std::string_view> factors;
      if (behind != std::string::npos)
        factors = split_at_commas(std::string_view(text).substr(open + 1, behind - open - 2));
      if (factors.size() != 2) {
        at += name.size();
        continue;
      }
      text.replace(at, behind - at,
                   "((" + std::string(factors[0]) + ") * (" + std::string(factors[1]) + "))");
    }
  }
  return text;
}

}  // namespace

Describer::Describer(const KernelFile& file, const std::string& kernel,
                     const std::function<bool(const std::string&)>& is_taken,
                     const std::vector<std::string>& beside, const std::vector<std::string>& include)
    : file_(file), is_taken_(is_taken), beside_(beside), include_(include) {
  texts_ = compiled_texts(file.cu, file.included, {});
  for (CompiledText& one : texts_) one.text = with_plain_products(std::move(one.text));
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
  const auto joined = [&](const std::string& text) {
    return std::regex_replace(std::regex_replace(text, opening, "<<<"), closing, ">>>");
  };
  host_text_ = joined(host_text_);
  host_.emplace(host_text_);
  find_body();
  device_text_ = of_device();
  // A file beside launches the kernel, or calls the function that does.
  std::vector<std::string> names = {kernel_.name};
  if (!host_->launches_of(kernel_.name).empty())
    for (const HostLaunch& one : host_->launches_of(kernel_.name))
      names.push_back(host_->function_around(one.at));
  std::string more;
  for (const std::string& text : beside) {
    const std::string blank = joined(blanked(text));
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return !name.empty() && name != "main" && find_word(blank, name) != std::string::npos;
        }))
      more += blank + "\n";
  }
  if (more.empty()) return;
  host_text_ += more;
  host_.emplace(host_text_);
}

std::string Describer::of_device() const {
  std::string text = reached_;
  static const std::regex not_host(
      R"(__device__|__global__|__forceinline__|\b(constexpr|struct|class|union|enum|namespace|extern)\b|#)");
  for (const Braces& one : outer_braces(reached_)) {
    const std::string head = reached_.substr(one.head, one.open - one.head);
    if (one.is_transparent() || head.find('(') == std::string::npos || std::regex_search(head, not_host))
      continue;
    std::replace_if(
        text.begin() + static_cast<std::ptrdiff_t>(one.open),
        text.begin() + static_cast<std::ptrdiff_t>(one.close), [](char c) { return c != '\n'; }, ' ');
  }
  return text;
}

std::string Describer::text() {
  choose_launch();
  find_template();
  find_constants();
  find_scalars();
  find_bounds();
  find_block();
  find_grid();
  find_arrays();
  find_symbols();
  settle_grid_axes();
  settle_arrays_by_grid();
  find_shared();
  replace_computed();
  find_indices();
  limit_grid();
  add_rules_of_loops();
  return written();
}

void Describer::choose(const std::string& name) {
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

void Describer::find_body() {
  for (const Braces& one : outer_braces(code_)) {
    // An #if may choose between two beginnings of the kernel, such as launch bounds.
    const std::size_t before = one.head == 0 ? std::string::npos : code_.find_last_of(";{}", one.head - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string_view head = std::string_view(code_).substr(begin, one.open - begin);
    if (one.is_transparent() || find_word(head, kernel_.name) == std::string_view::npos ||
        find_word(head, "__global__") == std::string_view::npos)
      continue;
    body_ = code_.substr(one.open + 1, one.close - one.open - 1);
    return;
  }
  throw UsageError("The kernel " + kernel_.name + " of " + file_.path + " has no body there.");
}

bool Describer::reads_component(const std::string& of, char component) const {
  const std::regex form("\\b" + of + "\\s*\\.\\s*" + component + "\\b");
  return std::regex_search(reached_, form);
}

bool Describer::reads_block_size() const {
  return reads("blockDim") || reads("this_thread_block") || reads("this_grid");
}

void Describer::choose_launch() {
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

bool Describer::is_integer(const CType& type) {
  return type.dtype && type.lanes == 1 && *type.dtype != DType::f32 && *type.dtype != DType::f64 &&
         *type.dtype != DType::f16 && *type.dtype != DType::bf16;
}

void Describer::add_line(std::string& text, const std::string& line, const std::string& comment) {
  text += line + (comment.empty() ? "" : "  # " + comment) + "\n";
}

std::string Describer::usual_of(const std::string& name, const Size& size, std::size_t sizes) const {
  if (!size.given.empty()) return size.given;
  if (!size.is_extent) {
    const std::int64_t value = size.value.value_or(1);
    const std::int64_t least = std::min<std::int64_t>(value, 0);
    return "{ minimum = " + std::to_string(least) + ", default = " + std::to_string(value) + " }";
  }
  const bool is_fixed = std::find(compiled_in_.begin(), compiled_in_.end(), name) != compiled_in_.end();
  constexpr std::int64_t small = 256;  // the host emulates a problem of larger sizes for minutes
  if (is_fixed && size.value && *size.value >= 1 && *size.value <= small)
    return "{ default = " + std::to_string(*size.value) + " }";
  std::int64_t most = sizes <= 1 ? 1 << 20 : sizes == 2 ? 4096 : 512;
  if (size.value && *size.value > 1) most = *size.value;
  most = std::min(most, size.most);
  return "[1, " + std::to_string(most) + "]";
}

std::string Describer::op_name() const {
  std::string made = in_lower_case(kernel_.name);
  if (is_taken_ && is_taken_(made)) made += "_kernel";
  return made;
}

std::string Describer::written() {
  std::string text;
  const std::string name = op_name();
  if (name != in_lower_case(kernel_.name)) text += "name = " + in_quotes(name) + "\n";
  text += "kernel = " + in_quotes(kernel_.name) + "\n";
  if (!dtype_.empty()) add_line(text, "dtype = " + in_quotes(dtype_), dtype_comment_);
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
  if (!compiled_in_.empty()) text += "compiled_in = " + listed_texts(compiled_in_) + "\n";
  static const std::regex in_half(R"(\b(__h(fma|add|sub|mul)2?(_rn)?\b|h(exp|sqrt|rcp)2?\b))");
  const bool has_f32 = std::any_of(arrays_.begin(), arrays_.end(), [&](const Array& one) {
    const auto parameter = std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                                        [&](const auto& each) { return each.name == one.name; });
    return !one.role.empty() && parameter != kernel_.parameters.end() &&
           c_type(parameter->type, code_).dtype == DType::f32;
  });
  if (const std::int64_t bytes = bounds_->alignment(); bytes > 0)
    add_line(text, "alignment_bytes = \"" + std::to_string(bytes) + "\"", "the kernel's wide accesses");
  if (has_f32 && std::regex_search(device_text_, in_half)) {
    add_line(text, "tolerance = 0.02", "a guess: it computes in 16 bits what it writes in 32");
    for (Array& one : arrays_)  // products of large numbers pass the largest number of 16 bits
      for (const auto& parameter : kernel_.parameters)
        if (parameter.name == one.name && one.role.empty() && one.values.empty() &&
            c_type(parameter.type, code_).dtype == DType::f16)
          one.values = "uniform(-1, 1)";
  }
  if (!zeroed_.empty()) text += "zeroed = " + listed_texts(zeroed_) + "\n";

  text += "\n[problem]\n";
  const auto extents = static_cast<std::size_t>(
      std::count_if(sizes_.begin(), sizes_.end(), [](const auto& one) { return one.second.is_extent; }));
  for (const std::string& size : order_) {
    const Size& one = sizes_.at(size);
    std::string comment = one.comment;
    if (!one.is_extent && one.given.empty() && comment.empty())
      comment = one.value ? "as in the launch" : "a guess: no size depends on it";
    std::size_t dimensions = extents;  // of the array in which the size occurs most often: n * n elements
    for (const Array& array : arrays_)
      dimensions = std::max(
          dimensions, static_cast<std::size_t>(std::count(array.extents.begin(), array.extents.end(), size)));
    add_line(text, size + " = " + usual_of(size, one, dimensions), comment);
  }
  if (order_.empty()) add_line(text, "n = \"?\"", "the problem's sizes; name at least one");

  text += "\n[arrays]\n";
  for (const Array& one : arrays_) {
    std::string line = one.name + " = ";
    if (one.role.empty() && one.dtype.empty() && one.values.empty()) {
      line += listed_texts(one.extents);
    } else {
      line += "{ extents = " + listed_texts(one.extents);
      if (!one.role.empty()) line += ", role = " + in_quotes(one.role);
      if (!one.dtype.empty()) line += ", dtype = " + in_quotes(one.dtype);
      if (!one.values.empty()) line += ", values = " + in_quotes(one.values);
      line += " }";
    }
    add_line(text, line, one.comment);
  }
  if (arrays_.empty()) add_line(text, "y = \"?\"", "the kernel's arrays; it has no pointers");

  text += "\n[axes]\n";
  for (const Axis& one : axes_) add_line(text, one.name + " = " + listed_values(one.values), one.comment);
  // A kernel without a constant to tune still may be compiled with fewer registers.
  const bool limits_registers = axes_.empty() && !arrays_.empty();
  if (limits_registers)
    add_line(text, "REGISTERS = [0, 32, 64, 128]", "the kernel has no constant to tune: its registers");
  else if (axes_.empty())
    add_line(text, "BLOCK = \"?\"", "the kernel has no constant to tune; give one of its numbers a name");

  std::vector<std::string> factors;
  for (const std::string& one : block_)
    if (one != "?" && one != "1")
      factors.push_back(one.find(' ') != std::string::npos ? "(" + one + ")" : one);
  std::string threads;
  for (const std::string& one : factors) threads += (threads.empty() ? "" : " * ") + one;
  const bool needs_rule = std::find(block_.begin(), block_.end(), "?") == block_.end() && !threads.empty() &&
                          std::any_of(axes_.begin(), axes_.end(), [&](const Axis& one) {
                            return find_word(threads, one.name) != std::string::npos;
                          });
  std::vector<std::string> rules;
  if (needs_rule) rules.push_back(threads + " <= 1024");
  rules.insert(rules.end(), rules_.begin(), rules_.end());
  if (!rules.empty() || !problem_rules_.empty()) text += "\n[rules]\n";
  if (!rules.empty()) text += "must = " + listed_texts(rules) + "\n";
  if (!problem_rules_.empty())
    add_line(text, "problem = " + listed_texts(problem_rules_), "as the program's loop has it");

  if (limits_registers || !types_beside_.empty() || !include_.empty()) text += "\n[compile]\n";
  if (!include_.empty()) text += "include = " + listed_texts(include_) + "\n";
  if (limits_registers) text += "maxrregcount = \"REGISTERS\"\n";
  std::string defines;
  for (const auto& [type, words] : types_beside_)
    defines += (defines.empty() ? "" : ", ") + type + " = " + in_quotes(words);
  if (!defines.empty()) text += "defines = { " + defines + " }\n";

  text += "\n[launch]\n";
  add_line(text, "grid = " + listed_texts(grid_), grid_comment_);
  add_line(text, "block = " + listed_texts(block_), block_comment_);
  if (!shared_.empty())
    add_line(text, "shared_bytes = " + in_quotes(shared_),
             shared_ == "?" ? "of the kernel's dynamic shared memory" : "");
  bool are_own = true;
  for (std::size_t i = 0; i < arguments_.size(); ++i) are_own &= arguments_[i] == kernel_.parameters[i].name;
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

std::string described(const KernelFile& file, const std::string& kernel,
                      const std::function<bool(const std::string&)>& is_taken,
                      const std::vector<std::string>& beside, const std::vector<std::string>& include) {
  return Describer(file, kernel, is_taken, beside, include).text();
}

}  // namespace tunesmith
