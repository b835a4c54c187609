// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

namespace tunesmith {
namespace {

// The approximate limit of a point's neighbours, shared among the axes. More would take a strategy seconds
// for one proposal.
constexpr std::size_t most_neighbours = 1024;
constexpr std::size_t nearest_values = 8;  // on either side, of an axis with more values than its share

void shuffle(std::vector<std::uint64_t>& numbers, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::swap(numbers[i], numbers[i + random.below(numbers.size() - i)]);
}

}  // namespace

Points::Points(const SearchSpace& space, std::optional<std::uint64_t> seed, Prior prior)
    : space_(space),
      random_(seed.value_or(0)),
      shuffled_(seed.has_value()),
      unnumbered_(space_.parts.size()) {
  for (std::size_t at = 0; at < space_.parts.size(); ++at) {
    const SearchSpace::Part& part = space_.parts[at];
    unnumbered_[at].is_used = !part.space.is_numbered();
    const auto which = prior == Prior::none ? Space::Subset::legal : Space::Subset::promising;
    List list{prior == Prior::worth && !part.space.worth().empty(), {{}}};
    const auto add = [&](const Config& config) { list.tiers.front().push_back(id(at, config).number); };
    const bool is_small =
        part.count.is_at_most(most_enumerated) ||
        (which == Space::Subset::promising && part.space.size(which).is_at_most(most_enumerated));
    if (!is_small) {
      for (const Config& config : draw(at, which)) add(config);
      drawn_.push_back({part.template_index, part.count, list.tiers.front().size()});
    } else {
      part.space.each([&](const Config& config) { return add(config), true; }, which);
    }
    if (shuffled_) shuffle(list.tiers.front(), random_.next());
    lists_.push_back(std::move(list));
  }
}

// Without a seed, in the order of the axes.
std::vector<Config> Points::draw(std::size_t part, Space::Subset subset) {
  const std::size_t size = unnumbered_[part].is_used ? most_drawn_unnumbered : most_drawn;
  std::vector<Config> configs = space_.parts[part].space.sample(size, random_.next(), subset);
  if (!shuffled_) std::sort(configs.begin(), configs.end(), Config::WalkOrder());
  return configs;
}

std::optional<PointId> Points::next() {
  List* const list = choose();
  if (list == nullptr) return std::nullopt;
  return PointId{static_cast<std::size_t>(list - lists_.data()), list->tiers[tier_][list->next++]};
}

std::size_t Points::left(const List& list) const {
  return tier_ < list.tiers.size() ? list.tiers[tier_].size() - list.next : 0;
}

// Most configs break a `worth` rule, and most runs end before them, so they are listed only when their turn
// comes.
void Points::list_rest(std::size_t part) {
  List& list = lists_[part];
  const Space& space = space_.parts[part].space;
  const auto add = [&](const Config& config) {
    const std::size_t broken = space.broken_worth(config);
    if (broken == 0) return;
    if (list.tiers.size() <= broken) list.tiers.resize(broken + 1);
    list.tiers[broken].push_back(id(part, config).number);
  };
  if (!space_.parts[part].count.is_at_most(most_enumerated)) {
    for (const Config& config : draw(part, Space::Subset::legal)) add(config);
  } else {
    space.each([&](const Config& config) { return add(config), true; });
  }
  if (!shuffled_) return;
  for (std::size_t tier = 1; tier < list.tiers.size(); ++tier) shuffle(list.tiers[tier], random_.next());
}

bool Points::next_tier() {
  bool more = false;
  ++tier_;
  for (std::size_t part = 0; part < lists_.size(); ++part) {
    List& list = lists_[part];
    if (std::exchange(list.has_more, false)) list_rest(part);
    list.next = 0;
    more = more || tier_ < list.tiers.size();
  }
  return more;
}

const Points::List* Points::list_at_random(Random& random) const {
  double total = 0;
  for (const List& list : lists_) total += std::sqrt(static_cast<double>(left(list)));
  double at = (random.uniform() + 1) / 2 * total;
  const List* last = nullptr;
  for (const List& list : lists_) {
    if (left(list) == 0) continue;
    last = &list;
    if (!shuffled_) break;
    at -= std::sqrt(static_cast<double>(left(list)));
    if (at < 0) break;
  }
  return last;
}

Points::List* Points::choose() {
  do {
    if (const List* const list = list_at_random(random_)) return const_cast<List*>(list);
  } while (next_tier());
  return nullptr;
}

std::optional<PointId> Points::any(Random& random) const {
  const List* const list = list_at_random(random);
  const std::size_t more = list == nullptr ? 0 : left(*list);
  if (more == 0) return std::nullopt;
  return PointId{static_cast<std::size_t>(list - lists_.data()),
                 list->tiers[tier_][list->next + random.below(more)]};
}

std::vector<PointId> Points::some(std::size_t size, Random& random) const {
  std::size_t total = 0;
  for (const List& list : lists_) {
    for (const auto& tier : list.tiers) total += tier.size();
  }
  std::set<std::size_t> places;
  while (places.size() < std::min(size, total))
    places.insert(2 * size < total ? random.below(total) : places.size());
  std::vector<PointId> chosen;
  auto place = places.begin();
  std::size_t before = 0;
  for (std::size_t part = 0; part < lists_.size(); ++part) {
    for (const auto& tier : lists_[part].tiers) {
      for (; place != places.end() && *place < before + tier.size(); ++place)
        chosen.push_back({part, tier[*place - before]});
      before += tier.size();
    }
  }
  return chosen;
}

void Points::each_neighbour(PointId id, const std::function<void(PointId)>& visit) const {
  const Space& space = space_.parts[id.part].space;
  const Config config = this->config(id);
  std::vector<std::size_t> indices;
  for (std::size_t axis = 0; axis < space.axes().size(); ++axis) indices.push_back(config.index(axis));
  for (std::size_t axis = space.axes().size(); axis-- > 0;) {
    const std::size_t own = config.index(axis);
    const std::size_t size = space.axes()[axis].values.size();
    const std::size_t share = most_neighbours / space.axes().size();
    const std::size_t stride = (size + share - 1) / share;
    for (std::size_t value = 0; value < size; ++value) {
      const std::size_t apart = value < own ? own - value : value - own;
      if (apart == 0 || (apart > nearest_values && value % stride != 0)) continue;
      indices[axis] = value;
      const Config other = space.named(space.config(indices));
      if (!(other == config) && space.is_legal(other)) visit(this->id(id.part, other));
    }
    indices[axis] = own;
  }
}

// Numbers are mixed, so that neighbours are in different shares, which are the same in every process.
bool Points::mine(PointId id) const {
  if (space_.shares == 1) return true;
  std::uint64_t number = id.number;
  if (unnumbered_[id.part].is_used) {
    const Config config = this->config(id);
    number = 0;
    for (std::size_t axis = 0; axis < config.axes().size(); ++axis)
      number = Random(number ^ config.index(axis)).next();
  }
  return Random(number * 31 + id.part).below(space_.shares) == space_.share;
}

PointId Points::id(std::size_t part, const Config& config) const {
  Unnumbered& known = unnumbered_[part];
  if (!known.is_used) return {part, space_.parts[part].space.number(config)};
  const auto [place, is_new] = known.numbers.try_emplace(config, known.configs.size());
  if (is_new) known.configs.push_back(config);
  return {part, place->second};
}

std::optional<PointId> Points::id(const Point& point) const {
  for (std::size_t part = 0; part < space_.parts.size(); ++part) {
    if (space_.parts[part].template_index == point.template_index) return id(part, point.config);
  }
  return std::nullopt;
}

Config Points::config(PointId id) const {
  const Unnumbered& known = unnumbered_[id.part];
  return known.is_used ? known.configs[id.number] : space_.parts[id.part].space.config(id.number);
}

Point Points::point(PointId id) const { return {space_.parts[id.part].template_index, config(id)}; }

std::size_t Points::broken_worth(PointId id) const {
  return space_.parts[id.part].space.broken_worth(config(id));
}

namespace {

int twos(std::int64_t value) {
  int count = 0;
  for (; value > 0 && value % 2 == 0; value /= 2) ++count;
  return count;
}

// The coordinates by value: its position between the smallest and the largest, and how often 2 divides it.
std::map<Value, std::vector<float>> placed_integers(const std::set<Value>& values) {
  std::vector<std::int64_t> sorted;
  sorted.reserve(values.size());
  for (const Value& value : values) sorted.push_back(std::get<std::int64_t>(value));
  const auto last = static_cast<float>(std::max<std::size_t>(sorted.size() - 1, 1));
  const bool positive = sorted.front() > 0;
  const auto place = [&](std::size_t rank) {
    const float by_rank = static_cast<float>(rank) / last;
    if (!positive || sorted.size() < 2) return by_rank;
    const double range = std::log(static_cast<double>(sorted.back()) / static_cast<double>(sorted.front()));
    const double log = std::log(static_cast<double>(sorted[rank]) / static_cast<double>(sorted.front()));
    return (by_rank + static_cast<float>(log / range)) / 2;
  };
  int most = 0;
  int least = 64;
  bool powers = true;
  for (const std::int64_t value : sorted) {
    if (value <= 0) continue;
    most = std::max(most, twos(value));
    least = std::min(least, twos(value));
    powers = powers && (value & (value - 1)) == 0;
  }
  const bool divided = sorted.size() > 2 && !powers && most > least;
  std::map<Value, std::vector<float>> placed;
  for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
    std::vector<float>& at = placed[sorted[rank]];
    at.push_back(place(rank));
    if (divided) {
      const int over = sorted[rank] > 0 ? twos(sorted[rank]) - least : 0;
      at.push_back(static_cast<float>(over) / static_cast<float>(most - least));
    }
  }
  return placed;
}

// One coordinate per category; two different categories are at the distance 1.
std::map<Value, std::vector<float>> placed_categories(const std::set<Value>& values) {
  constexpr float on = 0.70710678F;
  std::map<Value, std::vector<float>> placed;
  for (const Value& value : values) {
    std::vector<float>& at = placed[value];
    at.assign(values.size(), 0);
    at[placed.size() - 1] = on;
  }
  return placed;
}

}  // namespace

