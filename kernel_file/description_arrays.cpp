// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "generator/dtype.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "kernel_file/c_type.h"
#include "kernel_file/description_reader.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_arrays = 32;

}  // namespace

bool DescriptionReader::is_of_problem(const DeclaredKernel::Parameter& parameter) const {
  std::string type = parameter.type;
  std::erase_if(type, [](char c) { return c == '*' || c == ' '; });
  return !made_.type.empty() && type == made_.type;
}

bool DescriptionReader::is_type_axis(const toml::table& root, const std::string& name) {
  const toml::node* node = root["axes"][name].node();
  if (node != nullptr && node->is_table()) node = node->as_table()->get("values");
  const toml::array* values = node != nullptr ? node->as_array() : nullptr;
  return values != nullptr && !values->empty() && (*values)[0].is_string();
}

std::string DescriptionReader::type_axis_of(const DeclaredKernel::Parameter& parameter) const {
  std::string type = parameter.type;
  std::erase_if(type, [](char c) { return c == '*' || c == ' '; });
  return type_axes_.contains(type) ? type : "";
}

std::string DescriptionReader::why_not(const DeclaredKernel::Parameter& parameter,
                                       const std::string& dtype) const {
  if (is_of_problem(parameter))
    return parameter.type + ", the problem's type; leave its dtype out, or give the kernel another type.";
  const CType type = c_type(parameter.type, code_);
  if (!type.dtype || name(*type.dtype) == dtype) return "";
  const DType given = dtype_of({{"dtype", dtype}});
  const bool same_bits = is_whole(given) && is_whole(*type.dtype) && bytes(given) == bytes(*type.dtype);
  if (same_bits) return "";
  // A vector of integers may be words that hold anything: int4* of eight f16 each.
  if (type.lanes > 1 && is_whole(*type.dtype) && bytes(given) < bytes(*type.dtype) * type.lanes) return "";
  return parameter.type + ", whose elements are " + std::string(name(*type.dtype)) + " of " +
         std::to_string(bytes(*type.dtype)) + (bytes(*type.dtype) == 1 ? " byte" : " bytes") + ".";
}

void DescriptionReader::refuse_pointers(const toml::node* node, const std::string& begins,
                                        const DeclaredKernel::Parameter& parameter) const {
  if (c_type(parameter.type, code_).is_pointer_to_pointer)
    refuse(node, begins + " " + parameter.type +
                     ", a pointer to pointers: arrays hold numbers, so none can be given for it. Let the "
                     "kernel take one array, and compute where each of its parts begins.");
}

StructLayout DescriptionReader::layout_of_elements(const toml::table& root,
                                                   const DeclaredKernel::Parameter& parameter,
                                                   const std::vector<std::string>& dtypes) const {
  const CType found = c_type(parameter.type, code_);
  if (is_of_problem(parameter) || found.dtype || found.is_pointer_to_pointer || !found.ambiguity.empty())
    return {};
  std::string type = parameter.type, types;
  std::erase(type, '*');
  if (!made_.type.empty() && dtypes.size() == 1)
    types +=
        "typedef " + std::string(cuda_type(dtype_of({{"dtype", dtypes.front()}}))) + " " + made_.type + ";\n";
  if (const toml::table* defines = root["compile"]["defines"].as_table())
    for (const auto& [key, value] : *defines)
      if (const auto* words = value.as_string(); words != nullptr && is_identifier(key.str()))
        types += "typedef " + words->get() + " " + std::string(key.str()) + ";\n";
  return element_layout(type, types + code_);
}

