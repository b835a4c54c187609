// SPDX-License-Identifier: Apache-2.0
#include "generator/walk.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tunesmith {

Space::Walk::Walk(const Space& space, Subset subset) : Walk(space, Config::all_axes, space.rules(subset)) {}

Space::Walk::Walk(const Space& space, std::uint32_t axes, std::vector<const Rule*> rules)
    : axes_(space.axes_->list),
      rules_(std::move(rules)),
      waiting_(axes_.size()),
      indices_(axes_.size()),
      walked_(axes) {
  config_.axes_ = space.axes_;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if ((axes >> axis & 1U) == 0) continue;
    order_.push_back(axis);
    for (std::size_t i = 0; i < axes_[axis].values.size(); ++i)
      indices_[axis].push_back(static_cast<std::uint16_t>(i));
  }
}

void Space::Walk::restrict(const Values& given) {
  for (const std::size_t axis : order_) {
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

// Returns false if the rule is broken for all values of the axes that are not chosen yet, or if it has read
// an axis outside the walk.
bool Space::Walk::decide(const Rule* rule) {
  config_.missed_ = 0;
  const bool holds = rule->holds(config_);
  if (config_.missed_ == 0) return holds;
  outside_ |= config_.missed_ & ~walked_;
  if (outside_ != 0) return false;
  const auto first = static_cast<std::size_t>(std::countr_zero(config_.missed_));
  waiting_[first].push_back(rule);
  postponed_.push_back(first);
  ++pending_;
  return true;
}

// Takes back the postponements that decide() has made since then.
void Space::Walk::forget_postponed(std::size_t since) {
  for (; postponed_.size() > since; postponed_.pop_back()) waiting_[postponed_.back()].pop_back();
}

void Space::Walk::pick(std::span<const std::uint64_t> places,
                       const std::function<void(const Config&, std::size_t)>& visit) {
  if (places.empty()) return;
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (const std::uint64_t place : places) order.emplace_back(place, order.size());
  std::sort(order.begin(), order.end());
  std::vector<std::uint64_t> ascending;
  ascending.reserve(order.size());
  for (const auto& one : order) ascending.push_back(one.first);
  passes_by_ = true;
  places_ = ascending;
  run([&, next = order.begin()](const Config& config) mutable {
    visit(config, next++->second);
    return true;
  });
}

// Passes a subtree in which all configs are legal. Only a count may exceed 64 bits.
bool Space::Walk::pass_by(std::size_t depth, const Visit& visit) {
  std::uint64_t leaves = 1;
  double counted = 1;
  for (std::size_t d = depth; d < order_.size(); ++d) {
    leaves *= indices_[order_[d]].size();
    counted *= static_cast<double>(indices_[order_[d]].size());
  }
  counted_ += counted;
  const std::uint64_t end = passed_ + leaves;
  for (; !places_.empty() && places_.front() < end; places_ = places_.subspan(1)) {
    Config config = config_;
    config.set_ = walked_;
    std::uint64_t digits = places_.front() - passed_;
    for (std::size_t d = order_.size(); d-- > depth; digits /= indices_[order_[d]].size())
      config.chosen_[order_[d]] = indices_[order_[d]][digits % indices_[order_[d]].size()];
    visit(config);
  }
  passed_ = end;
  return !visit || !places_.empty();
}

// Returns false if `visit` has returned false, the limit is reached or a rule has read an axis outside the
// walk.
bool Space::Walk::below(std::size_t depth, const Visit& visit) {
  if (passes_by_ && pending_ == 0) return pass_by(depth, visit);
  const std::uint32_t set_before = config_.set_;
  if (depth == order_.size()) {
    config_.set_ = walked_;
    config_.missed_ = 0;
    const bool more = visit(config_);
    config_.set_ = set_before;
    return more;
  }
  const std::size_t axis = order_[depth];
  const std::vector<const Rule*>& due = waiting_[axis];  // a rule that they postpone waits for a later axis
  const std::size_t postponed_before = postponed_.size();
  const std::size_t pending_before = pending_;
  for (const std::uint16_t index : indices_[axis]) {
    if (steps_left_ == 0) return false;
    if (steps_left_ != no_limit) --steps_left_;
    config_.chosen_[axis] = index;
    config_.set_ = set_before | std::uint32_t{1} << axis;
    pending_ -= due.size();
    const bool legal = std::all_of(due.begin(), due.end(), [this](const Rule* rule) { return decide(rule); });
    const bool more = outside_ == 0 && (!legal || below(depth + 1, visit));
    forget_postponed(postponed_before);
    pending_ = pending_before;
    if (!more) return false;
  }
  config_.chosen_[axis] = 0;
  config_.set_ = set_before;
  return true;
}

}  // namespace tunesmith