std::size_t Embedding::add_group(std::size_t coordinates) {
  const std::size_t first = groups_.size();
  const std::size_t group = groups_.empty() ? 0 : groups_.back() + 1;
  groups_.insert(groups_.end(), coordinates, group);
  return first;
}

Embedding::Embedding(const Points& points) : points_(points) {
  const std::vector<SearchSpace::Part>& parts = points.space().parts;
  // An axis that is categorical in one template and has integers in another counts as two axes.
  using Key = std::pair<std::string, std::size_t>;
  std::map<Key, std::set<Value>> values;
  const auto key = [](const Axis& axis) { return Key(axis.name, axis.values.front().index()); };
  for (const SearchSpace::Part& part : parts) {
    for (const Axis& axis : part.space.axes())
      values[key(axis)].insert(axis.values.begin(), axis.values.end());
  }
  struct Place {
    std::size_t at;
    std::map<Value, std::vector<float>> values;
    bool everywhere;
  };
  std::map<Key, Place> places;
  for (const auto& [name, on_axis] : values) {
    if (on_axis.size() < 2) continue;  // it says nothing that the template does not
    auto placed = name.second == 0 ? placed_integers(on_axis) : placed_categories(on_axis);
    const std::size_t width = placed.begin()->second.size();
    // The position and the number of factors 2 may matter differently, so each has its own group.
    const std::size_t at = add_group(name.second == 0 ? 1 : width);
    if (name.second == 0 && width == 2) add_group(1);
    places[name] = {at, std::move(placed), true};
  }
  absent_.assign(groups_.size(), 0.5F);
  const std::size_t tmpl = add_group(parts.size() > 1 ? parts.size() : 0);
  absent_.resize(groups_.size(), 0);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    std::vector<AxisCoordinates>& placed = placed_.emplace_back();
    for (const Axis& axis : parts[part].space.axes()) {
      AxisCoordinates& its = placed.emplace_back();
      const auto place = places.find(key(axis));
      if (place == places.end()) continue;
      its.at = place->second.at;
      for (const Value& value : axis.values) its.values.push_back(place->second.values.at(value));
    }
    if (parts.size() < 2) continue;
    std::vector<float> own(parts.size(), 0);
    own[part] = 0.70710678F;
    placed.push_back({tmpl, {own}});
  }
}

Coordinates Embedding::operator()(PointId id) const {
  Coordinates at = absent_;
  const Config config = points_.config(id);
  const std::vector<AxisCoordinates>& placed = placed_[id.part];
  for (std::size_t axis = 0; axis < placed.size(); ++axis) {
    if (placed[axis].values.empty()) continue;
    const std::size_t index = axis < config.axes().size() ? config.index(axis) : 0;
    const std::vector<float>& values = placed[axis].values[index];
    std::copy(values.begin(), values.end(), at.begin() + static_cast<std::ptrdiff_t>(placed[axis].at));
  }
  return at;
}

}  // namespace tunesmith
