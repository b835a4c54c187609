// SPDX-License-Identifier: Apache-2.0
#include "choose/select.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "choose/launch_shape.h"
#include "choose/nearest.h"
#include "generator/error.h"
#include "generator/rates.h"

namespace tunesmith {
namespace {

// Returns the parameters whose values differ, such as "mask_height=3 mask_width=3".
std::string difference(const Values& theirs, const Values& ours) {
  Values differing;
  for (const auto& [name, value] : theirs.entries()) {
    const Value* other = ours.find(name);
    if (other == nullptr || *other != value) differing.set(name, value);
  }
  return differing.text();
}

// Returns the axes whose values differ, such as "OUT_X=4"; empty if none does.
std::string changed_axes(const Config& config, const Values& before) {
  std::string changed;
  for (std::size_t axis = 0; axis < config.axes().size(); ++axis) {
    const Value* const own = before.find(config.axes()[axis].name);
    if (own == nullptr || *own != config.value(axis))
      changed += (changed.empty() ? "" : " ") + config.axes()[axis].name + "=" + to_text(config.value(axis));
  }
  return changed;
}

// True if the candidates' times may be compared.
bool comparable(const Candidate& a, const Candidate& b) {
  return same_model(a.device, b.device) && a.conditions == b.conditions;
}

// The factor of the penalty for a variant that has won one problem only, because it was made for that: by it
// and (1 - likeness) such variants are slower, as a logarithm, with an equally large deviation.
double unproven(const DeviceFacts& device) { return rates_of("any", device).value("any", "unproven"); }
constexpr std::size_t proven_times = 8;  // with times on this many problems, the times are more reliable

// Where launches matter (TimeModel::uses_launches), a variant is ranked by the launch of a near problem until
// its own is known. Variants whose rank is within this of the best one's are completed, to know theirs.
constexpr double error_of_launch = 0.02;

constexpr double adapted_penalty =
    0.25;  // a logarithm: a config without measurements compared with a measured one

// The deviation of a time on this model of device if it is taken from another model with as many of the same
// multiprocessors, as a logarithm: the bandwidths of an H200 and of an H100 differ by 0.36, their clocks by
// less.
constexpr double deviation_elsewhere = 0.4;

template <typename Ranked>  // a Choice, or the data from which one is made
bool before(const Ranked& a, const Ranked& b, std::span<const Candidate> candidates) {
  const bool left_elsewhere = a.match == Match::other_device && !a.is_linked;
  const bool right_elsewhere = b.match == Match::other_device && !b.is_linked;
  if (left_elsewhere != right_elsewhere) return right_elsewhere;
  if (a.cautious != b.cautious) return a.cautious < b.cautious;
  const Candidate& left = candidates[a.candidate];
  const Candidate& right = candidates[b.candidate];
  return std::tuple(-a.likeness, left.origin, !left.has_binary, left.median_us) <
         std::tuple(-b.likeness, right.origin, !right.has_binary, right.median_us);
}

double loss_of(const TimeModel::Estimate& estimate) {
  return std::exp(estimate.slowdown + estimate.deviation * estimate.deviation / 2) - 1;
}

// Returns a winner's launches on its own problem, on the device where it won.
LaunchShape launch_of_winner(const Op& op, const Candidate& one) {
  for (const Template& tmpl : op.templates) {
    if (tmpl.name != one.template_name || why_not(tmpl, one.problem, one.device)) continue;
    if (const auto config = tmpl.space(one.problem, one.device).find(one.config))
      return launch_shape(op, one.problem, tmpl.work(one.problem, *config, one.device));
  }
  return {};
}

// True if the candidate won a problem of another computation.
bool won_another(const Op& op, const Candidate& one, const Problem& problem) {
  return !one.problem.empty() && !same_computation(op, one.problem, problem);
}

}  // namespace

Chooser::Chooser(const Op& op, const DeviceFacts& device, std::span<const Candidate> candidates)
    : op_(&op), device_(device), unproven_(unproven(device)), candidates_(candidates) {
  struct Comparable {
    const Candidate* first;
    std::shared_ptr<const Weights> weights;  // the weights of its first table, whose solution the group uses
    std::vector<std::size_t> members = {};
  };
  std::vector<Comparable> kinds;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Candidate& one = candidates[c];
    if (one.op != op.name) continue;
    if (one.fault.empty()) known_.insert(one.template_name + " " + one.config.text());
    if (!one.fault.empty() || one.device.kind != device.kind) {
      unusable_.push_back(c);
      continue;
    }
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const Comparable& known) { return comparable(*known.first, one); });
    if (kind == kinds.end()) kind = kinds.insert(kind, {&one, nullptr});
    if (kind->weights == nullptr) kind->weights = one.weights;
    kind->members.push_back(c);
  }
  for (const Comparable& kind : kinds) add_group(*kind.first, kind.members, kind.weights.get());
  for (Group& group : groups_)
    if (!group.same_device) link(group);
}

