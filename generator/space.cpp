// SPDX-License-Identifier: Apache-2.0
#include "generator/space.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "generator/error.h"
#include "generator/groups.h"
#include "generator/listed.h"
#include "generator/nearest_name.h"
#include "generator/random.h"
#include "generator/walk.h"

namespace tunesmith {
namespace {

// Above most_listed points a sample is drawn from the raw points instead of from a list of the legal ones;
// above most_drawn_by_number, where a point's number has too many bits for a uniform draw, it is drawn axis
// by axis.
constexpr std::int64_t most_listed = 1 << 21;
constexpr std::int64_t most_drawn_by_number = std::int64_t{1} << 48;

// Limits of steps (about 1 s and some ms) for walks of the whole space; after that its groups are walked
// separately.
constexpr std::uint64_t most_listing_steps = std::uint64_t{1} << 22;
constexpr std::uint64_t most_finding_steps = std::uint64_t{1} << 14;

template <typename Handle, typename Name>
Rule named_once(const Handle& axis, Name name, const char* why) {
  return {why, [axis, name](const Config& c) { return c[axis] == name(c); }, axis.name,
          [name](const Config& c) { return Value(name(c)); }};
}

// Makes the rule of a conditional axis. Where the axis is active the rule does not read it, so that a walk
// need not wait for it.
template <typename Handle, typename Otherwise>
Rule named_where_inactive(const Handle& axis, Otherwise otherwise, std::function<bool(const Config&)> active,
                          const char* why) {
  auto legal = [=](const Config& c) { return active(c) || c[axis] == otherwise; };
  return {why, std::move(legal), axis.name, [=, active = std::move(active)](const Config& c) {
            return active(c) ? Value(c[axis]) : Value(otherwise);
          }};
}

}  // namespace

Rule one_name(const IntegerAxis& axis, std::function<std::int64_t(const Config&)> name, const char* why) {
  return named_once(axis, std::move(name), why);
}

Rule one_name(const CategoricalAxis& axis, std::function<std::string(const Config&)> name, const char* why) {
  return named_once(axis, std::move(name), why);
}

Rule conditional(const IntegerAxis& axis, std::int64_t otherwise,
                 std::function<bool(const Config&)> is_active, const char* why) {
  return named_where_inactive(axis, otherwise, std::move(is_active), why);
}

Rule conditional(const CategoricalAxis& axis, const char* otherwise,
                 std::function<bool(const Config&)> is_active, const char* why) {
  return named_where_inactive(axis, std::string(otherwise), std::move(is_active), why);
}

Space::Space(std::vector<Axis> axes, std::vector<Rule> must, std::vector<Rule> worth, Translation translation)
    : must_(std::move(must)), worth_(std::move(worth)), translation_(std::move(translation)) {
  auto made = std::make_shared<Config::Axes>();
  made->list = std::move(axes);
  if (made->list.size() > Config::most_axes) {
    throw Error("A space has " + std::to_string(made->list.size()) + " axes; at most " +
                std::to_string(Config::most_axes) + " are supported.");
  }
  for (const Axis& axis : made->list) {
    if (axis.values.empty()) throw Error("The axis " + axis.name + " has no values.");
    if (axis.values.size() > 65535) throw Error("The axis " + axis.name + " has more than 65535 values.");
    for (const Value& value : axis.values) {
      if (value.index() != axis.values.front().index()) {
        throw Error("The axis " + axis.name + " mixes words and integers: " + listed(axis.values) + ".");
      }
    }
    const std::uint64_t hash = AxisHandle::hash_of(axis.name);
    if (std::find(made->hashes.begin(), made->hashes.end(), hash) != made->hashes.end())
      throw Error("The axis " + axis.name + " is named twice.");
    made->places[hash % made->places.size()] = static_cast<std::uint8_t>(made->hashes.size());
    made->hashes.push_back(hash);
  }
  axes_ = std::move(made);
  // Rules without a name go first, so that "cannot run" is reported before "has another name".
  std::stable_partition(must_.begin(), must_.end(), [](const Rule& rule) { return !rule.name; });
}

void Space::each(const std::function<bool(const Config&)>& visit, Subset subset) const {
  Walk(*this, subset).each(visit);
}

ConfigCount Space::size(Subset subset) const { return Groups(*this, subset).count(); }

ConfigCount Space::raw_size() const {
  ConfigCount raw{1};
  for (const Axis& axis : axes()) raw.configs *= static_cast<double>(axis.values.size());
  return raw;
}

std::vector<const Rule*> Space::rules(Subset subset) const {
  std::vector<const Rule*> rules;
  for (const Rule& rule : must_) rules.push_back(&rule);
  if (subset == Subset::promising)
    for (const Rule& rule : worth_) rules.push_back(&rule);
  return rules;
}

std::vector<Config> Space::all() const {
  std::vector<Config> configs;
  each([&](const Config& config) {
    configs.push_back(config);
    return true;
  });
  return configs;
}

std::size_t Space::broken_worth(const Config& config) const {
  return static_cast<std::size_t>(
      std::count_if(worth_.begin(), worth_.end(), [&](const Rule& rule) { return !rule.holds(config); }));
}

std::uint64_t Space::number(const Config& config) const {
  std::uint64_t number = 0;
  for (std::size_t axis = 0; axis < axes().size(); ++axis)
    number = number * axes()[axis].values.size() + config.chosen_[axis];
  return number;
}

Config Space::config(std::uint64_t number) const {
  Config config;
  config.axes_ = axes_;
  for (std::size_t axis = axes().size(); axis-- > 0;) {
    const std::size_t size = axes()[axis].values.size();
    config.chosen_[axis] = static_cast<std::uint16_t>(number % size);
    number /= size;
  }
  return config;
}

Config Space::config(std::span<const std::size_t> indices) const {
  Config config;
  config.axes_ = axes_;
  for (std::size_t axis = 0; axis < axes().size(); ++axis)
    config.chosen_[axis] = static_cast<std::uint16_t>(indices[axis]);
  return config;
}

bool Space::holds(const std::vector<Rule>& rules, const Config& config) const {
  return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.holds(config); });
}

