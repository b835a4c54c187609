// SPDX-License-Identifier: Apache-2.0
#include "generator/groups.h"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>
#include <utility>

#include "generator/walk.h"

namespace tunesmith {
namespace {

// A step takes 0.1 to 0.3 us, so each limit is reached within some tenths of a second.
constexpr std::uint64_t most_counting_steps = std::uint64_t{1} << 22;
constexpr std::uint64_t most_steps_of_a_group = std::uint64_t{1} << 20;
constexpr std::size_t most_tries = std::size_t{1} << 20;

constexpr std::size_t for_an_estimate = 1000;  // drawn configs; the error is about 3 %
constexpr std::size_t most_first =
    4096;  // configs from the start of a walk, if they are too rare to be drawn

constexpr std::size_t most_sampled = std::size_t{1} << 21;

// Random::below() is uniform only if the bound is far below 2^64.
constexpr std::uint64_t most_placed = std::uint64_t{1} << 48;

bool has_places(const ConfigCount& count) {
  return count.kind == ConfigCount::Kind::exact && count.configs <= static_cast<double>(most_placed);
}

}  // namespace

// Returns the first places of a shuffle of all numbers below `bound`; `moved` holds only the places that a
// swap has changed.
std::vector<std::uint64_t> random_places(std::size_t size, std::uint64_t bound, Random& random) {
  const std::uint64_t taken = std::min<std::uint64_t>(size, bound);
  std::unordered_map<std::uint64_t, std::uint64_t> moved;
  const auto at = [&](std::uint64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < taken; ++i) {
    const std::uint64_t other = i + random.below(bound - i);
    places.push_back(at(other));
    moved[other] = at(i);
  }
  return places;
}

Space::Groups::Groups(const Space& space, Subset subset, const Values& given)
    : space_(space), given_(given), rules_(space.rules(subset)) {
  for (std::size_t axis = 0; axis < space.axes().size(); ++axis)
    groups_.push_back({.axes = std::uint32_t{1} << axis});
  for (std::size_t rule = 0; rule < rules_.size() && !is_empty_; ++rule) {
    Config nothing;
    nothing.axes_ = space.axes_;
    nothing.set_ = 0;
    const bool holds = rules_[rule]->holds(nothing);
    if (nothing.missed_ == 0) {
      is_empty_ = !holds;
      continue;
    }
    const auto first = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const Group& group) { return (group.axes & nothing.missed_) != 0; });
    first->rules.push_back(rule);
    join(static_cast<std::size_t>(first - groups_.begin()), nothing.missed_);
  }
}

// Joins the group at `at` with every group that has one of these axes.
void Space::Groups::join(std::size_t at, std::uint32_t axes) {
  Group joined = std::move(groups_[at]);
  std::erase_if(groups_, [&](const Group& other) {
    const bool own = (other.axes & joined.axes) != 0;  // the group that `joined` was moved from
    if (!own && (other.axes & axes) == 0) return false;
    if (own) return true;
    joined.axes |= other.axes;
    joined.rules.insert(joined.rules.end(), other.rules.begin(), other.rules.end());
    return true;
  });
  std::sort(joined.rules.begin(), joined.rules.end());
  groups_.push_back({.axes = joined.axes, .rules = std::move(joined.rules)});
}

// Calls `work` on each group until no two need to be joined. `work` returns the axes outside the group that
// one of its rules has read.
template <typename Work>
void Space::Groups::for_each(Work work) {
  for (Group& group : groups_) group.is_done = false;
  while (true) {
    const auto next =
        std::find_if(groups_.begin(), groups_.end(), [](const Group& group) { return !group.is_done; });
    if (next == groups_.end()) return;
    if (const std::uint32_t outside = work(*next); outside != 0) {
      join(static_cast<std::size_t>(next - groups_.begin()), outside);
    } else {
      next->is_done = true;
    }
  }
}

Space::Walk Space::Groups::walk_of(const Group& group) const {
  std::vector<const Rule*> rules;
  for (const std::size_t rule : group.rules) rules.push_back(rules_[rule]);
  Walk walk(space_, group.axes, std::move(rules));
  walk.restrict(given_);
  return walk;
}

// Counts the group, or draws from it.
std::uint32_t Space::Groups::look(Group& group, std::size_t wanted, Random& random) const {
  Walk walk = walk_of(group);
  walk.limit(most_counting_steps);
  group.found.clear();
  group.count = {walk.count()};
  if (walk.outside() != 0 || (!walk.was_limited() && has_places(group.count))) return walk.outside();
  if (const std::uint32_t outside = draw(group, walk, wanted, random); outside != 0) return outside;
  if (!group.found.empty()) return 0;
  if (walk.was_limited()) group.count.kind = ConfigCount::Kind::at_least;
  Walk again = walk_of(group);
  again.limit(most_counting_steps);
  again.each([&](const Config& config) {
    group.found.push_back(config);
    return group.found.size() < most_first;
  });
  for (std::size_t i = 0; i < group.found.size(); ++i)
    std::swap(group.found[i], group.found[i + random.below(group.found.size() - i)]);
  return again.outside();
}

bool Space::Groups::holds(const Group& group, const Config& config) const {
  return std::all_of(group.rules.begin(), group.rules.end(),
                     [&](std::size_t rule) { return rules_[rule]->holds(config); });
}

