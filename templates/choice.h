// SPDX-License-Identifier: Apache-2.0
// A category of a problem or of a config as an enumeration. Its names are listed once, next to it, in the
// order of its values, which begin with 0:
//   enum class Results : std::int32_t { each, sum, norm };
//   constexpr auto names_of(Results) { return std::to_array<std::string_view>({"each", "sum", "norm"}); }
// The last values may have no name; problems cannot ask for these.
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

/// The names, in the library once: a look-up makes no array of them. The symbol is hidden, since a program
/// offers a visible one to every library that it loads.
template <NamedEnumeration E>
inline constexpr auto all_names [[gnu::visibility("hidden")]] = names_of(E());

/// The names for Parameter::categories or, with Text = Value, for an axis's values.
template <NamedEnumeration E, typename Text = std::string>
std::vector<Text> choices() {
  std::vector<Text> all;
  all.reserve(all_names<E>.size());
  for (const std::string_view name : all_names<E>) all.emplace_back(std::string(name));
  return all;
}

template <NamedEnumeration E>
constexpr std::string_view name_of(E value) {
  return all_names<E>.at(static_cast<std::size_t>(value));
}

/// The value with a name; nothing if no value has it.
template <NamedEnumeration E>
constexpr std::optional<E> named(std::string_view name) {
  const auto place = std::find(all_names<E>.begin(), all_names<E>.end(), name);
  if (place == all_names<E>.end()) return std::nullopt;
  return static_cast<E>(place - all_names<E>.begin());
}

/// The value with a name. Throws Error if there is none; the message names the `parameter`.
template <NamedEnumeration E>
E choice(std::string_view parameter, std::string_view name) {
  if (const std::optional<E> value = named<E>(name)) return *value;
  throw Error(std::string(parameter) + " is " + std::string(name) + "; allowed are " + listed(choices<E>()) +
              ".");
}

/// The value of a complete problem's parameter, or of a config's axis.
template <NamedEnumeration E>
E choice(const Problem& problem, std::string_view parameter) {
  return choice<E>(parameter, problem.string(parameter));
}
template <NamedEnumeration E>
E choice(const Config& config, const CategoricalAxis& axis) {
  return choice<E>(axis.name, config[axis]);
}

}  // namespace tunesmith
