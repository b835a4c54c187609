// SPDX-License-Identifier: Apache-2.0
// Describes arrays, variables and shared memory.
#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "generator/dtype.h"
#include "generator/error.h"
#include "kernel_file/c_type.h"
#include "kernel_file/describer.h"
#include "kernel_file/struct_layout.h"
#include "kernel_file/text_scanner.h"
#include "kernel_file/unset_variable.h"

namespace tunesmith {

std::string Describer::common_dtype(const std::string& sentence) const {
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

void Describer::find_arrays() {
  // An axis may choose a type by #if.
  std::vector<std::string> names;
  for (const Axis& one : axes_) names.push_back(one.name);
  std::string of_axes;
  for (const CompiledText& one : compiled_texts(file_.cu, file_.included, names)) of_axes += one.text + "\n";
  const std::vector<DeclaredKernel> all = kernels_of(of_axes);
  const auto same = std::find_if(all.begin(), all.end(), [&](const DeclaredKernel& one) {
    return one.name == kernel_.name && one.parameters.size() == kernel_.parameters.size();
  });
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
    DeclaredKernel::Parameter one = kernel_.parameters[i];
    if (!one.is_pointer) continue;
    if (same != all.end() && !c_type(same->parameters[i].type, of_axes).ambiguity.empty())
      one.type = same->parameters[i].type;
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
      throw UsageError("The parameter " + one.name + " of the kernel " + kernel_.name + " of " + file_.path +
                       " is a pointer to pointers, which cannot be given.");
    if (is_of_template) {
      if (types_.at(plain) != dtype_) array.dtype = types_.at(plain);
    } else if (!type.ambiguity.empty()) {
      array.dtype = common_dtype(type.ambiguity);
      array.comment = array.dtype == "?" ? type.ambiguity : type.ambiguity + ": extents count " + array.dtype;
    } else if (!type.dtype) {
      const auto [of_members, count] = members_of(plain);
      std::string dtype = of_members;
      members = count;
      if (const std::string beside = dtype.empty() ? type_beside(plain) : ""; !beside.empty()) {
        dtype = beside;
        array.comment = plain + " is defined in a file beside";
        types_beside_[plain] = cuda_type(dtype_of({{"dtype", beside}}));
      }
      if (dtype.empty() && is_real_elsewhere(plain)) {
        dtype = "f32";
        array.comment = plain + " is defined in no file here: a guess";
        types_beside_[plain] = "float";
      }
      const StructLayout layout = element_layout(plain, code_);
      const bool are_structs = dtype.empty() && layout.why.empty() && !layout.members.empty();
      array.dtype = are_structs ? "" : dtype.empty() ? "?" : dtype;
      if (are_structs) {
        const auto whole = std::find_if(layout.members.begin(), layout.members.end(), [](const auto& one) {
          return is_whole(one.dtype) && one.dtype != DType::boolean;
        });
        const bool is_plain =
            whole != layout.members.end() && whole->name.find_first_of(".[") == std::string::npos;
        if (whole != layout.members.end())
          array.comment = "structs; if " + whole->name + " is an index, add values = { " +
                          (is_plain ? whole->name : "\"" + whole->name + "\"") + " = \"index(…)\" }";
      } else if (dtype.empty()) {
        array.comment = "the type of the members of " + plain + ", or u8 for its bytes";
      }
    }
    const ArrayUse use = bounds_->use_of(one.name);
    const bool may_be_written = !one.is_const && (use.is_written || use.is_passed);
    array.role = !may_be_written ? "" : use.is_read || use.is_passed ? "inout" : "output";
    if (array.role == "output" && (use.is_at_place || (bounds_->leaves_border() && !use.is_by_block))) {
      array.role = "inout";
      array.comment = use.is_at_place ? "the kernel writes some elements" : "the kernel leaves out a border";
    }
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

std::pair<std::string, std::int64_t> Describer::members_of(const std::string& type) const {
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

void Describer::find_extents(Array& array, std::size_t i, const std::string& element) {
  std::vector<std::string> by_index = bounds_->extents_of(array.name);
  std::vector<HostExpression> trees;
  for (const std::string& one : by_index) {
    const auto tree = parsed_expression(one);
    if (!tree || !may_be_extent(*tree)) by_index.clear();
    if (by_index.empty()) break;
    trees.push_back(*tree);
  }
  if (trees.size() == 1 && trees[0].kind == HostExpression::Kind::binary && trees[0].word == "+") {
    // A sum of sizes is clearer with the numbers that constants stand for.
    std::map<std::string, HostExpression> numbers;
    for (const auto& [name, value] : constants_)
      if (!is_axis(name) && !sizes_.contains(name))
        numbers[name] = {.kind = HostExpression::Kind::number, .number = value, .word = {}};
    trees[0] = with(trees[0], numbers);
    by_index = {trees[0].text()};
  }
  if (launch_ && i < launch_->arguments.size()) {
    Names names;
    if (const auto bytes = host_->allocation(launch_->arguments[i], place_, names)) {
      auto count = host_->elements(*bytes, element_of_template(element));
      if (!count) count = host_->elements(*bytes, element);  // sizeof(T)
      if (count) {
        *count = without_axes(with(*count, meanings_));
        std::set<std::string> used;
        gather_names(*count, used);
        // A name that only the host has may differ from the kernel's own sizes.
        const bool has_others = std::any_of(used.begin(), used.end(),
                                            [&](const std::string& name) { return !sizes_.contains(name); });
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

std::string Describer::new_size(const std::string& wanted) {
  std::string name = wanted;
  while (declared_.contains(name) || words_.contains(name) || sizes_.contains(name)) name += "_all";
  sizes_[name] = {.is_extent = true};
  order_.push_back(name);
  return name;
}

void Describer::find_indices() {
  std::map<std::string, std::string> size_of_ranges;  // by the array of their first and last indices
  const auto element = [](const std::string& array) {
    return "(?:__ldg\\s*\\(\\s*&?\\s*)?\\b" + array + R"(\s*(?:\[[^\[\]]*\]|\+[^;()]*)\s*\)?)";
  };
  const auto elements_of = [](const Array& one) {
    std::string text;
    for (const std::string& extent : one.extents) {
      const auto tree = extent == "?" ? std::nullopt : parsed_expression(extent);
      if (!tree) return std::string();
      text += (text.empty() ? "" : " * ") +
              (tree->parts.empty() || one.extents.size() == 1 ? extent : "(" + extent + ")");
    }
    return text;
  };
  for (Array& one : arrays_) {
    const auto parameter = std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                                        [&](const auto& each) { return each.name == one.name; });
    if (!one.role.empty() || parameter == kernel_.parameters.end()) continue;
    std::string plain = parameter->type;
    std::erase(plain, '*');
    while (!plain.empty() && plain.back() == ' ') plain.pop_back();
    const auto of_template = types_.find(plain);
    const bool is_whole = of_template != types_.end() ? of_template->second.find_first_of("iu") == 0
                                                      : is_integer(c_type(plain, code_));
    if (!is_whole) continue;
    // Variables that hold an element, and those that go from an element to the next one.
    std::set<std::string> held, ranges;
    const std::regex given("\\b([A-Za-z_]\\w*)\\s*=\\s*(?:\\([\\w\\s]*\\)\\s*)?" + element(one.name) +
                           "\\s*[;,]");
    for (std::sregex_iterator at(body_.begin(), body_.end(), given), none; at != none; ++at)
      held.insert((*at)[1].str());
    const bool has_next =
        std::regex_search(body_, std::regex("\\b" + one.name + R"(\s*\[[^\[\]]*\+\s*1\s*\])"));
    if (has_next)
      for (const std::string& begin : held) {
        ranges.insert(begin);
        const std::regex copied("\\b([A-Za-z_]\\w*)\\s*=\\s*" + begin + R"(\s*(?:\+[^;]*)?;)");
        for (std::sregex_iterator at(body_.begin(), body_.end(), copied), none; at != none; ++at)
          ranges.insert((*at)[1].str());
      }
    for (Array& other : arrays_) {
      if (&other == &one) continue;
      const bool is_unknown = other.extents == std::vector<std::string>{"?"};
      const bool is_guess = other.comment == "a guess" && other.extents.size() == 1;
      if (elements_of(other).empty() && !is_unknown) continue;
      const auto is_index = [&](const std::string& words) {
        return std::regex_search(body_, std::regex("\\b" + other.name + "\\s*\\[\\s*" + words + "\\s*\\]"));
      };
      const bool is_range =
          std::any_of(ranges.begin(), ranges.end(), [&](const std::string& name) { return is_index(name); });
      const bool is_held =
          is_index(element(one.name)) ||
          std::any_of(held.begin(), held.end(), [&](const std::string& name) { return is_index(name); });
      // table[row * width + i], table + row * width: a row of the table
      const auto is_row = [&](const std::string& words) {
        return other.extents.size() > 1 &&
               std::regex_search(body_,
                                 std::regex("\\b" + other.name + R"(\s*(?:\[|\+)\s*)" + words + R"(\s*\*)"));
      };
      const bool is_row_held =
          !is_range && !is_held &&
          (is_row(element(one.name)) ||
           std::any_of(held.begin(), held.end(), [&](const std::string& name) { return is_row(name); }));
      if (is_row_held && one.values.empty()) one.values = "index(" + other.extents.front() + ")";
      if (!is_range && !is_held) continue;
      if (is_range && (is_unknown || is_guess)) {
        std::string& size = size_of_ranges[one.name];
        if (size.empty()) size = new_size("nnz");
        other.extents = {size};
        other.comment = "as many as the ranges of " + one.name + " have together";
      } else if (is_unknown) {
        other.extents = {new_size(other.name + "_size")};
        other.comment = "its indices are elements of " + one.name;
      }
      // The element behind those of the rows is where the last row ends.
      if (is_range && one.extents.size() == 1 && one.extents[0] != "?" &&
          one.extents[0].find("+ 1") == std::string::npos && sizes_.contains(one.extents[0]))
        one.extents[0] += " + 1";
      if (!one.values.empty()) continue;
      one.values = (is_range ? "offsets(" : "index(") + elements_of(other) + ")";
    }
  }
}

bool Describer::may_be_extent(const HostExpression& one) const {
  std::set<std::string> used;
  gather_names(one, used);
  return std::none_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); });
}

std::string Describer::element_of_template(const std::string& type) const {
  static const std::map<std::string, std::string> words = {
      {"f32", "float"}, {"f64", "double"},      {"i32", "int"},    {"u32", "unsigned"},
      {"i64", "long"},  {"u64", "size_t"},      {"f16", "__half"}, {"bf16", "__nv_bfloat16"},
      {"i8", "char"},   {"u8", "unsigned char"}};
  const auto found = types_.find(type);
  const auto word = found == types_.end() ? words.end() : words.find(found->second);
  return word == words.end() ? type : word->second;
}

std::vector<std::string> Describer::product_of(const HostExpression& one) {
  if (one.kind == HostExpression::Kind::binary && one.word == "*") {
    std::vector<std::string> all = product_of(one.parts[0]);
    for (std::string& more : product_of(one.parts[1])) all.push_back(std::move(more));
    return all;
  }
  return {one.text()};
}

void Describer::find_symbols() {
  std::vector<std::string> filled;
  for (int i = 0; i < 32; ++i) {
    const auto unset = unset_variable(code_, kernel_.name, filled);
    if (!unset) break;
    filled.push_back(unset->name);
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
  // A counter of atomic operations would go on from launch to launch.
  for (const DeviceVariable& one : device_variables(reached_)) {
    const std::regex counted("\\batomic\\w+\\s*\\(\\s*&\\s*" + one.name + "\\b");
    const std::regex set("\\b" + one.name + R"((?:\s*\[[^\]]*\])?\s*=(?!=))");
    const std::string uses = reached_.substr(0, one.begin) + reached_.substr(one.end);
    if (!one.is_constant && std::regex_search(uses, counted) && !std::regex_search(uses, set))
      zeroed_.push_back(one.name);
  }
}

std::optional<std::int64_t> Describer::value_in_kernel(const std::string& words) const {
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

void Describer::find_shared() {
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
      used.clear();
      gather_names(one, used);
      const bool is_known = std::all_of(used.begin(), used.end(), [&](const std::string& name) {
        return sizes_.contains(name) || is_axis(name) || constants_.contains(name);
      });
      if (is_known && adopt(one) && !one.is_number(0)) {
        shared_ = one.text();
        return;
      }
    }
  }
  shared_ = "?";
}

void Describer::replace_computed() {
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

}  // namespace tunesmith
