#include "generator/space.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "generator/error.h"
#include "generator/random.h"

namespace tunesmith {
namespace {

// Beyond so many points a sample is drawn from the raw points instead of from a list of the legal ones.
constexpr std::int64_t most_listed = 1 << 21;

std::string list(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + to_text(value);
  return text;
}

}  // namespace

// ---- Config

std::span<const Axis> Config::axes() const {
  return axes_ ? std::span<const Axis>(axes_->list) : std::span<const Axis>();
}

const Value& Config::value(std::size_t axis) const { return axes_->list[axis].values[chosen_[axis]]; }

std::size_t Config::position(const AxisHandle& axis) const {
  const std::size_t count = axes_ ? axes_->hashes.size() : 0;
  for (std::size_t at = 0; at < count; ++at) {
    if (axes_->hashes[at] != axis.hash) continue;
    if (at >= set_) missed_ = std::min(missed_, static_cast<std::uint8_t>(at));
    return at;
  }
  throw Error("The config \"" + text() + "\" has no axis " + std::string(axis.name) + ".");
}

std::int64_t Config::operator[](const IntegerAxis& axis) const {
  const Value& found = value(position(axis));
  const auto* integer = std::get_if<std::int64_t>(&found);
  if (integer == nullptr)
    throw Error("The values of the axis " + std::string(axis.name) + " are no integers.");
  return *integer;
}

const std::string& Config::operator[](const WordAxis& axis) const {
  const Value& found = value(position(axis));
  const auto* word = std::get_if<std::string>(&found);
  if (word == nullptr) throw Error("The values of the axis " + std::string(axis.name) + " are no words.");
  return *word;
}

Values Config::values() const {
  Values values;
  for (std::size_t at = 0; at < axes().size(); ++at) values.set(axes()[at].name, value(at));
  return values;
}

std::string Config::text() const { return values().text(); }

bool Config::operator==(const Config& other) const {
  return axes_ == other.axes_ ? chosen_ == other.chosen_ : values() == other.values();
}

// ---- Space

Space::Space(std::vector<Axis> axes, std::vector<Rule> must, std::vector<Rule> worth)
    : must_(std::move(must)), worth_(std::move(worth)) {
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
        throw Error("The axis " + axis.name + " mixes words and integers: " + list(axis.values) + ".");
      }
    }
    const std::uint64_t hash = AxisHandle::hash_of(axis.name);
    if (std::find(made->hashes.begin(), made->hashes.end(), hash) != made->hashes.end())
      throw Error("The axis " + axis.name + " is named twice.");
    made->hashes.push_back(hash);
  }
  axes_ = std::move(made);
}

// Depth first. A rule that has read an axis which is not set yet waits for that axis; one that has not is
// decided for everything below.
struct Space::Walk {
  Walk(const Space& space, Which which)
      : axes(space.axes_->list), waiting(axes.size()), indices(axes.size()) {
    for (const Rule& rule : space.must_) rules.push_back(&rule);
    if (which == Which::promising) {
      for (const Rule& rule : space.worth_) rules.push_back(&rule);
    }
    config.axes_ = space.axes_;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      for (std::size_t i = 0; i < axes[axis].values.size(); ++i)
        indices[axis].push_back(static_cast<std::uint16_t>(i));
    }
  }

  // Only configs that agree with these values; the axes exist.
  void restrict(const Values& given) {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const Value* only = given.find(axes[axis].name);
      if (only == nullptr) continue;
      std::erase_if(indices[axis], [&](std::uint16_t i) { return axes[axis].values[i] != *only; });
    }
  }

  // `visit` is called at the leaves, or, where `counted`, `total` grows by whole subtrees that nothing
  // prunes.
  bool run(const std::function<bool(const Config&)>* visit) {
    config.set_ = 0;
    for (const Rule* rule : rules) {
      if (!decide(rule)) return true;
    }
    return below(0, visit);
  }

  std::int64_t total = 0;

  // False: broken, whatever the axes that are not set yet.
  bool decide(const Rule* rule) {
    config.missed_ = Config::most_axes;
    const bool holds = rule->holds(config);
    if (config.missed_ == Config::most_axes) return holds;
    waiting[config.missed_].push_back(rule);
    postponed.push_back(config.missed_);
    ++pending;
    return true;
  }

  // Takes back what decide() has postponed since then.
  void forget_postponed(std::size_t since) {
    for (; postponed.size() > since; postponed.pop_back()) waiting[postponed.back()].pop_back();
  }

  bool below(std::size_t axis, const std::function<bool(const Config&)>* visit) {
    if (visit == nullptr && pending == 0) {
      std::int64_t leaves = 1;
      for (std::size_t a = axis; a < axes.size(); ++a) leaves *= static_cast<std::int64_t>(indices[a].size());
      total += leaves;
      return true;
    }
    if (axis == axes.size()) {
      config.set_ = config.missed_ = Config::most_axes;
      const bool more = (*visit)(config);
      config.set_ = static_cast<std::uint8_t>(axis);
      return more;
    }
    const std::vector<const Rule*>& due = waiting[axis];  // what they postpone waits for later axes
    const std::size_t postponed_before = postponed.size();
    const std::size_t pending_before = pending;
    for (const std::uint16_t index : indices[axis]) {
      config.chosen_[axis] = index;
      config.set_ = static_cast<std::uint8_t>(axis + 1);
      pending -= due.size();
      const bool legal =
          std::all_of(due.begin(), due.end(), [this](const Rule* rule) { return decide(rule); });
      const bool more = !legal || below(axis + 1, visit);
      forget_postponed(postponed_before);
      pending = pending_before;
      if (!more) return false;
    }
    config.chosen_[axis] = 0;
    config.set_ = static_cast<std::uint8_t>(axis);
    return true;
  }

  const std::vector<Axis>& axes;
  std::vector<const Rule*> rules;
  std::vector<std::vector<const Rule*>> waiting;  // by the axis that must be set next
  std::vector<std::size_t> postponed;             // to which axes, in order
  std::vector<std::vector<std::uint16_t>> indices;
  std::size_t pending = 0;
  Config config;
};