std::string DescriptionReader::dtype_of_pointer(const toml::node& node, const std::string& key,
                                                const DeclaredKernel::Parameter& parameter,
                                                const StructLayout& layout) const {
  if (is_of_problem(parameter)) return "";
  refuse_pointers(&node, key + " is taken by the kernel as", parameter);
  const CType type = c_type(parameter.type, code_);
  if (!type.ambiguity.empty())
    refuse(&node, key + " is taken by the kernel as " + parameter.type + ", and " + type.ambiguity +
                      ": which one is compiled is not known here. Set dtype = \"…\" to it, or let Tunesmith "
                      "define the type, by type = \"" +
                      type.ambiguity.substr(0, type.ambiguity.find(' ')) + "\".");
  if (!layout.why.empty())
    refuse(&node, key + " is taken by the kernel as " + parameter.type + ", a struct that " + layout.why +
                      ", so its members are not known here; set dtype = \"u8\", with extents that count its "
                      "bytes. Then all bytes must be the reference's.");
  if (!type.dtype)
    refuse(&node,
           key + " is taken by the kernel as " + parameter.type +
               ", whose elements are not known here; set dtype = \"…\" to the type that its extents count: " +
               listed(described_dtypes) + ". Of a struct these are its members, or u8 for its bytes.");
  const std::string word(name(*type.dtype));
  return word;
}

const DeclaredKernel::Parameter* DescriptionReader::pointer_to(const std::string& array) const {
  for (const Symbol& symbol : symbols_)
    if (symbol.array == array) return &symbol.pointer;
  for (const auto& [launch, unused, kernel] : launches_) {
    const toml::node* given = launch != nullptr ? launch->get("arguments") : nullptr;
    const toml::array* all = given != nullptr ? given->as_array() : nullptr;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const DeclaredKernel::Parameter& one = kernel.parameters[i];
      const auto* word = all != nullptr && i < all->size() ? (*all)[i].as_string() : nullptr;
      if (one.is_pointer && (given == nullptr ? one.name == array : word != nullptr && word->get() == array))
        return &one;
    }
    // The spare array takes the place of another one.
    const toml::table* swap = launch != nullptr ? (*launch)["swap"].as_table() : nullptr;
    if (swap == nullptr) continue;
    const auto* spare = (*swap)["spare"].as_string();
    const auto* to = (*swap)["to"].as_string();
    if (spare != nullptr && to != nullptr && spare->get() == array && to->get() != array)
      return pointer_to(to->get());
  }
  return nullptr;
}

// Values are made as doubles.
void DescriptionReader::must_be_exact(const toml::node& node, std::int64_t whole) const {
  if (whole < -most_exact_value || whole > most_exact_value)
    refuse(&node, "values has the bound " + std::to_string(whole) +
                      "; whole numbers from -9007199254740992 to 9007199254740992 (2^53) can be made.");
}

void DescriptionReader::set_bound(const toml::node& node, std::string_view words, double& number,
                                  std::optional<IntegerExpression>& expression) const {
  while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
  while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
  if (const auto given = parsed_number<double>(words); given && std::isfinite(*given)) {
    if (const auto whole = parsed_number<std::int64_t>(words)) must_be_exact(node, *whole);
    number = *given;
    return;
  }
  try {
    expression = IntegerExpression::parse(words, problem_names());
  } catch (const UsageError& error) {
    refuse(&node, error.what());
  }
}