std::vector<Config> Space::sample(std::size_t size, std::uint64_t seed, Subset subset) const {
  Random random(seed);
  std::vector<Config> configs;
  const std::int64_t points = raw_count();
  if (points > most_listed && points <= most_drawn_by_number) {
    const auto raw = static_cast<std::uint64_t>(points);
    std::unordered_set<std::uint64_t> seen;
    seen.reserve(std::min<std::size_t>(size, most_listed));
    const std::size_t most_tries = 100'000 + 100 * std::min<std::size_t>(size, most_listed);
    for (std::size_t tries = 1; configs.size() < size && tries <= most_tries; ++tries) {
      const std::uint64_t number = random.below(raw);
      Config config = this->config(number);
      const bool wanted = holds(must_, config) && (subset == Subset::legal || holds(worth_, config));
      if (wanted && seen.insert(number).second) configs.push_back(std::move(config));
      // At less than half the needed rate all tries would not suffice.
      if (tries % 100'000 == 0 && configs.size() * (most_tries / tries) < size / 2) break;
    }
    if (configs.size() == size) return configs;
    configs.clear();
  }
  if (points <= most_drawn_by_number) {
    Walk counting(*this, subset);
    if (points > most_listed) counting.limit(most_listing_steps);
    const double count = counting.count();
    if (!counting.was_limited()) {
      const std::vector<std::uint64_t> places =
          random_places(size, static_cast<std::uint64_t>(count), random);
      configs.resize(places.size());
      Walk(*this, subset).pick(places, [&](const Config& config, std::size_t turn) {
        configs[turn] = config;
      });
      return configs;
    }
  }
  return Groups(*this, subset).sample(size, random);
}

// Repeated, because an axis may have an effect only if another conditional axis has a certain value.
Config Space::named(Config config) const {
  for (std::size_t round = 0; round < must_.size(); ++round) {
    bool changed = false;
    for (const Rule& rule : must_) {
      if (!rule.name || rule.holds(config)) continue;
      const auto axis = std::find_if(axes().begin(), axes().end(),
                                     [&](const Axis& each) { return each.name == rule.axis; });
      const auto at = static_cast<std::size_t>(axis - axes().begin());
      const auto value = std::find(axis->values.begin(), axis->values.end(), rule.name(config));
      if (value == axis->values.end()) return config;
      config.chosen_[at] = static_cast<std::uint16_t>(value - axis->values.begin());
      changed = true;
    }
    if (!changed) break;
  }
  return config;
}

// If one value is not on its axis, the neighbours are those along that axis; if two or more are not, there
// are none.
std::vector<Config> Space::neighbours(const Values& values) const {
  Config config;
  config.axes_ = axes_;
  std::optional<std::size_t> off;
  std::size_t named_axes = 0;
  for (std::size_t axis = 0; axis < axes().size(); ++axis) {
    const Value* const own = values.find(axes()[axis].name);
    if (own != nullptr) ++named_axes;
    const std::vector<Value>& on_axis = axes()[axis].values;
    const auto found = own == nullptr ? on_axis.end() : std::find(on_axis.begin(), on_axis.end(), *own);
    if (found != on_axis.end()) {
      config.chosen_[axis] = static_cast<std::uint16_t>(found - on_axis.begin());
    } else if (off) {
      return {};
    } else {
      off = axis;
    }
  }
  std::vector<Config> found;
  if (named_axes != values.entries().size()) return found;  // a name is no axis
  const Config own = config;
  std::set<Config, Config::WalkOrder> seen;
  const auto add = [&](const Config& other) {
    const Config its = named(other);
    if ((off || !(its == own)) && holds(must_, its) && seen.insert(its).second) found.push_back(its);
  };
  if (!off) add(own);
  for (std::size_t axis = off.value_or(0); axis < (off ? *off + 1 : axes().size()); ++axis) {
    for (std::size_t i = 0; i < axes()[axis].values.size(); ++i) {
      config.chosen_[axis] = static_cast<std::uint16_t>(i);
      add(config);
    }
    config.chosen_[axis] = own.chosen_[axis];
  }
  return found;
}

std::optional<Config> Space::on_axes(const Values& values) const {
  Config config;
  config.axes_ = axes_;
  for (std::size_t axis = 0; axis < axes().size(); ++axis) {
    const Value* const given = values.find(axes()[axis].name);
    if (given == nullptr) return std::nullopt;
    const std::vector<Value>& on_axis = axes()[axis].values;
    const auto found = std::find(on_axis.begin(), on_axis.end(), *given);
    if (found == on_axis.end()) return std::nullopt;
    config.chosen_[axis] = static_cast<std::uint16_t>(found - on_axis.begin());
  }
  return config;
}

std::optional<Config> Space::find(const Values& values) const {
  if (values.entries().size() != axes().size()) return std::nullopt;
  std::optional<Config> config = on_axes(values);
  if (!config || !holds(must_, *config)) return std::nullopt;
  return config;
}

Config Space::legal(const Values& values) const {
  if (auto config = find(values)) return *config;
  throw UsageError(why_not(values).value_or("The config \"" + values.text() + "\" names too many axes."));
}

std::optional<std::string> Space::why_not_on_axes(const Values& values) const {
  for (const auto& [name, value] : values.entries()) {
    const auto axis = std::find_if(axes().begin(), axes().end(),
                                   [&wanted = name](const Axis& a) { return a.name == wanted; });
    if (axis == axes().end()) {
      std::vector<std::string> names;
      for (const Axis& a : axes()) names.push_back(a.name);
      return name + " is not an axis of this template; its axes are " + listed(names) + "." +
             did_you_mean(name, names);
    }
    if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end()) {
      return name + "=" + to_text(value) +
             " is not on its axis; allowed for this problem: " + listed_in_short(axis->values) + ".";
    }
  }
  return std::nullopt;
}

