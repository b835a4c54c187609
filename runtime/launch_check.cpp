// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_check.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace tunesmith {
namespace {

ParameterFacts facts_of(const KernelArgument& argument) {
  const ParameterKind kind = std::visit(
      []<typename Type>(const Type& /*value*/) {
        if constexpr (std::is_floating_point_v<Type>) return ParameterKind::floating;
        if constexpr (std::is_integral_v<Type>) return ParameterKind::integer;
        return is_array<Type> || std::is_same_v<Type, BoxedArray> ? ParameterKind::array
                                                                  : ParameterKind::pointer;
      },
      argument);
  return {argument_bytes(argument), kind};
}

// True if an int is the argument of a narrower integer that can hold it: the parameter takes its low bytes.
// `tells_kinds`: a parameter of an unknown kind is then no integer, but a struct such as a half.
bool is_narrowed(const KernelArgument& argument, const ParameterFacts& taken, bool tells_kinds) {
  const auto* value = std::get_if<std::int32_t>(&argument);
  if (value == nullptr || taken.bytes > 2 || taken.bytes < 1) return false;
  if (taken.kind != ParameterKind::integer && (taken.kind != ParameterKind::unknown || tells_kinds))
    return false;
  const std::int64_t values = std::int64_t{1} << (8 * taken.bytes);
  return *value >= -values / 2 && *value < values;
}

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Returns "a pointer", "an 8-byte integer", "a 4-byte float".
std::string described(const ParameterFacts& facts) {
  const std::string size = (facts.bytes == 8 ? "an " : "a ") + std::to_string(facts.bytes) + "-byte ";
  switch (facts.kind) {
    case ParameterKind::pointer:
      return "a pointer";
    case ParameterKind::integer:
      return size + "integer";
    case ParameterKind::floating:
      return facts.bytes == 4 ? "a float" : facts.bytes == 8 ? "a double" : size + "floating-point number";
    case ParameterKind::array:
      return "an array of " + std::to_string(facts.bytes) + " bytes";
    case ParameterKind::unknown:
      break;
  }
  return size + "value";
}

}  // namespace

std::optional<std::string> parameter_mismatch(const std::string& kernel,
                                              std::span<const KernelArgument> given,
                                              std::span<const ParameterFacts> taken) {
  if (given.size() != taken.size()) {
    return "The kernel " + kernel + " takes " + count_of(taken.size(), "parameter") +
           ", but its launch gives " + count_of(given.size(), "argument") +
           "; in the work of its template, give one argument per parameter, in the kernel's order.";
  }
  const bool tells_kinds = std::any_of(taken.begin(), taken.end(), [](const ParameterFacts& facts) {
    return facts.kind != ParameterKind::unknown;
  });
  for (std::size_t n = 0; n < given.size(); ++n) {
    const ParameterFacts argument = facts_of(given[n]);
    const bool known = taken[n].kind != ParameterKind::unknown;
    if (argument.bytes == taken[n].bytes && (!known || argument.kind == taken[n].kind)) continue;
    if (is_narrowed(given[n], taken[n], tells_kinds)) continue;
    return "Parameter " + std::to_string(n + 1) + " of " + std::to_string(taken.size()) + " of the kernel " +
           kernel + " is " + described(taken[n]) + ", but its launch gives " + described(argument) +
           "; make the two agree, in the work of its template or in the kernel.";
  }
  return std::nullopt;
}

std::optional<std::string> place_mismatch(const Launch& launch) {
  for (std::size_t n = 0; n < launch.numbers.size(); ++n) {
    const int place = launch.numbers[n];
    if (place < 0) continue;
    const bool is_number =
        n < launch.arguments.size() && (std::holds_alternative<double>(launch.arguments[n]) ||
                                        std::holds_alternative<std::int32_t>(launch.arguments[n]));
    if (is_number && static_cast<std::size_t>(place) < LaunchNumbers::most) continue;
    return "Argument " + std::to_string(n + 1) + " of the kernel " + launch.kernel + " has place " +
           std::to_string(place) +
           " among the numbers of a launch; in the work of its template, give places of 0 to " +
           std::to_string(LaunchNumbers::most - 1) + " to doubles and 4-byte integers alone.";
  }
  return std::nullopt;
}

std::optional<std::string> too_many_boxes(const Launch& launch) {
  const auto boxes = std::count_if(
      launch.arguments.begin(), launch.arguments.end(),
      [](const KernelArgument& argument) { return std::holds_alternative<BoxedArray>(argument); });
  if (static_cast<std::size_t>(boxes) <= BoxedArray::most_of_launch) return std::nullopt;
  return "The kernel " + launch.kernel + " copies boxes of " + std::to_string(boxes) + " arrays; at most " +
         std::to_string(BoxedArray::most_of_launch) + " are supported.";
}

bool may_overlap(const Launch& launch, bool after_kernel, int code_capability) {
  return launch.overlaps_previous && after_kernel && code_capability >= 90;
}

}  // namespace tunesmith