DescribedValues DescriptionReader::values_of_words(const toml::node& node, const std::string& key,
                                                   const DescribedArray& array) const {
  struct Spreading {
    std::string_view name;
    Contents::Spread spread;
    std::size_t bounds;
    bool is_whole;  // true: only arrays of integers may have it
  };
  static constexpr Spreading kinds[] = {{"uniform", Contents::uniform, 2, false},
                                        {"few", Contents::few, 2, false},
                                        {"sorted", Contents::ascending, 2, false},
                                        {"equal", Contents::uniform, 1, false},
                                        {"huge", Contents::huge, 0, false},
                                        {"denormal", Contents::denormal, 0, false},
                                        {"nan", Contents::with_nan, 2, false},
                                        {"magnitudes", Contents::magnitudes, 2, false},
                                        {"index", Contents::uniform, 1, true},
                                        {"offsets", Contents::offsets, 1, true},
                                        {"permutation", Contents::permutation, 0, true}};
  static const std::string forms =
      "\"uniform(-1, 1)\", \"few(-1, 1)\", \"sorted(0, n)\", \"equal(3)\", \"huge\", \"denormal\", "
      "\"nan(-1, 1)\", \"magnitudes(1e-3, 1e3)\", \"index(n)\", \"offsets(n)\" or \"permutation\"";
  const std::string words = line(node, "values");
  const std::size_t open = std::min(words.find('('), words.size());
  const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                  [&](const Spreading& one) { return one.name == words.substr(0, open); });
  std::vector<std::string> bounds;
  if (open < words.size() && words.back() == ')') {
    int depth = 0;
    bounds.emplace_back();
    for (const char c : words.substr(open + 1, words.size() - open - 2)) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        bounds.emplace_back();
      } else {
        bounds.back() += c;
      }
    }
  }
  if (kind == std::end(kinds) || bounds.size() != kind->bounds ||
      (open < words.size() && words.back() != ')'))
    refuse(&node, key + " has the values " + shown(node) + "; give [least, most] or " + forms + ".");
  const std::vector<std::string> of_array =
      array.dtype.empty() ? made_.parameters.back().categories : std::vector<std::string>{array.dtype};
  for (const std::string& dtype : of_array)
    if (kind->is_whole && !tunesmith::is_whole(dtype_of({{"dtype", dtype}})))
      refuse(&node, key + " has the values " + words + ", which are integers, but the dtype " + dtype + ".");
  DescribedValues made{Contents{kind->spread}};
  made.contents.what = words;
  if (kind->is_whole) {
    made.contents.least = 0;
    if (kind->bounds == 1) set_bound(node, bounds[0], made.contents.most, made.most);
    if (words.starts_with("index")) {  // the largest index is one less than the bound
      made.contents.most = std::max(0.0, made.contents.most - 1);
      if (made.most)
        made.most = IntegerExpression::parse("max(0, " + made.most->text() + " - 1)", problem_names());
    }
  } else if (kind->bounds > 0) {
    set_bound(node, bounds.front(), made.contents.least, made.least);
    made.contents.most = made.contents.least;
    made.most = made.least;
    if (kind->bounds == 2) {
      made.most.reset();
      set_bound(node, bounds.back(), made.contents.most, made.most);
    }
  }
  const bool are_numbers = !made.least && !made.most;
  if (are_numbers && made.contents.least > made.contents.most)
    refuse(&node, key + " has values whose least is above the most; change their order.");
  if (are_numbers && kind->spread == Contents::magnitudes && made.contents.least <= 0)
    refuse(&node, key + " has values of magnitudes from " + bounds.front() + "; give sizes above 0.");
  return made;
}

void DescriptionReader::read_values(const toml::node& node, const std::string& key,
                                    DescribedArray& array) const {
  if (node.is_string()) {
    array.values = {values_of_words(node, key, array)};
    return;
  }
  const toml::array& all = list(node, "values", "two numbers, or of words such as \"few(-1, 1)\"");
  if (all[0].is_string()) {
    for (const toml::node& one : all) array.values.push_back(values_of_words(one, key, array));
    return;
  }
  if (all.size() != 2)
    refuse(&node, key + " has values that are not two numbers; give the least and the most.");
  for (const toml::node& one : all)
    if (const auto* whole = one.as_integer()) must_be_exact(one, whole->get());
  const double least = real(all[0], "values", std::numeric_limits<double>::lowest());
  const double most = real(all[1], "values", std::numeric_limits<double>::lowest());
  if (least > most) refuse(&node, key + " has values whose least is above the most; change their order.");
  array.values = {{Contents{Contents::uniform, least, most}}, {Contents{Contents::few, least, most}}};
}