std::optional<std::string> Space::why_not(const Values& values) const {
  if (auto why = why_not_on_axes(values)) return why;
  for (const Axis& axis : axes()) {
    if (!values.has(axis.name))
      return axis.name + " is missing; allowed: " + listed_in_short(axis.values) + ".";
  }
  const std::optional<Config> config = on_axes(values);
  for (const Rule& rule : must_) {
    if (!rule.holds(*config)) return "\"" + values.text() + "\" breaks a rule: " + rule.why;
  }
  return std::nullopt;
}

std::optional<Config> Space::first(const Values& given, Subset subset) const {
  std::optional<Config> found;
  Walk walk(*this, subset);
  walk.restrict(given);
  walk.limit(most_finding_steps);
  walk.each([&](const Config& config) {
    found = config;
    return false;
  });
  return found || !walk.was_limited() ? found : Groups(*this, subset, given).first();
}

std::optional<Config> Space::first(const Values& given) const {
  if (auto config = first(given, Subset::promising)) return config;
  return first(given, Subset::legal);
}

Config Space::complete(const Values& given) const {
  if (auto why = why_not_on_axes(given)) throw UsageError(*why);
  if (auto config = first(given)) return *config;
  Values tried = given;
  for (const Axis& axis : axes()) {
    if (!tried.has(axis.name)) tried.set(axis.name, axis.values.front());
  }
  const std::string none = given.empty() ? "" : " that agrees with \"" + given.text() + "\"";
  if (Groups(*this, Subset::legal, given).count().precision != ConfigCount::Precision::exact) {
    throw UsageError(
        "No legal config" + none +
        " was found, though there may be some: they are too rare to be drawn at random, and too "
        "far from the first values of the axes. Make the rules less strict, or put values that go "
        "together first.");
  }
  const std::optional<std::string> why = why_not(tried);
  throw UsageError((given.empty() ? std::string("No config is legal")
                                  : "No legal config agrees with \"" + given.text() + "\"") +
                   (why ? ": " + *why : "."));
}

