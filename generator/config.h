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

/// A constant by which rules and works read an axis of a config: `config[BLOCK_X]`. A misspelt handle does
/// not compile. Its name is the same word in kernel, database and CLI, UPPER_CASE.
struct AxisHandle {
  constexpr explicit AxisHandle(std::string_view axis) : name(axis), hash(hash_of(axis)) {}
  /// FNV-1a hash of the name, so that a look-up compares integers.
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
  std::vector<Value> values;  ///< all integers or all texts; at most 65535; the first is preferred where
                              ///< nothing else decides
  const char* what;           ///< a phrase for people; a literal, because spaces are made for every plan
};

/// Makes the values of a categorical axis.
inline std::vector<Value> categories(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

/// One point of a space: for each axis the index of its value. It is small, and may outlive its space.
class Config {
 public:
  Config() = default;  ///< a config without axes

  /// The value on the axis. Throws Error if the space has no such axis, or the axis has values of the other
  /// kind.
  std::int64_t operator[](const IntegerAxis& axis) const;
  const std::string& operator[](const CategoricalAxis& axis) const;

  std::span<const Axis> axes() const;  ///< the axes of its space
  const Value& value(std::size_t axis) const;
  std::size_t index(std::size_t axis) const {  ///< the index of its value on the axis
    note_read(axis);
    return chosen_[axis];
  }
  Values values() const;     ///< in the order of the axes
  std::string text() const;  ///< "BLOCK_X=32 SMEM_LAYOUT=padded"

  /// True if both have the same values for the same axes.
  bool operator==(const Config& other) const;

  /// Orders two configs of one space as a walk visits them.
  struct WalkOrder {
    bool operator()(const Config& a, const Config& b) const { return a.chosen_ < b.chosen_; }
  };

  /// False only while a walk judges a config and has not chosen this axis yet.
  bool is_chosen(std::size_t axis) const { return (set_ >> axis & 1U) != 0; }

 private:
  friend class Space;
  static constexpr std::size_t most_axes = 24;
  struct Axes {
    std::vector<Axis> list;
    std::vector<std::uint64_t> hashes;
    std::array<std::uint8_t, 256>
        places{};  // by hash: the place to look first; rules look up axes thousands of times
  };

  static constexpr std::uint32_t all_axes = ~std::uint32_t{0};

  std::size_t position(const AxisHandle& axis) const;
  void note_read(std::size_t axis) const {
    if (!is_chosen(axis)) missed_ |= std::uint32_t{1} << axis;
  }

  std::shared_ptr<const Axes> axes_;
  std::array<std::uint16_t, most_axes> chosen_{};  // by axis: the index of its value
  // For a walk that has chosen only some axes, one bit per axis: `set_` the chosen ones, `missed_` the
  // unchosen ones that a rule has read.
  std::uint32_t set_ = all_axes;
  mutable std::uint32_t missed_ = 0;
};

}  // namespace tunesmith
