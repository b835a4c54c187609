#include "generator/space.h"

#include <algorithm>
#include <utility>

#include "generator/error.h"
#include "generator/random.h"

namespace tunesmith {
namespace {

std::string list(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + to_text(value);
  return text;
}

}  // namespace

Space::Space(std::vector<Axis> axes, std::vector<Rule> rules)
    : axes_(std::move(axes)), rules_(std::move(rules)), rules_at_(axes_.size()) {
  const auto position = [this](const std::string& name) {
    const auto found =
        std::find_if(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == name; });
    return static_cast<std::size_t>(found - axes_.begin());
  };
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (axis.values.empty()) throw Error("The axis " + axis.name + " has no values.");
    if (position(axis.name) != i) throw Error("The axis " + axis.name + " is named twice.");
    for (const Value& value : axis.values) {
      if (value.index() != axis.values.front().index()) {
        throw Error("The axis " + axis.name + " mixes words and integers: " + list(axis.values) + ".");
      }
    }
  }
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    std::size_t last = 0;
    for (const std::string& name : rules_[r].axes) {
      const std::size_t at = position(name);
      if (at == axes_.size())
        throw Error("The rule \"" + rules_[r].why + "\" reads the unknown axis " + name + ".");
      last = std::max(last, at);
    }
    if (!axes_.empty()) rules_at_[last].push_back(r);
  }
}

bool Space::walk(Config& config, std::size_t axis, const std::function<bool(const Config&)>& visit,
                 const Config* fixed) const {
  if (axis == axes_.size()) return visit(config);
  const Value* only = fixed == nullptr ? nullptr : fixed->find(axes_[axis].name);
  for (const Value& value : axes_[axis].values) {
    if (only != nullptr && value != *only) continue;
    config.set(axes_[axis].name, value);
    const bool legal = std::all_of(rules_at_[axis].begin(), rules_at_[axis].end(),
                                   [&](std::size_t r) { return rules_[r].holds(config); });
    if (legal && !walk(config, axis + 1, visit, fixed)) return false;
  }
  return true;
}

void Space::each(const std::function<bool(const Config&)>& visit) const {
  Config config;
  walk(config, 0, visit, nullptr);
}

std::vector<Config> Space::all() const {
  std::vector<Config> configs;
  each([&](const Config& config) {
    configs.push_back(config);
    return true;
  });
  return configs;
}

std::int64_t Space::count() const {
  std::int64_t count = 0;
  each([&](const Config&) { return ++count, true; });
  return count;
}

std::int64_t Space::raw_count() const {
  std::int64_t count = 1;
  for (const Axis& axis : axes_) count *= static_cast<std::int64_t>(axis.values.size());
  return count;
}

std::vector<Config> Space::sample(std::size_t size, std::uint64_t seed) const {
  std::vector<Config> configs = all();
  Random random(seed);
  const std::size_t taken = std::min(size, configs.size());
  for (std::size_t i = 0; i < taken; ++i)
    std::swap(configs[i], configs[i + random.below(configs.size() - i)]);
  configs.resize(taken);
  return configs;
}

std::vector<Config> Space::neighbours(const Config& config) const {
  std::vector<Config> found;
  for (const Axis& axis : axes_) {
    for (const Value& value : axis.values) {
      Config other = config;
      other.set(axis.name, value);
      if (other != config && !why_not(other)) found.push_back(std::move(other));
    }
  }
  return found;
}

std::optional<std::string> Space::why_not(const Config& config) const {
  for (const auto& [name, value] : config.entries()) {
    const auto axis = std::find_if(axes_.begin(), axes_.end(),
                                   [&wanted = name](const Axis& a) { return a.name == wanted; });
    if (axis == axes_.end()) {
      std::string names;
      for (const Axis& a : axes_) names += (names.empty() ? "" : ", ") + a.name;
      return name + " is not an axis of this template; its axes are " + names + ".";
    }
    if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end()) {
      return name + "=" + to_text(value) +
             " is not on its axis; allowed for this problem: " + list(axis->values) + ".";
    }
  }
  for (const Axis& axis : axes_) {
    if (!config.has(axis.name)) return axis.name + " is missing; allowed: " + list(axis.values) + ".";
  }
  for (const Rule& rule : rules_) {
    if (!rule.holds(config)) return "\"" + config.text() + "\" breaks a rule: " + rule.why;
  }
  return std::nullopt;
}

Config Space::complete(const Config& given) const {
  Config config;
  std::optional<Config> found;
  walk(
      config, 0, [&](const Config& legal) { return found = legal, false; }, &given);
  for (const auto& entry : given.entries()) {
    if (!found || !found->has(entry.first)) {
      Config only;
      only.set(entry.first, entry.second);
      std::optional<std::string> why = why_not(only);
      if (why && why->find("is missing") == std::string::npos) throw UsageError(*why);
    }
  }
  if (found) return *found;
  Config tried = given;
  for (const Axis& axis : axes_) {
    if (!tried.has(axis.name)) tried.set(axis.name, axis.values.front());
  }
  const std::optional<std::string> why = why_not(tried);
  throw UsageError("No legal config agrees with \"" + given.text() + "\"" + (why ? ": " + *why : "."));
}

}  // namespace tunesmith