// Links a group of another device to one of this device, because this device's table knows nothing of a
// template that is newer than it.
void Chooser::link(Group& elsewhere) const {
  const auto first_of = [&](const Group& group) -> const Candidate& {
    return candidates_[group.members.front().candidate];
  };
  const DeviceFacts& theirs = first_of(elsewhere).device;
  if (theirs.target != device_.target || theirs.multiprocessors != device_.multiprocessors) return;
  for (std::size_t own = 0; own < groups_.size(); ++own) {
    const Group& group = groups_[own];
    if (!group.same_device || !(first_of(group).conditions == first_of(elsewhere).conditions)) continue;
    Group::Link link{own};
    for (const Group::Member& member : group.members)
      if (!member.row) link.templates.insert(candidates_[member.candidate].template_name);
    if (!link.templates.empty()) elsewhere.link = std::move(link);
  }
}

void Chooser::add_group(const Candidate& first, const std::vector<std::size_t>& members,
                        const Weights* weights) {
  const bool same = same_model(first.device, device_);
  Group& group = groups_.emplace_back(Group{TimeModel(*op_, weights == nullptr ? Weights() : *weights), same,
                                            same ? 0 : unlikeness(first.device, device_)});
  std::map<std::string, std::size_t> variants;    // variants by template and config; all guesses are one
  std::map<const Problem*, std::size_t> anchors;  // the candidates of a table share them
  for (const std::size_t c : members) {
    const Candidate& one = candidates_[c];
    const bool guess = is_guess(*op_, one.template_name, one.config);
    const auto [known, is_new] = variants.try_emplace(
        guess ? std::string() : one.template_name + " " + one.config.text(), group.model.variants());
    const std::size_t variant = is_new ? group.model.add_variant(guess) : known->second;
    Group::Member& member = group.members.emplace_back(Group::Member{c, variant, std::nullopt});
    if (!one.problem.empty()) {
      member.row = group.model.add_problem(one.problem);
      group.model.add_time(variant, *member.row, one.median_us, {},
                           group.model.uses_launches() ? launch_of_winner(*op_, one) : LaunchShape());
    }
    const bool is_solved = weights != nullptr && one.weights.get() == weights;
    for (const Candidate::Time& time : one.times) {
      const auto [row, is_new_row] = anchors.try_emplace(time.problem.get(), 0);
      if (is_new_row) row->second = group.model.add_problem(*time.problem);
      const auto given = [&](double factor) { return is_solved ? std::optional(factor) : std::nullopt; };
      group.model.add_time(variant, row->second, time.us, given(time.factor), time.launch);
      group.model.add_best(row->second, time.best_us, given(time.best_factor));
    }
  }
  group.model.solve();
}

std::vector<Choice> Chooser::rank(const Problem& problem) const {
  std::vector<TimeModel::Estimates> estimates;
  return rank(problem, estimates);
}

// True if the estimate of a variant depends on what it launches on the problem.
bool Chooser::depends_on_launch(const Group& group, const Group::Member& member) {
  return group.same_device && group.model.uses_launches() &&
         (!member.row || group.model.times(member.variant) >= proven_times);
}