namespace {

// The values of two and of three axes that a config has had together.
class Meetings {
 public:
  explicit Meetings(const Space& space) {
    for (const Axis& axis : space.axes()) {
      firsts_.push_back(values_);
      values_ += axis.values.size();
    }
  }
  void add(const Config& config) {
    each(
        config, [&](std::uint64_t pair) { pairs_.insert(pair); },
        [&](std::uint64_t triple) { triples_.insert(triple); });
  }
  /// The number of pairs and of triples that the config would be the first to have.
  std::pair<std::size_t, std::size_t> new_in(const Config& config) const {
    std::pair<std::size_t, std::size_t> count;
    each(
        config, [&](std::uint64_t pair) { count.first += pairs_.contains(pair) ? 0 : 1; },
        [&](std::uint64_t triple) { count.second += triples_.contains(triple) ? 0 : 1; });
    return count;
  }

 private:
  template <typename UsePair, typename UseTriple>
  void each(const Config& config, UsePair use_pair, UseTriple use_triple) const {
    for (std::size_t a = 0; a < firsts_.size(); ++a)
      for (std::size_t b = a + 1; b < firsts_.size(); ++b) {
        const std::uint64_t pair = (firsts_[a] + config.index(a)) * values_ + firsts_[b] + config.index(b);
        use_pair(pair);
        for (std::size_t c = b + 1; c < firsts_.size(); ++c)
          use_triple(pair * values_ + firsts_[c] + config.index(c));
      }
  }

  std::vector<std::uint64_t> firsts_;  // by axis: the number of its first value
  std::uint64_t values_ = 0;
  std::unordered_set<std::uint64_t> pairs_, triples_;
};

// Returns `size` random configs beside the known ones. They are chosen one after the other, so that each has
// the most pairs of values that no config before it has, and among these the most triples.
std::vector<Config> meeting_configs(const Space& space, const std::vector<Config>& known, std::size_t size,
                                    std::uint64_t seed) {
  constexpr std::size_t drawn_for_each = 16;
  constexpr std::size_t most_chosen = 64;  // more random ones have most pairs anyway
  std::vector<Config> drawn = space.sample(size > most_chosen ? size : drawn_for_each * size, seed);
  const std::set<Config, Config::WalkOrder> seen(known.begin(), known.end());
  std::erase_if(drawn, [&](const Config& config) { return seen.contains(config); });
  if (size > most_chosen) return drawn;
  Meetings met(space);
  for (const Config& config : known) met.add(config);
  std::vector<Config> chosen;
  while (chosen.size() < size && !drawn.empty()) {
    std::size_t best = 0;
    auto most = met.new_in(drawn.front());
    for (std::size_t i = 1; i < drawn.size(); ++i)
      if (const auto fresh = met.new_in(drawn[i]); fresh > most) most = fresh, best = i;
    met.add(drawn[best]);
    chosen.push_back(std::move(drawn[best]));
    drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

}  // namespace

std::vector<Config> covering_configs(const Space& space, std::size_t random, std::uint64_t seed) {
  std::vector<Config> configs = {space.complete({})};
  std::size_t values = 0;
  for (const Axis& axis : space.axes()) values += axis.values.size();
  const std::size_t most = values <= most_covered ? most_covered : most_covered / space.axes().size();
  for (const Axis& axis : space.axes()) {
    const std::size_t taken = std::min(axis.values.size(), most);
    for (std::size_t i = 0; i < taken; ++i) {
      const Value& value = axis.values[i * axis.values.size() / taken];
      if (auto config = space.first({{axis.name, value}})) configs.push_back(std::move(*config));
    }
  }
  std::set<Config, Config::WalkOrder> seen;
  std::erase_if(configs, [&](const Config& config) { return !seen.insert(config).second; });
  const std::vector<Config> more = meeting_configs(space, configs, random, seed);
  configs.insert(configs.end(), more.begin(), more.end());
  return configs;
}

}  // namespace tunesmith