void DescriptionReader::read_member_values(const toml::node& node, const std::string& key,
                                           DescribedArray& array) const {
  const std::vector<StructMember>& members = array.record.members;
  array.member_values.resize(members.size());
  const auto read = [&](const toml::node& values, std::size_t i) {
    DescribedArray one;
    one.dtype = name(members[i].dtype);
    read_values(values, key + ", in its member " + members[i].name + ",", one);
    array.member_values[i] = std::move(one.values);
  };
  const toml::table* given = node.as_table();
  for (std::size_t i = 0; given == nullptr && i < members.size(); ++i) read(node, i);
  if (given == nullptr) return;
  for (const auto& [word, values] : *given) {
    const std::string member(word.str());
    bool any = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::string& one = members[i].name;
      const bool is_within =
          one.starts_with(member) && (one[member.size()] == '.' || one[member.size()] == '[');
      if (one != member && !is_within) continue;
      read(values, i);
      any = true;
    }
    std::string all;
    for (const StructMember& one : members) all += (all.empty() ? "" : ", ") + one.name;
    if (!any)
      refuse(&values, key + " has values of " + member + ", but " + array.record_type + " has the members " +
                          all + ".");
  }
}

void DescriptionReader::read_fields(const toml::table& fields, const DeclaredKernel::Parameter* parameter,
                                    DescribedArray& array) const {
  const std::string key = "The array " + array.name;
  only_keys(fields, "the array " + array.name, {"extents", "role", "dtype", "values"});
  if (!fields.contains("extents")) refuse(&fields, key + " has no extents; add extents = [\"…\"].");
  if (const toml::node* role = fields.get("role")) {
    const std::string& word = text(*role, "role");
    if (word != "input" && word != "constant" && word != "output" && word != "inout" && word != "workspace")
      refuse(role, key + " has the role " + shown(*role) +
                       "; allowed are input, constant, output, inout and workspace.");
    array.role = word == "output" ? Role::output : word == "inout" ? Role::inout : Role::input;
    array.is_workspace = word == "workspace";
  }
  if (const toml::node* dtype = fields.get("dtype")) {
    array.dtype = text(*dtype, "dtype");
    if (type_axes_.contains(array.dtype)) {
      array.type_axis = std::exchange(array.dtype, "");
      if (parameter != nullptr && type_axis_of(*parameter) != array.type_axis)
        refuse(dtype, key + " has the dtype " + array.type_axis + ", but the kernel takes it as " +
                          parameter->type + "; write " + array.type_axis + "* in the kernel.");
    } else if (std::find(described_dtypes.begin(), described_dtypes.end(), array.dtype) ==
               described_dtypes.end())
      refuse(dtype,
             key + " has the dtype " + shown(*dtype) + "; allowed are " + listed(described_dtypes) + ".");
    const bool is_judged = parameter != nullptr && !array.dtype.empty();
    if (is_judged) refuse_pointers(dtype, key + " is taken by the kernel as", *parameter);
    if (const std::string why = is_judged ? why_not(*parameter, array.dtype) : ""; !why.empty())
      refuse(dtype, key + " has the dtype " + array.dtype + ", but the kernel takes it as " + why);
  }
  if (const toml::node* values = fields.get("values")) {
    if (array.role == Role::output) refuse(values, key + " is an output, which has no values.");
    if (array.is_workspace)
      refuse(values,
             key + " is a workspace, which has no values; a launch writes it before another reads it.");
  }
}