std::vector<Choice> Chooser::rank(const Problem& problem,
                                  std::vector<TimeModel::Estimates>& estimates) const {
  struct RankedCandidate {  // cheaper to move than a choice
    std::size_t candidate;
    Match match;
    bool is_linked;
    double cautious, likeness, expected_us;
    TimeModel::Estimate estimate;
  };
  const auto is_of_problem = [](const TimeModel::Estimates& known, std::optional<std::size_t> row) {
    return row && std::ranges::find(known.rows, *row) != known.rows.end();
  };
  std::vector<RankedCandidate> order;
  std::size_t members = 0;
  bool any_exact = false;
  for (const Group& group : groups_) {
    members += group.members.size();
    estimates.push_back(group.model.estimate(problem));
    any_exact |= group.same_device && std::ranges::any_of(group.members, [&](const Group::Member& member) {
                   return is_of_problem(estimates.back(), member.row);
                 });
  }
  order.reserve(members);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const TimeModel::Estimates& there = estimates[g];
    for (const Group::Member& member : group.members) {
      const auto& [c, variant, row] = member;
      const Candidate& candidate = candidates_[c];
      if (!there.is_known[variant] || won_another(*op_, candidate, problem)) continue;
      TimeModel::Estimate estimate = there.of[variant];
      const double likeness = row ? static_cast<double>(there.likeness[*row]) : 0;
      if (row && group.model.times(variant) < proven_times) {
        const double slower = unproven_ * (1 - likeness);
        estimate.slowdown = std::max(estimate.slowdown, slower);
        estimate.deviation = std::max(estimate.deviation, slower);
      }
      const Match match = !group.same_device          ? Match::other_device
                          : is_of_problem(there, row) ? Match::exact
                                                      : Match::predicted;
      RankedCandidate one{c, match, false, estimate.cautious() + group.penalty, likeness, 0, estimate};
      if (estimate.deviation > 0 && depends_on_launch(group, member)) one.cautious -= error_of_launch;
      if (group.same_device) {
        one.expected_us =
            match == Match::exact ? candidate.median_us : there.best_us * std::exp(estimate.slowdown);
      } else if (group.link && !row && !any_exact &&
                 !group.link->templates.contains(candidate.template_name)) {
        const double slower = std::log(there.best_us / estimates[group.link->own].best_us);
        one.is_linked = true;
        one.expected_us = there.best_us * std::exp(estimate.slowdown);
        one.cautious = TimeModel::Estimate{estimate.slowdown + slower,
                                           std::hypot(estimate.deviation, deviation_elsewhere)}
                           .cautious();
      }
      order.push_back(one);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const RankedCandidate& a, const RankedCandidate& b) {
    return before(a, b, candidates_);
  });
  std::vector<Choice> choices(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const RankedCandidate& one = order[i];
    const TimeModel::Estimate& estimate = one.estimate;
    Choice& choice = choices[i];
    choice.candidate = one.candidate;
    choice.match = one.match;
    choice.is_linked = one.is_linked;
    choice.cautious = one.cautious;
    choice.likeness = one.likeness;
    choice.expected_loss = loss_of(estimate);
    choice.expected_us = one.expected_us;
  }
  return choices;
}

std::vector<TimeModel::MeasuredTime> Chooser::nearest(const Problem& problem, const Choice& choice,
                                                      std::size_t most) const {
  for (const Group& group : groups_) {
    for (const Group::Member& member : group.members)
      if (member.candidate == choice.candidate) return group.model.nearest(member.variant, problem, most);
  }
  return {};
}

const Space& Chooser::space_of(const Template& tmpl, const Problem& problem, Known& known) const {
  for (const auto& [of, space] : known.spaces)
    if (of == &tmpl) return space;
  return known.spaces.emplace_back(&tmpl, tmpl.space(problem, device_)).second;
}

