// SPDX-License-Identifier: Apache-2.0
// A template's space: its axes, and rules that decide which configs are legal. There are two kinds of rules:
// `must`, needed for right results, and `worth`, which marks configs to try early. Limits of a device are
// neither: they are checked on the launches of a config (device_facts.h, `exceeds`).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/config.h"
#include "generator/config_count.h"
#include "generator/values.h"

namespace tunesmith {

/// A condition on the axes that it reads. Its answer may depend on nothing else that changes.
struct Rule {
  const char* why;  ///< a sentence, a literal; shown when a config breaks the rule
  std::function<bool(const Config&)> holds;
  /// Only for conditional() and one_name(): the axis, and the value that stands for all values with the same
  /// effect.
  std::string_view axis = {};
  std::function<Value(const Config&)> name = nullptr;
};

/// Makes a rule for `must`. A conditional axis has an effect only where `is_active` holds; elsewhere its one
/// value is `otherwise`, so that no kernel has two names. `is_active` does not read the axis itself.
Rule conditional(const IntegerAxis& axis, std::int64_t otherwise,
                 std::function<bool(const Config&)> is_active, const char* why);
Rule conditional(const CategoricalAxis& axis, const char* otherwise,
                 std::function<bool(const Config&)> is_active, const char* why);

/// The same for an axis with several values of equal effect: `name` returns the value that stands for a
/// config's own.
Rule one_name(const IntegerAxis& axis, std::function<std::int64_t(const Config&)> name, const char* why);
Rule one_name(const CategoricalAxis& axis, std::function<std::string(const Config&)> name, const char* why);

/// A set of configs. Walks follow the order of the axes, the last axis fastest, so they are deterministic. A
/// rule prunes a walk as soon as the axes that it reads are chosen; no list of these axes is needed. A space
/// may have more configs than any program can list: functions that count, sample or look for one config walk
/// unconnected groups of axes separately and take a second or two at most. Their results do not depend on the
/// method.
class Space {
 public:
  /// Configs are numbered only if there are at most this many raw points.
  static constexpr std::int64_t most_numbered = std::int64_t{1} << 62;

  /// Returns the values of the axes that have to change so that a config of another problem's space means the
  /// same in this one, such as a vector as wide as this problem's arrays allow. The config's values are on
  /// the axes of this space, and it need not be legal here. It is called until nothing changes.
  using Translation = std::function<Values(const Config&)>;

  /// `must`: a config that breaks such a rule would give wrong results, or cannot be compiled or launched on
  /// any device. `worth`: a config that breaks such a rule is legal but unlikely to win here; only a search
  /// reads them. `translation`: null if a config has the same values in the spaces of all problems. Throws
  /// Error if an axis is empty, mixed or named twice.
  explicit Space(std::vector<Axis> axes, std::vector<Rule> must = {}, std::vector<Rule> worth = {},
                 Translation translation = nullptr);

  const std::vector<Axis>& axes() const { return axes_->list; }
  const std::vector<Rule>& must() const { return must_; }
  const std::vector<Rule>& worth() const { return worth_; }
  const Translation& translation() const { return translation_; }

  enum class Subset {
    legal,      ///< all configs that keep every `must`
    promising,  ///< the legal configs that keep every `worth` too
  };

  /// Calls `visit` with every config of the subset until it returns false. It walks all of them, so ask
  /// size() first.
  void each(const std::function<bool(const Config&)>& visit, Subset subset = Subset::legal) const;
  /// The number of configs; estimated by random draws if an exact count would take too long.
  ConfigCount size(Subset subset = Subset::legal) const;
  ConfigCount raw_size() const;  ///< the product of the axes' sizes
  std::int64_t count(Subset subset = Subset::legal) const { return size(subset).saturated(); }
  std::int64_t raw_count() const { return raw_size().saturated(); }
  std::vector<Config> all() const;
  bool is_legal(const Config& config) const { return holds(must_, config); }
  std::size_t broken_worth(const Config& config) const;  ///< the number of `worth` rules that it breaks

  /// A config's position among all raw_count() points, and the inverse: a search remembers a config in eight
  /// bytes.
  bool is_numbered() const { return raw_count() <= most_numbered; }
  std::uint64_t number(const Config& config) const;
  Config config(std::uint64_t number) const;
  Config config(std::span<const std::size_t> indices) const;  ///< `indices`: by axis, the index of its value

  /// Returns up to `size` different configs in random order; the same seed gives the same sample everywhere.
  /// A large space is drawn from, not enumerated. The result is short of min(`size`, size()) only if configs
  /// are too rare to be drawn.
  std::vector<Config> sample(std::size_t size, std::uint64_t seed, Subset subset = Subset::legal) const;

  /// Returns the config of the same kernel whose conditional axes have the values that they must have.
  Config named(Config config) const;

  /// Returns the legal configs that differ from these values in one axis (and in conditional axes that depend
  /// on it), each once. The config of the same kernel comes first if it has another name.
  std::vector<Config> neighbours(const Values& values) const;

  /// Returns the config with these values, legal or not; nothing if an axis has no value or another one.
  std::optional<Config> on_axes(const Values& values) const;

  /// Return the legal config with these values. If there is none, find() returns nothing, legal() throws
  /// UsageError with the reason.
  std::optional<Config> find(const Values& values) const;
  Config legal(const Values& values) const;

  /// Returns the first promising config, else the first legal one, with these values of some axes; nothing if
  /// there is none or it is too rare to be found.
  std::optional<Config> first(const Values& given) const;

  /// Returns why the values are no legal config (unknown or missing axis, value not on the axis, broken
  /// `must`), or nothing.
  std::optional<std::string> why_not(const Values& values) const;

  /// Completes `given` with the first values of the other axes that make a promising config, else a legal
  /// one. Throws UsageError with the reason if there is none.
  Config complete(const Values& given) const;

 private:
  class Walk;
  class Groups;
  std::vector<const Rule*> rules(Subset subset) const;
  bool holds(const std::vector<Rule>& rules, const Config& config) const;
  std::optional<std::string> why_not_on_axes(const Values& values) const;
  std::optional<Config> first(const Values& given, Subset subset) const;

  std::shared_ptr<const Config::Axes> axes_;
  std::vector<Rule> must_;
  std::vector<Rule> worth_;
  Translation translation_;
};

/// Returns the first config, one config for every value of every axis that a legal config can have, and
/// `random` random ones; each once. If the axes have more than most_covered values together, evenly spread
/// values stand for all.
inline constexpr std::size_t most_covered = 1000;
std::vector<Config> covering_configs(const Space& space, std::size_t random, std::uint64_t seed);

}  // namespace tunesmith
