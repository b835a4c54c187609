// SPDX-License-Identifier: Apache-2.0
// A template's space: its axes, the rules that bind them, and the configs that keep these. Rules of two
// kinds: what a config `must` keep to give right results, and what makes it `worth` trying early. Device
// limits are neither: they are checked on the launches that a config leads to (device_facts.h, `exceeds`).
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

/// A function of the axes that it reads: what it answers may depend on nothing else that changes.
struct Rule {
  const char* why;  ///< a sentence, a literal; shown when a config breaks the rule
  std::function<bool(const Config&)> holds;
  /// Of conditional() and one_name(): the axis, and the value that stands for all that do the same.
  std::string_view axis = {};
  std::function<Value(const Config&)> name = nullptr;
};

/// For `must`. A conditional axis has an effect only where it `is_active`; elsewhere its one value is
/// `otherwise`, so that no kernel has two names. `is_active` does not read the axis itself.
Rule conditional(const IntegerAxis& axis, std::int64_t otherwise,
                 std::function<bool(const Config&)> is_active, const char* why);
Rule conditional(const CategoricalAxis& axis, const char* otherwise,
                 std::function<bool(const Config&)> is_active, const char* why);

/// The same for an axis some of whose values do the same: `name` gives the one that stands for a config's
/// own.
Rule one_name(const IntegerAxis& axis, std::function<std::int64_t(const Config&)> name, const char* why);
Rule one_name(const CategoricalAxis& axis, std::function<std::string(const Config&)> name, const char* why);

/// A set of configs. Walks go in the order of the axes, the last axis fastest, so they are deterministic. A
/// rule prunes a walk as soon as the axes that decide it are set; nobody lists them. A space may have more
/// configs than any program can list: what counts, samples or looks for one config walks axes that no rule
/// connects apart, and takes a second or two at most. What it finds does not depend on which way it took.
class Space {
 public:
  /// With more raw points than this a config has no number.
  static constexpr std::int64_t most_numbered = std::int64_t{1} << 62;

  /// `must`: a config that breaks one would give wrong results, or cannot be compiled or launched on any
  /// device. `worth`: a config that breaks one is legal but unlikely to win here; only a search asks. Throws
  /// Error if an axis is empty, mixed or named twice.
  explicit Space(std::vector<Axis> axes, std::vector<Rule> must = {}, std::vector<Rule> worth = {});

  const std::vector<Axis>& axes() const { return axes_->list; }
  const std::vector<Rule>& must() const { return must_; }
  const std::vector<Rule>& worth() const { return worth_; }

  enum class Subset {
    legal,      ///< all that keep every `must`
    promising,  ///< of these, those that keep every `worth` too
  };

  /// Calls `visit` with every such config until it answers false. Ask size() first: it walks them all.
  void each(const std::function<bool(const Config&)>& visit, Subset subset = Subset::legal) const;
  /// How many there are; estimated by random draws where the exact number would take too long.
  ConfigCount size(Subset subset = Subset::legal) const;
  ConfigCount raw_size() const;  ///< the product of the axes' sizes
  std::int64_t count(Subset subset = Subset::legal) const { return size(subset).saturated(); }
  std::int64_t raw_count() const { return raw_size().saturated(); }
  std::vector<Config> all() const;
  bool is_legal(const Config& config) const { return holds(must_, config); }
  std::size_t broken_worth(const Config& config) const;  ///< how many of the `worth` rules it breaks

  /// A config's position among all raw_count() points, and back: eight bytes for what a search remembers.
  bool is_numbered() const { return raw_count() <= most_numbered; }
  std::uint64_t number(const Config& config) const;
  Config config(std::uint64_t number) const;
  Config config(std::span<const std::size_t> indices) const;  ///< by axis: the index of its value

  /// Up to `size` different configs in random order; the same seed gives the same sample everywhere. A large
  /// space is drawn from, not enumerated. Fewer than there are only where they are too rare to be drawn.
  std::vector<Config> sample(std::size_t size, std::uint64_t seed, Subset subset = Subset::legal) const;

  /// The config of the same kernel whose conditional axes have the values that they must have.
  Config named(Config config) const;

  /// The legal configs that differ from these values in one axis, and in what that makes of conditional axes;
  /// first the same kernel, if it has another name. Each once.
  std::vector<Config> neighbours(const Values& values) const;

  /// The legal config that has these values; the second throws UsageError with the reason if there is none.
  std::optional<Config> find(const Values& values) const;
  Config legal(const Values& values) const;

  /// The first promising config, else the first legal one, that has these values of some of the axes; nothing
  /// if there is none, or if it is too rare to be found.
  std::optional<Config> first(const Values& given) const;

  /// Why they are none (unknown or missing axis, value not on the axis, broken `must`), or nothing.
  std::optional<std::string> why_not(const Values& values) const;

  /// `given`, and for the other axes the first values that make a promising config, else a legal one. Throws
  /// UsageError with the reason if there is none.
  Config complete(const Values& given) const;

 private:
  class Walk;
  class Groups;
  std::vector<const Rule*> rules(Subset subset) const;
  bool holds(const std::vector<Rule>& rules, const Config& config) const;
  std::optional<Config> on_axes(const Values& values) const;  // rules aside
  std::optional<std::string> why_not_on_axes(const Values& values) const;
  std::optional<Config> first(const Values& given, Subset subset) const;

  std::shared_ptr<const Config::Axes> axes_;
  std::vector<Rule> must_;
  std::vector<Rule> worth_;
};

/// The first config, one for every value of every axis that a legal config can have, and so many random ones;
/// each once. Of axes that together have more than most_covered values some, evenly spread, stand for all.
inline constexpr std::size_t most_covered = 1000;
std::vector<Config> covering_configs(const Space& space, std::size_t random, std::uint64_t seed);

}  // namespace tunesmith
