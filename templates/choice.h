// SPDX-License-Identifier: Apache-2.0
// A category of a problem or of a config as an enumeration. Its names stand once, beside it, in the order of
// its values, which begin with 0:
//   enum class Results : std::int32_t { each, sum, norm };
//   constexpr auto names_of(Results) { return std::to_array<std::string_view>({"each", "sum", "norm"}); }
// The last values may be without a name: what no problem can ask for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "generator/config.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/problem.h"

namespace tunesmith {

template <typename E>
concept NamedEnumeration =
    std::is_enum_v<E> && std::is_convertible_v<decltype(names_of(E()).front()), std::string_view>;

/// As Parameter::categories; or, of Value, as an axis's values.
template <NamedEnumeration E, typename Text = std::string>
std::vector<Text> choices() {
  std::vector<Text> all;
  for (const std::string_view name : names_of(E())) all.emplace_back(std::string(name));
  return all;
}

template <NamedEnumeration E>
constexpr std::string_view name_of(E value) {
  return names_of(value).at(static_cast<std::size_t>(value));
}

/// Nothing if no value has the name.
template <NamedEnumeration E>
constexpr std::optional<E> named(std::string_view name) {
  const auto names = names_of(E());
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) return std::nullopt;
  return static_cast<E>(place - names.begin());
}

/// The value of that name; throws Error if there is none, and says which `parameter` has it.
template <NamedEnumeration E>
E choice(std::string_view parameter, std::string_view name) {
  if (const std::optional<E> value = named<E>(name)) return *value;
  throw Error(std::string(parameter) + " is " + std::string(name) + "; allowed are " + listed(choices<E>()) +
              ".");
}

/// What a complete problem's parameter says, or a config's axis.
template <NamedEnumeration E>
E choice(const Problem& problem, std::string_view parameter) {
  return choice<E>(parameter, problem.string(parameter));
}
template <NamedEnumeration E>
E choice(const Config& config, const CategoricalAxis& axis) {
  return choice<E>(axis.name, config[axis]);
}

}  // namespace tunesmith