// The candidate's config on the problem, as it was measured. A variant of a portfolio was measured on other
// problems as what its config is there.
std::optional<Config> Chooser::config_of(const Candidate& candidate, const Template& tmpl,
                                         const Problem& problem, const Space& space, Known& known) const {
  if (!candidate.problem.empty()) return space.find(candidate.config);
  if (!is_guess(*op_, tmpl.name, candidate.config))
    return config_on(*op_, tmpl, problem, device_, space, candidate.config);
  if (!known.guess) known.guess.emplace(first_guess(*op_, problem, device_));
  const std::optional<UntunedVariant>& guess = *known.guess;
  return guess && guess->tmpl == &tmpl ? std::optional(guess->config) : std::nullopt;
}

// Estimates a choice by what it launches, which is known now.
void Chooser::refine(const Problem& problem, const Work& work, Choice& choice, const Known& known) const {
  for (std::size_t g = 0; g < known.estimates.size(); ++g) {
    const Group& group = groups_[g];
    for (const Group::Member& member : group.members) {
      if (member.candidate != choice.candidate) continue;
      const TimeModel::Estimates& there = known.estimates[g];
      if (there.of[member.variant].deviation == 0 || !depends_on_launch(group, member)) return;
      const TimeModel::Estimate its =
          group.model.estimate_of(member.variant, there, launch_shape(*op_, problem, work));
      choice.cautious = its.cautious();
      choice.expected_loss = loss_of(its);
      choice.expected_us = there.best_us * std::exp(its.slowdown);
      return;
    }
  }
}

std::optional<std::string> Chooser::complete(const Problem& problem, bool may_compile, Choice& choice) const {
  Known known;
  return complete(problem, may_compile, choice, known);
}

std::optional<std::string> Chooser::complete(const Problem& problem, bool may_compile, Choice& choice,
                                             Known& known) const {
  const Candidate& candidate = candidates_[choice.candidate];
  const auto tmpl = std::find_if(op_->templates.begin(), op_->templates.end(),
                                 [&](const Template& t) { return t.name == candidate.template_name; });
  if (tmpl == op_->templates.end())
    return op_->name + " has no template " + candidate.template_name + " in this version.";
  if (auto why = why_not(*tmpl, problem, device_)) return why;
  const Space& space = space_of(*tmpl, problem, known);
  // It is not legal, for example, if VECTOR does not divide a width, or a tile is too large for another mask.
  auto config = config_of(candidate, *tmpl, problem, space, known);
  choice.is_adapted = config.has_value();
  const bool is_its_way = is_way(*op_, tmpl->name, candidate.config);
  const bool is_named = is_guess_or_way(*op_, tmpl->name, candidate.config);
  if (!config && may_compile && op_->kind && !is_its_way) config = adapted(space, candidate.config);
  if (!config && may_compile && !is_its_way) config = nearest_legal(space, candidate.config, one_number);
  if (!config) {
    return is_named
               ? "The template names no config for this problem; another template suits it better."
               : "Its config is not legal for this problem: " + space.why_not(candidate.config).value_or("");
  }
  choice.changed = is_named ? "" : changed_axes(*config, candidate.config);
  choice.config = std::move(*config);
  const Work work = tmpl->work(problem, choice.config, device_);
  if (!reentrant(work)) {
    return "It keeps state in its module between two steps, so two streams cannot launch it at the same "
           "time.";
  }
  if (auto why = exceeds(work, device_)) return why;
  refine(problem, work, choice, known);
  choice.is_complete = true;
  choice.alignment_bytes = alignment_bytes(*tmpl, problem, choice.config);
  if (candidate.problem.empty()) return std::nullopt;  // it has no binary of its own

  const std::string constants =
      difference(compiled_in(*op_, *tmpl, candidate.problem), compiled_in(*op_, *tmpl, problem));
  const bool same_target = candidate.device.target == device_.target;
  choice.must_compile =
      !constants.empty() || !same_target || !candidate.has_binary || !choice.changed.empty();
  if (choice.must_compile && !may_compile) {
    if (!constants.empty())
      return "It was compiled for other constants (" + constants + "), and compiling is not allowed.";
    if (!same_target) {
      return "It was compiled for " + candidate.device.target + ", this device needs " + device_.target +
             ", and compiling is not allowed.";
    }
    return "No binary is stored for it, and compiling is not allowed.";
  }
  if (!choice.changed.empty() && same_until_launch(*op_, candidate.problem, problem))
    return "It is stale: its config is no longer legal for the problem that it won; tune it again.";
  return std::nullopt;
}

