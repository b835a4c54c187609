// The axes of a template, the rules that bind them, and the walks over the legal configs. Device limits are
// not rules: they belong to a device and are checked on the launches that a config leads to (op.h,
// `exceeds`).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "generator/values.h"

namespace tunesmith {

struct Axis {
  std::string name;           ///< UPPER_CASE, the same word in kernel, database and CLI
  std::vector<Value> values;  ///< all of one kind; at least one
  std::string what;           ///< half a sentence for people
};

/// An axis's values that are words.
inline std::vector<Value> words(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

struct Rule {
  std::string why;                ///< a sentence; shown when a config breaks the rule
  std::vector<std::string> axes;  ///< the axes that `holds` reads, so that a walk can prune early
  std::function<bool(const Config&)> holds;
};

/// A set of configs. Walks go in the order of the axes, the last axis fastest, so they are deterministic.
class Space {
 public:
  /// Throws Error if an axis is empty, mixed or named twice, or a rule reads an unknown axis.
  Space(std::vector<Axis> axes, std::vector<Rule> rules);

  const std::vector<Axis>& axes() const { return axes_; }
  const std::vector<Rule>& rules() const { return rules_; }

  /// Calls `visit` with every legal config until it answers false.
  void each(const std::function<bool(const Config&)>& visit) const;

  std::vector<Config> all() const;
  std::int64_t count() const;      ///< legal configs
  std::int64_t raw_count() const;  ///< the product of the axes' sizes

  /// Up to `size` different legal configs in random order; the same seed gives the same sample everywhere.
  std::vector<Config> sample(std::size_t size, std::uint64_t seed) const;

  /// The legal configs that differ from `config` in one axis.
  std::vector<Config> neighbours(const Config& config) const;

  /// Why `config` is not in this space (unknown or missing axis, value not on the axis, broken rule), or
  /// nothing.
  std::optional<std::string> why_not(const Config& config) const;

  /// `given` over the first legal config that agrees with it. Throws UsageError with the reason if there is
  /// none.
  Config complete(const Config& given) const;

 private:
  bool walk(Config& config, std::size_t axis, const std::function<bool(const Config&)>& visit,
            const Config* fixed) const;

  std::vector<Axis> axes_;
  std::vector<Rule> rules_;
  std::vector<std::vector<std::size_t>> rules_at_;  ///< by axis: the rules that can be judged once it is set
};

}  // namespace tunesmith