void DescriptionReader::read_arrays(const toml::table& root, std::vector<std::string>& dtypes) {
  const toml::table* given = table(root, "arrays");
  if (given == nullptr || given->empty())
    refuse(nullptr, "There is no array; name the kernel's arrays and their extents in [arrays].");
  if (given->size() > most_arrays)
    refuse(given, "There are " + std::to_string(given->size()) + " arrays; at most " +
                      std::to_string(most_arrays) + " are allowed.");
  std::vector<std::string> from_pointers;
  bool has_output = false;
  for (const auto& [name, node] : entries(*given)) {
    if (!is_identifier(name))
      refuse(node, "The array's name is \"" + name + "\"; give letters, digits and underscores.");
    DescribedArray& array = made_.arrays.emplace_back();
    array.name = name;
    const std::string key = "The array " + name;
    const DeclaredKernel::Parameter* parameter = pointer_to(name);
    if (const toml::table* fields = node->as_table()) {
      read_fields(*fields, parameter, array);
    } else if (!node->is_array()) {
      refuse(node,
             key + " is " + shown(*node) + "; give its extents as a list, or a table with extents and role.");
    }
    if (parameter != nullptr && array.dtype.empty()) array.type_axis = type_axis_of(*parameter);
    if (!array.type_axis.empty() &&
        std::any_of(symbols_.begin(), symbols_.end(), [&](const Symbol& one) { return one.array == name; }))
      refuse(node, key + " fills a variable and has the type " + array.type_axis +
                       ", an axis; a variable has one type.");
    const bool is_decided = array.type_axis.empty() && dtypes.size() == 1 && parameter != nullptr &&
                            !c_type(parameter->type, code_).ambiguity.empty();
    if (array.dtype.empty() && is_decided) array.dtype = dtypes.front();
    const bool has_dtype = !array.dtype.empty();
    if (parameter != nullptr && array.type_axis.empty() && (!has_dtype || array.dtype == "u8")) {
      StructLayout layout = layout_of_elements(root, *parameter, dtypes);
      if (layout.why.empty() && !layout.members.empty()) {
        array.record = std::move(layout);
        array.record_type = parameter->type.substr(0, parameter->type.find('*'));
        while (array.record_type.ends_with(' ')) array.record_type.pop_back();
        if (array.record_type.starts_with("struct ")) array.record_type.erase(0, 7);
        array.dtype = "u8";
        if (!has_dtype) array.lanes = static_cast<int>(array.record.bytes);
      } else if (!has_dtype) {
        array.dtype = dtype_of_pointer(*node, key, *parameter, layout);
        if (!array.dtype.empty()) array.lanes = c_type(parameter->type, code_).lanes;
      }
    }
    if (!array.dtype.empty() && (has_dtype || !array.is_of_structs())) from_pointers.push_back(array.dtype);
    has_output |= array.role != Role::input;
    array.is_zeroed = std::find(zeroed_arrays_.begin(), zeroed_arrays_.end(), name) != zeroed_arrays_.end();
    if (array.is_zeroed && array.role != Role::output && !array.is_workspace)
      refuse(node,
             key +
                 " is in zeroed, but only an output, a workspace or a __device__ variable can be zeroed "
                 "before the launches.");
  }
  if (!has_output)
    refuse(given,
           "No array is an output, so there is nothing to check; give one role = \"output\" or \"inout\".");
  if (dtypes.empty()) dtypes = {from_pointers.empty() ? "f32" : from_pointers.front()};
  if (dtypes.size() == 1)
    for (DescribedArray& array : made_.arrays)
      if (array.dtype == dtypes.front()) array.dtype.clear();
}

void DescriptionReader::gather(const toml::node& node, std::string& words) {
  if (const auto* text = node.as_string()) words += " " + text->get() + " ";
  if (const toml::array* all = node.as_array())
    for (const toml::node& one : *all) gather(one, words);
  if (const toml::table* all = node.as_table())
    for (const auto& [key, one] : *all) gather(one, words);
}

void DescriptionReader::must_be_used(const toml::table& root) const {
  std::string words;
  for (const auto& [key, node] : root)
    if (key != "problem" && key != "what" && key != "examples" && key != "companions") gather(node, words);
  for (const std::string& name : also_compiled_in_) words += " " + name + " ";
  if (std::any_of(launches_.begin(), launches_.end(),
                  [](const GivenLaunch& one) { return !one.table->contains("arguments"); }))
    for (const DeclaredKernel& kernel : kernels_)
      for (const DeclaredKernel::Parameter& one : kernel.parameters) words += " " + one.name + " ";
  for (const Parameter& one : made_.parameters) {
    if (one.name != "dtype" && form_of(words, one.name) == ConstantForm::none)
      refuse(root["problem"].as_table()->get(one.name),
             "The parameter " + one.name +
                 " of the problem is used by nothing: no extent, launch, rule or value names it, and it is "
                 "not "
                 "compiled in.");
  }
  if (!made_.type.empty() && form_of(code_, made_.type) == ConstantForm::none)
    refuse(root.get("type"),
           "The type " + made_.type + " does not occur in " + text_.path + "; write it as the kernel does.");
}