void Space::each(const std::function<bool(const Config&)>& visit, Which which) const {
  Walk(*this, which).run(&visit);
}

std::int64_t Space::count(Which which) const {
  Walk walk(*this, which);
  walk.run(nullptr);
  return walk.total;
}

std::int64_t Space::raw_count() const {
  std::int64_t count = 1;
  for (const Axis& axis : axes()) count *= static_cast<std::int64_t>(axis.values.size());
  return count;
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

bool Space::holds(const std::vector<Rule>& rules, const Config& config) const {
  return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.holds(config); });
}

std::vector<Config> Space::sample(std::size_t size, std::uint64_t seed) const {
  Random random(seed);
  std::vector<Config> configs;
  if (raw_count() > most_listed) {
    const auto raw = static_cast<std::uint64_t>(raw_count());
    std::unordered_set<std::uint64_t> seen;
    seen.reserve(std::min<std::size_t>(size, most_listed));
    for (std::size_t tries = 100'000 + 100 * std::min<std::size_t>(size, most_listed);
         configs.size() < size && tries > 0; --tries) {
      const std::uint64_t number = random.below(raw);
      Config config = this->config(number);
      if (holds(must_, config) && seen.insert(number).second) configs.push_back(std::move(config));
    }
    if (configs.size() == size) return configs;
    configs.clear();
  }
  std::vector<std::uint64_t> numbers;
  each([&](const Config& config) {
    numbers.push_back(number(config));
    return true;
  });
  const std::size_t taken = std::min(size, numbers.size());
  for (std::size_t i = 0; i < taken; ++i) {
    std::swap(numbers[i], numbers[i + random.below(numbers.size() - i)]);
    configs.push_back(config(numbers[i]));
  }
  return configs;
}

std::vector<Config> Space::neighbours(const Values& values) const {
  std::vector<Config> found;
  for (const Axis& axis : axes()) {
    const Value* const own = values.find(axis.name);
    for (const Value& value : axis.values) {
      if (own != nullptr && *own == value) continue;
      Values other = values;
      other.set(axis.name, value);
      if (auto config = find(other)) found.push_back(std::move(*config));
    }
  }
  return found;
}

std::optional<Config> Space::find(const Values& values) const {
  if (values.entries().size() != axes().size()) return std::nullopt;
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
  if (!holds(must_, config)) return std::nullopt;
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
      std::string names;
      for (const Axis& a : axes()) names += (names.empty() ? "" : ", ") + a.name;
      return name + " is not an axis of this template; its axes are " + names + ".";
    }
    if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end()) {
      return name + "=" + to_text(value) +
             " is not on its axis; allowed for this problem: " + list(axis->values) + ".";
    }
  }
  return std::nullopt;
}

std::optional<std::string> Space::why_not(const Values& values) const {
  if (auto why = why_not_on_axes(values)) return why;
  for (const Axis& axis : axes()) {
    if (!values.has(axis.name)) return axis.name + " is missing; allowed: " + list(axis.values) + ".";
  }
  Walk walk(*this, Which::legal);
  walk.restrict(values);
  Config config;
  config.axes_ = axes_;
  for (std::size_t axis = 0; axis < axes().size(); ++axis) config.chosen_[axis] = walk.indices[axis].front();
  for (const Rule& rule : must_) {
    if (!rule.holds(config)) return "\"" + values.text() + "\" breaks a rule: " + rule.why;
  }
  return std::nullopt;
}

std::optional<Config> Space::first(const Values& given, Which which) const {
  std::optional<Config> found;
  const std::function<bool(const Config&)> visit = [&](const Config& config) {
    found = config;
    return false;
  };
  Walk walk(*this, which);
  walk.restrict(given);
  walk.run(&visit);
  return found;
}

Config Space::complete(const Values& given) const {
  if (auto why = why_not_on_axes(given)) throw UsageError(*why);
  if (auto config = first(given, Which::promising)) return *config;
  if (auto config = first(given, Which::legal)) return *config;
  Values tried = given;
  for (const Axis& axis : axes()) {
    if (!tried.has(axis.name)) tried.set(axis.name, axis.values.front());
  }
  const std::optional<std::string> why = why_not(tried);
  throw UsageError("No legal config agrees with \"" + given.text() + "\"" + (why ? ": " + *why : "."));
}

}  // namespace tunesmith
