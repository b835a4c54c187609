// SPDX-License-Identifier: Apache-2.0
// The axes of a template, and a config: one value of each.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/values.h"

namespace tunesmith {

/// By which rules and works read a config: `config[BLOCK_X]`. A handle is a constant beside the template, so
/// that a misspelt axis does not compile. Its name is the same word in kernel, database and CLI, UPPER_CASE.
struct AxisHandle {
  constexpr explicit AxisHandle(std::string_view axis) : name(axis), hash(hash_of(axis)) {}
  /// FNV-1a, so that a look-up compares integers.
  static constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
  }
  std::string_view name;
  std::uint64_t hash;
};
struct IntegerAxis : AxisHandle {
  using AxisHandle::AxisHandle;
};
struct CategoricalAxis : AxisHandle {
  using AxisHandle::AxisHandle;
};

struct Axis {
  Axis(std::string axis, std::vector<Value> its_values, const char* description)
      : name(std::move(axis)), values(std::move(its_values)), what(description) {}
  Axis(const AxisHandle& handle, std::vector<Value> its_values, const char* description)
      : Axis(std::string(handle.name), std::move(its_values), description) {}

  std::string name;
  std::vector<Value>
      values;        ///< all of one kind; at most 65535; the first is preferred where nothing else decides
  const char* what;  ///< half a sentence for people, a literal: spaces are made for every plan
};

/// The values of a categorical axis.
inline std::vector<Value> categories(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

/// One point of a space: for each axis the index of its value. Small, and independent of its space's
/// lifetime.
class Config {
 public:
  Config() = default;  ///< of no axes

  /// Error if the space has no such axis, or its values are of the other kind.
  std::int64_t operator[](const IntegerAxis& axis) const;
  const std::string& operator[](const CategoricalAxis& axis) const;

  std::span<const Axis> axes() const;  ///< of its space
  const Value& value(std::size_t axis) const;
  std::size_t index(std::size_t axis) const {  ///< of its value on the axis
    note_read(axis);
    return chosen_[axis];
  }
  Values values() const;     ///< in the order of the axes
  std::string text() const;  ///< "BLOCK_X=32 SMEM_LAYOUT=padded"

  /// The same values for the same axes.
  bool operator==(const Config& other) const;

  /// Of two configs of one space: which comes first in a walk.
  struct WalkOrder {
    bool operator()(const Config& a, const Config& b) const { return a.chosen_ < b.chosen_; }
  };

  /// False only while a walk judges a config of which it has not chosen this axis yet.
  bool is_chosen(std::size_t axis) const { return (set_ >> axis & 1U) != 0; }

 private:
  friend class Space;
  static constexpr std::size_t most_axes = 24;
  struct Axes {
    std::vector<Axis> list;
    std::vector<std::uint64_t> hashes;
    std::array<std::uint8_t, 256> places{};  // by the hash: where to look first; rules look a thousand times
  };

  static constexpr std::uint32_t all_axes = ~std::uint32_t{0};

  std::size_t position(const AxisHandle& axis) const;
  void note_read(std::size_t axis) const {
    if (!is_chosen(axis)) missed_ |= std::uint32_t{1} << axis;
  }

  std::shared_ptr<const Axes> axes_;
  std::array<std::uint16_t, most_axes> chosen_{};  // by axis: the index of its value
  // While a walk has chosen only some of the axes: which, and the others that a rule has read. One bit each.
  std::uint32_t set_ = all_axes;
  mutable std::uint32_t missed_ = 0;
};

}  // namespace tunesmith
