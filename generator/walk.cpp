#include "generator/walk.h"

#include <algorithm>

namespace tunesmith {

Space::Walk::Walk(const Space& space, Subset subset)
    : axes_(space.axes_->list), waiting_(axes_.size()), indices_(axes_.size()) {
  for (const Rule& rule : space.must_) rules_.push_back(&rule);
  if (subset == Subset::promising) {
    for (const Rule& rule : space.worth_) rules_.push_back(&rule);
  }
  config_.axes_ = space.axes_;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    for (std::size_t i = 0; i < axes_[axis].values.size(); ++i)
      indices_[axis].push_back(static_cast<std::uint16_t>(i));
  }
}

void Space::Walk::restrict(const Values& given) {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const Value* only = given.find(axes_[axis].name);
    if (only == nullptr) continue;
    std::erase_if(indices_[axis], [&](std::uint16_t i) { return axes_[axis].values[i] != *only; });
  }
}

void Space::Walk::run(const Visit& visit) {
  config_.set_ = 0;
  for (const Rule* rule : rules_) {
    if (!decide(rule)) return;
  }
  below(0, visit);
}

// False: broken, whatever the axes that are not set yet.
bool Space::Walk::decide(const Rule* rule) {
  config_.missed_ = Config::most_axes;
  const bool holds = rule->holds(config_);
  if (config_.missed_ == Config::most_axes) return holds;
  waiting_[config_.missed_].push_back(rule);
  postponed_.push_back(config_.missed_);
  ++pending_;
  return true;
}

// Takes back what decide() has postponed since then.
void Space::Walk::forget_postponed(std::size_t since) {
  for (; postponed_.size() > since; postponed_.pop_back()) waiting_[postponed_.back()].pop_back();
}

// All below are legal.
bool Space::Walk::pass_by(std::size_t axis, const Visit& visit) {
  std::uint64_t leaves = 1;
  for (std::size_t a = axis; a < axes_.size(); ++a) leaves *= indices_[a].size();
  for (; !places_.empty() && places_.front() < passed_ + leaves; places_ = places_.subspan(1)) {
    Config config = config_;
    config.set_ = config.missed_ = Config::most_axes;
    std::uint64_t digits = places_.front() - passed_;
    for (std::size_t a = axes_.size(); a-- > axis; digits /= indices_[a].size())
      config.chosen_[a] = indices_[a][digits % indices_[a].size()];
    visit(config);
  }
  passed_ += leaves;
  return !visit || !places_.empty();
}

// False: `visit` wants no more.
bool Space::Walk::below(std::size_t axis, const Visit& visit) {
  if (passes_by_ && pending_ == 0) return pass_by(axis, visit);
  if (axis == axes_.size()) {
    config_.set_ = config_.missed_ = Config::most_axes;
    const bool more = visit(config_);
    config_.set_ = static_cast<std::uint8_t>(axis);
    return more;
  }
  const std::vector<const Rule*>& due = waiting_[axis];  // what they postpone waits for later axes
  const std::size_t postponed_before = postponed_.size();
  const std::size_t pending_before = pending_;
  for (const std::uint16_t index : indices_[axis]) {
    config_.chosen_[axis] = index;
    config_.set_ = static_cast<std::uint8_t>(axis + 1);
    pending_ -= due.size();
    const bool legal = std::all_of(due.begin(), due.end(), [this](const Rule* rule) { return decide(rule); });
    const bool more = !legal || below(axis + 1, visit);
    forget_postponed(postponed_before);
    pending_ = pending_before;
    if (!more) return false;
  }
  config_.chosen_[axis] = 0;
  config_.set_ = static_cast<std::uint8_t>(axis);
  return true;
}

}  // namespace tunesmith