// True if a changed config is that of another candidate, which is ranked itself.
bool Chooser::is_known(const Choice& choice) const {
  return known_.contains(candidates_[choice.candidate].template_name + " " + choice.config.text());
}

Selection Chooser::select(const Problem& problem, bool may_compile) const {
  Selection selection;
  for (const std::size_t c : unusable_) {
    const Candidate& candidate = candidates_[c];
    selection.refusals.push_back(
        {c, !candidate.fault.empty()
                ? candidate.fault
                : "It was tuned on a device of kind " + std::string(to_text(candidate.device.kind)) +
                      ", and this device is of kind " + std::string(to_text(device_.kind)) + "."});
  }
  for (const Group& group : groups_) {
    const TimeModel::Estimates there = group.model.estimate(problem);
    for (const Group::Member& member : group.members) {
      if (won_another(*op_, candidates_[member.candidate], problem)) {
        selection.refusals.push_back(
            {member.candidate, "It won another computation, which says nothing of this one."});
      } else if (!there.is_known[member.variant]) {
        selection.refusals.push_back({member.candidate, "It was not measured on a problem of this kind (" +
                                                            op_->kind(problem) + ")."});
      }
    }
  }
  Choices all(*this, problem, may_compile);
  while (const Choice* choice = all.at(selection.choices.size())) selection.choices.push_back(*choice);
  selection.refusals.insert(selection.refusals.end(), all.refusals.begin(), all.refusals.end());
  return selection;
}

// Calls complete(), and adjusts the estimates of a changed config.
std::optional<std::string> Chooser::finish(const Problem& problem, bool may_compile, Choice& choice,
                                           Known& known) const {
  if (auto why = complete(problem, may_compile, choice, known)) return why;
  if (choice.changed.empty() || choice.is_adapted) return std::nullopt;
  if (is_known(choice)) {
    return "Changed to " + choice.changed + " to be legal for this problem, it is another known variant.";
  }
  choice.cautious += adapted_penalty;
  return std::nullopt;
}

bool Chooser::is_before(const Choice& a, const Choice& b) const { return before(a, b, candidates_); }

// A choice that ranks lower now that it is complete moves behind those that rank before it, and is met there
// again.
const Choice* Choices::at(std::size_t i) {
  while (usable_ <= i && usable_ < choices_.size()) {
    const auto next = choices_.begin() + static_cast<std::ptrdiff_t>(usable_);
    if (next->is_complete) {
      ++usable_;
      continue;
    }
    if (auto why = chooser_.finish(problem_, may_compile_, *next, known_)) {
      refusals.push_back({next->candidate, std::move(*why)});
      choices_.erase(next);
      continue;
    }
    const auto place =
        std::lower_bound(next + 1, choices_.end(), *next,
                         [&](const Choice& a, const Choice& b) { return chooser_.is_before(a, b); });
    std::rotate(next, next + 1, place);
  }
  return i < usable_ ? &choices_[i] : nullptr;
}

const Choice* Choices::find(std::size_t& i, const std::function<bool(const Choice&)>& wanted) {
  for (; i < choices_.size(); ++i) {
    while (i < choices_.size() && wanted(choices_[i])) {
      Choice& choice = choices_[i];
      auto why = choice.is_complete ? std::nullopt : chooser_.finish(problem_, may_compile_, choice, known_);
      if (!why && wanted(choice)) return &choice;
      if (!why) break;
      refusals.push_back({choice.candidate, std::move(*why)});
      choices_.erase(choices_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return nullptr;
}

}  // namespace tunesmith
