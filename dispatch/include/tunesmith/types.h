// SPDX-License-Identifier: Apache-2.0
// Element types, as the typed functions of all ops name them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tunesmith/version.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// Element types. Each op's header says which of them it takes. f16 and bf16 have no type in C++: their
/// arrays are given as void*.
enum class ElementType { f32, f64, i32, i64, f16, bf16, u8, u16, i16, i8 };

/// An element type by its enumerator or by its name: ElementType::f16, "f16".
struct ElementName {
  constexpr ElementName(ElementType type)  // NOLINT: stands where either does
      : text(std::array<std::string_view, 10>{"f32", "f64", "i32", "i64", "f16", "bf16", "u8", "u16", "i16",
                                              "i8"}
                 .at(static_cast<std::size_t>(type))) {}
  template <std::convertible_to<std::string_view> Text>
  constexpr ElementName(const Text& name) : text(name) {}  // NOLINT: likewise

  std::string_view text;
};

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);

/// The ElementType of a C++ type.
template <
    OneOf<float, double, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::int16_t, std::int8_t>
        T>
inline constexpr ElementType element_type = std::is_same_v<T, float>           ? ElementType::f32
                                            : std::is_same_v<T, double>        ? ElementType::f64
                                            : std::is_same_v<T, std::int32_t>  ? ElementType::i32
                                            : std::is_same_v<T, std::int64_t>  ? ElementType::i64
                                            : std::is_same_v<T, std::uint8_t>  ? ElementType::u8
                                            : std::is_same_v<T, std::uint16_t> ? ElementType::u16
                                            : std::is_same_v<T, std::int16_t>  ? ElementType::i16
                                                                               : ElementType::i8;

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
