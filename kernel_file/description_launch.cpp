// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "generator/error.h"
#include "generator/listed.h"
#include "kernel_file/c_type.h"
#include "kernel_file/description_reader.h"

namespace tunesmith {
namespace {

std::optional<DescribedArgument::Type> scalar_of_type(const CType& type) {
  using Type = DescribedArgument::Type;
  if (!type.dtype || type.lanes > 1 || type.is_pointer_to_pointer) return std::nullopt;
  switch (*type.dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
      return Type::int32;
    case DType::i64:
    case DType::u64:
      return Type::int64;
    case DType::f32:
      return Type::f32;
    case DType::f64:
      return Type::f64;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::pair<std::int64_t, std::int64_t> limits_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return {0, 1};
    case DType::i8:
      return {-128, 127};
    case DType::u8:
      return {0, 255};
    case DType::i16:
      return {-32768, 32767};
    case DType::u16:
      return {0, 65535};
    case DType::u32:
      return {0, std::numeric_limits<std::uint32_t>::max()};
    case DType::i64:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    case DType::u64:
      return {0, std::numeric_limits<std::int64_t>::max()};
    default:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  }
}

std::vector<IntegerExpression> DescriptionReader::extent(const toml::table* given, const std::string& key,
                                                         const std::string& of,
                                                         const std::vector<ExpressionName>& names) const {
  const toml::node* node = given != nullptr ? given->get(key) : nullptr;
  if (node == nullptr)
    refuse(given,
           "[" + of + "] has no " + key + "; add " + key + " = [\"…\"], its x, y and z as expressions.");
  std::vector<IntegerExpression> all;
  if (!node->is_array()) return {expression(*node, key, names)};
  for (const toml::node& one : list(*node, key, "one to three expressions"))
    all.push_back(expression(one, key, names));
  if (all.size() > 3)
    refuse(node, key + " has " + std::to_string(all.size()) + " expressions; give x, y and z at most.");
  return all;
}

DescribedLaunch DescriptionReader::launch(const toml::table* given, const std::string& of,
                                          const DeclaredKernel& kernel) const {
  DescribedLaunch made;
  made.kernel = kernel.name;
  const bool is_reference = of == "reference";
  std::vector<std::string> known = {"kernel", "instantiate", "grid", "block", "shared_bytes", "arguments"};
  const std::vector<std::string> more = is_reference ? std::vector<std::string>{"function"}
                                                     : std::vector<std::string>{"repeat", "together", "swap"};
  known.insert(known.end(), more.begin(), more.end());
  if (given != nullptr) only_keys(*given, "[" + of + "]", known);
  if (!is_reference && given != nullptr) read_repeat(*given, made);
  const bool counts = made.repeat || made.is_together;
  const std::vector<ExpressionName> names = counts ? made_.names_with_step() : made_.names();
  const bool by_element =
      is_reference && given != nullptr && !given->contains("grid") && !given->contains("block");
  if (!by_element) {
    made.grid = extent(given, "grid", of, names);
    made.block = extent(given, "block", of, names);
    if (const toml::node* node = given->get("shared_bytes"))
      made.shared_bytes = expression(*node, "shared_bytes", names);
  }
  const toml::node* node = given != nullptr ? given->get("arguments") : nullptr;
  if (node == nullptr) {
    for (const DeclaredKernel::Parameter& one : kernel.parameters)
      made.arguments.push_back(argument(nullptr, one, one.name, kernel, names));
    return made;
  }
  const toml::array* all = node->as_array();
  if (all == nullptr || all->size() != kernel.parameters.size()) {
    refuse(node, "The kernel " + kernel.name + " has " + std::to_string(kernel.parameters.size()) +
                     " parameters, but arguments " +
                     (all == nullptr ? "is " + shown(*node) : "gives " + std::to_string(all->size())) +
                     "; give one for each, in the kernel's order.");
  }
  for (std::size_t i = 0; i < all->size(); ++i) {
    const toml::node& one = (*all)[i];
    if (one.is_string() || one.is_table()) {
      made.arguments.push_back(
          argument(&one, kernel.parameters[i], one.is_string() ? one.as_string()->get() : "", kernel, names));
      continue;
    }
    const DeclaredKernel::Parameter& parameter = kernel.parameters[i];
    DescribedArgument constant = argument(&one, parameter, "0", kernel, names);
    constant.number = number(
        one, "The argument " + parameter.name + " of " + kernel.name,
        constant.type == DescribedArgument::Type::dtype || constant.type == DescribedArgument::Type::type_axis
            ? std::nullopt
            : c_type(parameter.type, code_).dtype);
    made.arguments.push_back(std::move(constant));
  }
  return made;
}

DescribedNumber DescriptionReader::number(const toml::node& node, const std::string& which,
                                          std::optional<DType> dtype) const {
  if (node.is_boolean() && dtype == DType::boolean)
    return {.expression = IntegerExpression::constant(node.as_boolean()->get() ? 1 : 0)};
  const auto* const whole = node.as_integer();
  const bool is_whole_type = dtype && is_whole(*dtype);
  if (!node.is_number() || (is_whole_type && whole == nullptr))
    refuse(&node, which + " is " + shown(node) + "; give an expression in quotes, or a number of its type.");
  if (whole != nullptr) {
    if (is_whole_type) {
      const auto [least, most] = limits_of(*dtype);
      if (whole->get() < least || whole->get() > most)
        refuse(&node, which + " is " + shown(node) + "; its type " + std::string(tunesmith::name(*dtype)) +
                          " holds numbers from " + std::to_string(least) + " to " + std::to_string(most) +
                          ".");
    }
    return {.expression = IntegerExpression::constant(whole->get())};
  }
  const double value = real(node, which, std::numeric_limits<double>::lowest());
  if (dtype == DType::f32 && std::abs(value) > std::numeric_limits<float>::max())
    refuse(&node, which + " is " + shown(node) + "; its type float holds numbers up to 3.4028235e38.");
  return {.real = value};
}

void DescriptionReader::must_fit(const toml::node* node, const std::string& which,
                                 const DeclaredKernel::Parameter& parameter,
                                 const DescribedArray& array) const {
  if (array.dtype.empty() && is_of_problem(parameter)) return;
  if (const std::string axis = type_axis_of(parameter); !axis.empty() || !array.type_axis.empty()) {
    const bool is_of_reference = axis.empty() && !array.is_workspace;  // it takes the array as it is
    if (axis == array.type_axis) return;
    if (!is_of_reference)
      refuse(node, which + " is " + parameter.type + ", and the array " + array.name + " has the type " +
                       (array.type_axis.empty() ? "that its dtype says" : array.type_axis) +
                       "; both take the type of one axis, or none.");
  }
  const std::vector<std::string> possible =
      array.dtype.empty() ? made_.parameters.back().categories : std::vector<std::string>{array.dtype};
  for (const std::string& dtype : possible) {
    const std::string why = why_not(parameter, dtype);
    if (!why.empty())
      refuse(node, which + " is " + why + " The array " + array.name + " has the dtype " + dtype + ".");
  }
}

DescribedArgument DescriptionReader::argument(const toml::node* node,
                                              const DeclaredKernel::Parameter& parameter,
                                              const std::string& words, const DeclaredKernel& kernel,
                                              const std::vector<ExpressionName>& names) const {
  DescribedArgument made;
  const auto place = &parameter - kernel.parameters.data();
  const std::string which = "The parameter " +
                            (parameter.name.empty() ? std::to_string(place + 1) : parameter.name) + " of " +
                            kernel.name;
  if (node == nullptr && parameter.name.empty())
    refuse(node, which + " has no name, so what it is given is not known; give it a name, or give " +
                     "arguments = [\"…\"] in the kernel's order.");
  if (node != nullptr && node->is_table() && parameter.is_pointer)
    refuse(node,
           which + " is a pointer, and its argument is a table; a table gives the members of a struct.");
  if (parameter.is_pointer) {
    refuse_pointers(node, which + " is of the type", parameter);
    const auto found = std::find_if(made_.arrays.begin(), made_.arrays.end(),
                                    [&](const DescribedArray& one) { return one.name == words; });
    if (found == made_.arrays.end()) {
      std::vector<std::string> arrays;
      for (const DescribedArray& one : made_.arrays) arrays.push_back(one.name);
      refuse(node, which + " is a pointer, and " + words + " is not an array; the arrays are " +
                       listed(arrays) +
                       (node == nullptr
                            ? ". Name it so in [arrays], or give arguments = [\"…\"] in the kernel's order."
                            : "."));
    }
    made.array = static_cast<std::size_t>(found - made_.arrays.begin());
    made.type_axis = type_axis_of(parameter);
    must_fit(node, which, parameter, *found);
    const bool is_alone = launches_.size() == 1 && kernel.name == launches_.front().kernel.name;
    if (parameter.is_const && found->role != Role::input && is_alone)
      refuse(node, which + " is const, so the kernel cannot write it, but the array " + words +
                       " has the role " + std::string(name(found->role)) + ".");
    return made;
  }
  const CType found = c_type(parameter.type, code_);
  const bool is_decided =
      !found.ambiguity.empty() && dtype_is_given_ && made_.parameters.back().categories.size() == 1;
  made.type_axis = type_axis_of(parameter);
  const auto type = !made.type_axis.empty()                  ? DescribedArgument::Type::type_axis
                    : is_of_problem(parameter) || is_decided ? DescribedArgument::Type::dtype
                                                             : scalar_of_type(found);
  if (!found.ambiguity.empty() && type != DescribedArgument::Type::dtype &&
      type != DescribedArgument::Type::type_axis) {
    refuse(node, which + " has the type \"" + parameter.type + "\", and " + found.ambiguity +
                     ": which one is compiled is not known here. Give the parameter one of them.");
  }
  if (!type) {
    const StructLayout layout = struct_layout(parameter.type, code_);
    if (!layout.why.empty())
      refuse(node, which + " has the type " + parameter.type + ", a struct that " + layout.why + ".");
    if (!layout.members.empty()) return record(node, parameter, layout, kernel, names);
    refuse(node, which + " has the type \"" + parameter.type +
                     "\", which cannot be given; pointers, bool, integers, float, double and structs of "
                     "these numbers can.");
  }
  if (node != nullptr && node->is_table())
    refuse(node, which + " has the type " + parameter.type +
                     ", and its argument is a table; a table gives the members of a struct.");
  made.type = *type;
  if (made.type == DescribedArgument::Type::int32 || made.type == DescribedArgument::Type::int64)
    std::tie(made.least, made.most) = limits_of(*found.dtype);
  for (const DescribedArray& one : made_.arrays)
    if (one.name == words) refuse(node, which + " is not a pointer, but " + words + " is an array.");
  try {
    made.number.expression = IntegerExpression::parse(words, names);
  } catch (const UsageError& error) {
    refuse(node, std::string(error.what()) + (node == nullptr
                                                  ? " It stands for " + which.substr(4) +
                                                        "; give arguments = [\"…\"] in the kernel's order."
                                                  : ""));
  }
  return made;
}

DescribedArgument DescriptionReader::record(const toml::node* node,
                                            const DeclaredKernel::Parameter& parameter,
                                            const StructLayout& layout, const DeclaredKernel& kernel,
                                            const std::vector<ExpressionName>& allowed) const {
  const std::string which = "the struct " + parameter.name + " of " + kernel.name;
  std::string form, names;
  for (const StructMember& member : layout.members) {
    form += (form.empty() ? "{ " : ", ") + member.name + (member.count > 0 ? " = [\"…\"]" : " = \"…\"");
    names += (names.empty() ? "" : ", ") + member.name;
  }
  form += " }";
  if (node != nullptr && !node->is_table())
    refuse(node, "The argument of " + which + " is " + shown(*node) + "; give its members: " + form + ".");
  const toml::table* const given = node == nullptr ? nullptr : node->as_table();
  if (given != nullptr) {
    for (const auto& [key, value] : *given) {
      const std::string name(key.str());
      if (std::none_of(layout.members.begin(), layout.members.end(),
                       [&](const StructMember& member) { return member.name == name; }))
        refuse(&value, parameter.type + " has no member " + name + "; it has " + names + ".");
    }
  }
  DescribedArgument made;
  made.type = DescribedArgument::Type::record;
  made.record_type = parameter.type.starts_with("struct ") ? parameter.type.substr(7)
                                                           : parameter.type;  // as in Type::member
  made.layout = layout;
  for (const StructMember& member : layout.members) {
    const toml::node* const value = given == nullptr ? nullptr : given->get(member.name);
    if (given != nullptr && value == nullptr)
      refuse(node,
             "The argument of " + which + " lacks " + member.name + "; give all members: " + form + ".");
    const std::int64_t size = bytes(member.dtype);
    const auto add = [&](const toml::node* one, std::int64_t element) {
      DescribedMember added{member.name, member.offset + element * size, member.dtype};
      if (one == nullptr) {
        try {
          added.number.expression = IntegerExpression::parse(member.name, allowed);
        } catch (const UsageError& error) {
          refuse(node, std::string(error.what()) + " It stands for a member of " + which +
                           "; give arguments = [\"…\"] in the kernel's order, with " + form +
                           " for this one.");
        }
      } else if (one->is_string()) {
        added.number.expression = expression(*one, member.name, allowed);
      } else {
        added.number = number(*one, "The member " + member.name + " of " + which, member.dtype);
      }
      made.members.push_back(std::move(added));
    };
    if (member.count == 0) {
      add(value, 0);
      continue;
    }
    const toml::array* const all = value == nullptr ? nullptr : value->as_array();
    if (all == nullptr || static_cast<std::int64_t>(all->size()) != member.count)
      refuse(value == nullptr ? node : value, "The member " + member.name + " of " + which +
                                                  " is an array of " + std::to_string(member.count) +
                                                  "; give a list of as many numbers or expressions: " + form +
                                                  ".");
    for (std::int64_t element = 0; element < member.count; ++element)
      add(&(*all)[static_cast<std::size_t>(element)], element);
  }
  return made;
}

void DescriptionReader::read_reference(const toml::table& root, const std::vector<std::string>& dtypes) {
  const toml::table* given = table(root, "reference");
  if (given == nullptr) return;
  if (const toml::node* function = given->get("function")) return read_function(*given, *function);
  const toml::node* name = given->get("kernel");
  if (name == nullptr)
    refuse(given,
           "[reference] has no kernel and no function; add kernel = \"…\" or function = \"…\", or leave "
           "[reference] out to compare with the untuned kernel.");
  if (std::any_of(launches_.begin(), launches_.end(),
                  [&](const GivenLaunch& one) { return one.kernel.name == text(*name, "kernel"); }))
    refuse(name, "The reference is the tuned kernel itself; leave [reference] out for that.");
  const Instantiate of_reference = instantiate_of(given->get("instantiate"));
  const DeclaredKernel kernel =
      instantiated(root, given, kernel_of(name, text(*name, "kernel"), of_reference), of_reference, dtypes);
  made_.reference = launch(given, "reference", kernel);
  made_.has_reference = true;
}

void DescriptionReader::read_function(const toml::table& given, const toml::node& node) {
  for (const char* other : {"kernel", "grid", "block", "shared_bytes", "instantiate"}) {
    if (given.contains(other))
      refuse(given.get(other), std::string("[reference] has a function and ") + other +
                                   "; a function is called once, on the host. Leave one of them out.");
  }
  const std::string name = text(node, "function");
  // The function may be inside #ifndef TUNESMITH, because a kernel does not need it.
  std::optional<HostFunction> found;
  if (is_identifier(name)) found = function_of(compiled_.front(), name);
  if (is_identifier(name) && !found) found = function_of(text_.cu, name);
  if (!found) {
    refuse(&node, "The function " + shown(node) + " of [reference] is not defined in " + text_.path +
                      "; give the name of one, as in void " + (is_identifier(name) ? name : "reference") +
                      "(const float* x, float* y, int n) { … }.");
  }
  if (const int other = found->declared.other_line; other > 0) {
    refuse(&node, "The function " + name + " of [reference] is defined in line " +
                      std::to_string(found->declared.line) + " and in line " + std::to_string(other) +
                      "; which of them is compiled is not known here, so leave one of them.");
  }
  if (found->returns != "void") {
    refuse(&node, "The function " + name + " of [reference], line " + std::to_string(found->declared.line) +
                      ", is declared as \"" + found->returns + "\"; make it plain void.");
  }
  made_.reference = launch(&given, "reference", found->declared);
  for (const DescribedArgument& one : made_.reference.arguments) {
    if (one.type == DescribedArgument::Type::array && made_.arrays[one.array].is_workspace)
      refuse(&node, "The function " + name + " takes the workspace " + made_.arrays[one.array].name +
                        ", which only a kernel gets; let the function allocate its own memory.");
    if (one.type == DescribedArgument::Type::record)
      refuse(&node, "The function " + name + " of [reference] takes the struct " + one.record_type +
                        ", which it does not know where it is compiled alone; give it numbers.");
  }
  made_.reference_function = found;
  made_.has_reference = true;
}

}  // namespace tunesmith