void DescriptionReader::must_be_alone() const {
  for (std::size_t at = 0; at < launches_.size() * made_.arrays.size(); ++at) {
    const std::size_t i = at % made_.arrays.size(), n = at / made_.arrays.size();
    const DeclaredKernel& kernel = launches_[n].kernel;
    int times = 0;
    bool is_restrict = false;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
      const DescribedArgument& one = made_.launches[n].arguments[p];
      if (one.type != DescribedArgument::Type::array || one.array != i) continue;
      ++times;
      is_restrict |= kernel.parameters[p].is_restrict;
    }
    if (times > 1 && is_restrict && (made_.arrays[i].role != Role::input || made_.arrays[i].is_workspace))
      refuse(launches_[n].table->get("arguments"),
             "The array " + made_.arrays[i].name + " is written and given to several parameters of " +
                 kernel.name +
                 ", of which one is __restrict__ and promises to be the only one; leave __restrict__ out, "
                 "or give "
                 "another array.");
  }
}

void DescriptionReader::must_be_given(const toml::table& root) const {
  for (std::size_t i = 0; i < made_.arrays.size(); ++i) {
    const auto takes = [i](const DescribedLaunch& launch) {
      return (launch.swap && launch.swap->spare == i) ||
             std::any_of(launch.arguments.begin(), launch.arguments.end(), [i](const DescribedArgument& one) {
               return one.type == DescribedArgument::Type::array && one.array == i;
             });
    };
    if (std::none_of(made_.launches.begin(), made_.launches.end(), takes) &&
        std::none_of(made_.symbols.begin(), made_.symbols.end(),
                     [i](const DescribedSymbol& one) { return one.array == i; }))
      refuse(root["arrays"].as_table()->get(made_.arrays[i].name),
             "The array " + made_.arrays[i].name + " is given to no parameter of the kernel " +
                 made_.launches.front().kernel + (made_.launches.size() > 1 ? " or of those after it" : "") +
                 "; leave it out, or name it in arguments.");
  }
}

void DescriptionReader::parse_extents(const toml::table& root, DescribedArray& array) const {
  const toml::node* node = root.get("arrays")->as_table()->get(array.name);
  if (node->is_table()) {
    if (const toml::node* values = node->as_table()->get("values"))
      array.is_of_structs() ? read_member_values(*values, "The array " + array.name, array)
                            : read_values(*values, "The array " + array.name, array);
    node = node->as_table()->get("extents");
  }
  const std::vector<ExpressionName> of_problem = problem_names();
  const auto add = [&](const toml::node& one) {
    if (array.is_workspace) {
      array.extents.push_back(expression(one, "extents", made_.names()));
      return;
    }
    if (one.is_string())
      for (const DescribedAxis& axis : made_.axes)
        if (find_word(one.as_string()->get(), axis.name) != std::string::npos)
          refuse(&one, "The extent " + shown(one) + " of " + array.name + " names the axis " + axis.name +
                           ", so what " + array.name +
                           " holds would depend on the config, and could not be compared. Give it role = "
                           "\"workspace\", and add a [[launch]] that makes an output of it.");
    array.extents.push_back(expression(one, "extents", of_problem));
  };
  if (!node->is_array()) {
    add(*node);
  } else {
    for (const toml::node& one :
         list(*node, "The extents of " + array.name, "expressions, the outermost first"))
      add(one);
  }
  if (array.lanes > 1)
    array.extents.push_back(IntegerExpression::parse(std::to_string(array.lanes), of_problem));
}

}  // namespace tunesmith
