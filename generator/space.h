// The axes of a template, the rules that bind them, and the walks over its configs. Rules of two kinds: what
// a config `must` keep to give right results, and what makes it `worth` trying early. Device limits are
// neither: they are checked on the launches that a config leads to (op.h, `exceeds`).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
struct WordAxis : AxisHandle {
  using AxisHandle::AxisHandle;
};

struct Axis {
  Axis(std::string axis, std::vector<Value> its_values, std::string description)
      : name(std::move(axis)), values(std::move(its_values)), what(std::move(description)) {}
  Axis(const AxisHandle& handle, std::vector<Value> its_values, std::string description)
      : Axis(std::string(handle.name), std::move(its_values), std::move(description)) {}

  std::string name;
  std::vector<Value>
      values;        ///< all of one kind; at most 65535; the first is preferred where nothing else decides
  std::string what;  ///< half a sentence for people
};

/// An axis's values that are words.
inline std::vector<Value> words(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

/// One point of a space: for each axis the index of its value. Small, and independent of its space's
/// lifetime.
class Config {
 public:
  Config() = default;  ///< of no axes

  /// Error if the space has no such axis, or its values are of the other kind.
  std::int64_t operator[](const IntegerAxis& axis) const;
  const std::string& operator[](const WordAxis& axis) const;

  std::span<const Axis> axes() const;  ///< of its space
  const Value& value(std::size_t axis) const;
  Values values() const;     ///< in the order of the axes
  std::string text() const;  ///< "BLOCK_X=32 SMEM_LAYOUT=padded"

  /// The same values for the same axes.
  bool operator==(const Config& other) const;

 private:
  friend class Space;
  static constexpr std::size_t most_axes = 24;
  struct Axes {
    std::vector<Axis> list;
    std::vector<std::uint64_t> hashes;
  };

  std::size_t position(const AxisHandle& axis) const;

  std::shared_ptr<const Axes> axes_;
  std::array<std::uint16_t, most_axes> chosen_{};  // by axis: the index of its value
  // While a walk has set only some of the axes: how many, and the first other one that a rule has read.
  std::uint8_t set_ = most_axes;
  mutable std::uint8_t missed_ = most_axes;
};

/// A function of the axes that it reads: what it answers may depend on nothing else that changes.
struct Rule {
  std::string why;  ///< a sentence; shown when a config breaks the rule
  std::function<bool(const Config&)> holds;
};

/// A set of configs. Walks go in the order of the axes, the last axis fastest, so they are deterministic. A
/// rule prunes a walk as soon as the axes that decide it are set; nobody lists them.
class Space {
 public:
  /// `must`: a config that breaks one would give wrong results, or cannot be compiled or launched on any
  /// device. `worth`: a config that breaks one is legal but unlikely to win here; only a search asks. Throws
  /// Error if an axis is empty, mixed or named twice.
  explicit Space(std::vector<Axis> axes, std::vector<Rule> must = {}, std::vector<Rule> worth = {});

  const std::vector<Axis>& axes() const { return axes_->list; }
  const std::vector<Rule>& must() const { return must_; }
  const std::vector<Rule>& worth() const { return worth_; }

  enum class Which {
    legal,      ///< all that keep every `must`
    promising,  ///< of these, those that keep every `worth` too
  };

  /// Calls `visit` with every such config until it answers false.
  void each(const std::function<bool(const Config&)>& visit, Which which = Which::legal) const;
  std::int64_t count(Which which = Which::legal) const;
  std::int64_t raw_count() const;  ///< the product of the axes' sizes
  std::vector<Config> all() const;
  std::size_t broken_worth(const Config& config) const;  ///< how many of the `worth` rules it breaks

  /// A config's position among all raw_count() points, and back: eight bytes for what a search remembers.
  std::uint64_t number(const Config& config) const;
  Config config(std::uint64_t number) const;

  /// Up to `size` different legal configs in random order; the same seed gives the same sample everywhere. A
  /// large space is drawn from, not enumerated.
  std::vector<Config> sample(std::size_t size, std::uint64_t seed) const;

  /// The legal configs that differ from these values in one axis.
  std::vector<Config> neighbours(const Values& values) const;

  /// The legal config that has these values; the second throws UsageError with the reason if there is none.
  std::optional<Config> find(const Values& values) const;
  Config legal(const Values& values) const;

  /// Why they are none (unknown or missing axis, value not on the axis, broken `must`), or nothing.
  std::optional<std::string> why_not(const Values& values) const;

  /// `given`, and for the other axes the first values that make a promising config, else a legal one. Throws
  /// UsageError with the reason if there is none.
  Config complete(const Values& given) const;

 private:
  struct Walk;
  bool holds(const std::vector<Rule>& rules, const Config& config) const;
  std::optional<std::string> why_not_on_axes(const Values& values) const;
  std::optional<Config> first(const Values& given, Which which) const;

  std::shared_ptr<const Config::Axes> axes_;
  std::vector<Rule> must_;
  std::vector<Rule> worth_;
};

}  // namespace tunesmith