std::uint32_t Space::Groups::draw(Group& group, const Walk& walk, std::size_t wanted, Random& random) const {
  std::vector<std::size_t> axes;
  double raw = 1;
  for (std::size_t axis = 0; axis < space_.axes().size(); ++axis) {
    if ((group.axes >> axis & 1U) == 0) continue;
    axes.push_back(axis);
    raw *= static_cast<double>(walk.indices()[axis].size());
  }
  if (raw == 0) return 0;
  std::size_t tries = 0;
  for (; tries < std::max(most_tries, 10 * wanted) && group.found.size() < wanted; ++tries) {
    Config config;
    config.axes_ = space_.axes_;
    config.set_ = group.axes;
    for (const std::size_t axis : axes)
      config.chosen_[axis] = walk.indices()[axis][random.below(walk.indices()[axis].size())];
    const bool is_legal = holds(group, config);
    if (config.missed_ != 0) return config.missed_;
    if (is_legal) group.found.push_back(std::move(config));
  }
  if (!group.found.empty() && walk.was_limited())
    group.count = {raw * static_cast<double>(group.found.size()) / static_cast<double>(tries),
                   ConfigCount::Kind::estimate};
  return 0;
}

ConfigCount Space::Groups::product() const {
  ConfigCount all{is_empty_ ? 0.0 : 1.0};
  for (const Group& group : groups_) {
    all.configs *= group.count.configs;
    all.kind = std::max(all.kind, group.count.kind);
  }
  const bool none = std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.count.configs == 0 && group.count.kind == ConfigCount::Kind::exact;
  });
  return is_empty_ || none ? ConfigCount{} : all;
}

ConfigCount Space::Groups::count() {
  Random random(1);
  for_each([&](Group& group) { return look(group, for_an_estimate, random); });
  return product();
}

std::optional<Config> Space::Groups::first() {
  if (is_empty_) return std::nullopt;
  Config whole;
  whole.axes_ = space_.axes_;
  bool found = true;
  Random random(1);
  for_each([&](Group& group) -> std::uint32_t {
    group.found.clear();
    Walk walk = walk_of(group);
    walk.limit(most_steps_of_a_group);
    walk.each([&](const Config& config) {
      group.found.push_back(config);
      return false;
    });
    if (walk.outside() != 0) return walk.outside();
    if (group.found.empty() && walk.was_limited()) {
      if (const std::uint32_t outside = draw(group, walk, 1, random); outside != 0) return outside;
    }
    return 0;
  });
  for (const Group& group : groups_) {
    found = found && !group.found.empty();
    if (found) put(group, group.found.front(), whole);
  }
  return found ? std::optional(whole) : std::nullopt;
}

void Space::Groups::put(const Group& group, const Config& from, Config& to) const {
  for (std::size_t axis = 0; axis < space_.axes().size(); ++axis)
    if ((group.axes >> axis & 1U) != 0) to.chosen_[axis] = from.chosen_[axis];
}

// Gives each config the next found values of the group; when they are used up, random ones of them.
void Space::Groups::put_drawn(const Group& group, std::vector<Config>& configs, Random& random) const {
  for (std::size_t i = 0; i < configs.size(); ++i)
    put(group, group.found[i < group.found.size() ? i : random.below(group.found.size())], configs[i]);
}

void Space::Groups::put_places(const Group& group, const std::vector<std::uint64_t>& places,
                               std::vector<Config>& configs) const {
  walk_of(group).pick(places,
                      [&](const Config& config, std::size_t turn) { put(group, config, configs[turn]); });
}

std::vector<Config> Space::Groups::sample(std::size_t size, Random& random) {
  size = std::min(size, most_sampled);
  for_each([&](Group& group) { return look(group, std::max(size, for_an_estimate), random); });
  const ConfigCount all = product();
  if (all.configs == 0) return {};
  const bool none_found = std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.found.empty() && !has_places(group.count);
  });
  if (none_found) return {};
  Config empty;
  empty.axes_ = space_.axes_;
  if (has_places(all)) {
    std::vector<std::uint64_t> places = random_places(size, static_cast<std::uint64_t>(all.configs), random);
    std::vector<Config> configs(places.size(), empty);
    for (const Group& group : groups_) {
      const auto own = static_cast<std::uint64_t>(group.count.configs);
      std::vector<std::uint64_t> of_group;
      of_group.reserve(places.size());
      for (std::uint64_t& place : places) {
        of_group.push_back(place % own);
        place /= own;
      }
      put_places(group, of_group, configs);
    }
    return configs;
  }
  std::vector<Config> configs(size, empty);
  for (const Group& group : groups_) {
    if (group.rules.empty()) {  // one axis, which needs no walk
      const auto axis = static_cast<std::size_t>(std::countr_zero(group.axes));
      const std::vector<std::uint16_t> indices = walk_of(group).indices()[axis];
      for (Config& config : configs) config.chosen_[axis] = indices[random.below(indices.size())];
      continue;
    }
    if (!group.found.empty()) {
      put_drawn(group, configs, random);
      continue;
    }
    std::vector<std::uint64_t> places(size);
    for (std::uint64_t& place : places) place = random.below(static_cast<std::uint64_t>(group.count.configs));
    put_places(group, places, configs);
  }
  std::set<Config, Config::WalkOrder> seen;
  std::erase_if(configs, [&](const Config& config) { return !seen.insert(config).second; });
  return configs;
}

}  // namespace tunesmith
