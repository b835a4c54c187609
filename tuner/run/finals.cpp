// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/finals.h"

#include <algorithm>
#include <utility>

#include "generator/error.h"

namespace tunesmith {
namespace {

// After these rounds the limit of time may end the finals.
constexpr int least_rounds = 3;

// The most energies that are measured if they do not choose the winner.
constexpr std::size_t most_energies = 6;

bool contains(const auto& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Contender contender(TrialId trial_id, const Trial& trial) {
  Contender contender;
  contender.index = static_cast<std::size_t>(trial_id);
  contender.median_us = trial.median_us;
  contender.alignment_bytes = trial.variant.alignment_bytes;
  contender.registers = trial.reply.registers;
  contender.shared_bytes = trial.reply.static_shared_bytes + trial.reply.dynamic_shared_bytes;
  contender.may_win = reentrant(trial.variant.work);
  return contender;
}

}  // namespace

Finals::Finals(Setup setup, Findings& findings) : setup_(std::move(setup)), findings_(findings) {
  std::vector<Contender> all;
  for (std::size_t i = 0; i < findings_.trials.size(); ++i) {
    const Trial& trial = findings_.trials[i];
    if (trial.median_us > 0) all.push_back(contender(static_cast<TrialId>(i), trial));
  }
  if (findings_.base_us() > 0) trial_ids_.push_back(0);
  for (const std::size_t index : choose_finalists(all, setup_.element_bytes, setup_.policy)) {
    if (index != 0) trial_ids_.push_back(static_cast<TrialId>(index));
  }
  for (const Contender& each : all) {
    const auto trial_id = static_cast<TrialId>(each.index);
    if (contains(setup_.built_in, findings_.trial(trial_id).variant.source.hash) &&
        !contains(trial_ids_, trial_id))
      trial_ids_.push_back(trial_id);
  }
  add_previous_winners();
}

// A winner of an earlier run takes part, so that it is beaten at today's clocks, or stays with today's time.
// This run need not search its template.
void Finals::add_previous_winners() {
  for (const WinnerRow& row : setup_.previous) {
    const auto same = [&](const Trial& trial) {
      return trial.variant.source.hash == row.variant.source_hash;
    };
    const auto found = std::find_if(findings_.trials.begin(), findings_.trials.end(), same);
    const TrialId trial_id = found - findings_.trials.begin();
    if (found == findings_.trials.end()) {
      auto variant = setup_.render(row);
      if (!variant) continue;  // the space changed: stale
      Trial trial;
      trial.variant = std::move(*variant);
      trial.median_us = row.median_us;
      if (!same(trial)) continue;  // the template changed: stale
      findings_.trials.push_back(std::move(trial));
    }
    if (findings_.trial(trial_id).median_us <= 0) continue;  // it failed in this run
    if (!contains(trial_ids_, trial_id)) trial_ids_.push_back(trial_id);
  }
}

std::vector<TrialId> Finals::uncompiled() const {
  std::vector<TrialId> missing;
  for (const TrialId trial_id : trial_ids_) {
    if (findings_.trial(trial_id).binary.empty()) missing.push_back(trial_id);
  }
  return missing;
}

void Finals::compiled(CompileResult result) {
  Trial& trial = findings_.trial(result.ticket);
  trial.binary = std::move(result.binary);
  trial.compile_ms = result.milliseconds;
}

std::optional<Finals::Question> Finals::next() {
  if (stage_ == Stage::before) begin_rounds();
  if (stage_ == Stage::rounds) {
    if (in_round_ == round_.size()) begin_round();
    if (!round_.empty()) {
      const TrialId trial_id = entrants_[round_[in_round_]];
      return asked_ = Question{trial_id, !findings_.trial(trial_id).checked, setup_.policy.final_samples};
    }
    end_rounds();
  }
  if (stage_ == Stage::energy) {
    if (!energy_left_.empty()) {
      Question question{energy_left_.back(), false, 1};
      question.energy = true;
      return asked_ = question;
    }
    record();
  }
  return asked_ = next_second_check();
}

void Finals::begin_rounds() {
  std::erase_if(trial_ids_, [&](TrialId trial_id) { return findings_.trial(trial_id).binary.empty(); });
  for (const TrialId trial_id : trial_ids_) {
    const Trial& trial = findings_.trial(trial_id);
    Contender entrant = contender(trial_id, trial);
    entrant.stored = std::any_of(setup_.previous.begin(), setup_.previous.end(), [&](const WinnerRow& row) {
      return row.variant.source_hash == trial.variant.source.hash;
    });
    contenders_.push_back(entrant);
  }
  entrants_ = trial_ids_;
  race_.emplace(contenders_, alignments(), setup_.policy);
  began_s_ = setup_.now_s();
  stage_ = Stage::rounds;
}

void Finals::begin_round() {
  if (!round_.empty()) race_->end_round();
  in_round_ = 0;
  round_ = race_->next_round();
  const bool late = setup_.now_s() - began_s_ > setup_.policy.final_seconds;
  if (late && race_->rounds() >= least_rounds) round_.clear();
  done_ = race_->rounds();
  total_ = setup_.policy.final_rounds;
}

void Finals::answered(MeasureReply reply) {
  if (!asked_) return;
  const Question question = *std::exchange(asked_, std::nullopt);
  if (stage_ == Stage::rounds) {
    take_time(question.trial_id, std::move(reply));
    ++in_round_;
  } else if (stage_ == Stage::energy) {
    energy_left_.pop_back();
    take_energy(question.trial_id, reply);
  } else if (reply.verdict == Verdict::ok) {
    passed_.push_back(question.trial_id);
    done_ = static_cast<std::int64_t>(passed_.size());
  } else {
    reply.reason = "With other inputs: " + reply.reason;
    fail(question.trial_id, reply);
  }
}

void Finals::take_time(TrialId trial_id, MeasureReply reply) {
  if (reply.verdict != Verdict::ok) return fail(trial_id, reply);
  race_->add(round_[in_round_], summarize(reply.samples_us).median_us);
  std::vector<double>& all = samples_us_[trial_id];
  Trial& trial = findings_.trial(trial_id);
  if (!all.empty()) {  // times of all rounds
    if (trial.reply.clock_mhz > 0) reply.clock_mhz = std::min(reply.clock_mhz, trial.reply.clock_mhz);
    if (reply.throttled.empty()) reply.throttled = trial.reply.throttled;
  }
  all.insert(all.end(), reply.samples_us.begin(), reply.samples_us.end());
  if (trial.checked) {  // only a check compares
    reply.compared = trial.reply.compared || reply.compared;
    reply.max_error = std::max(reply.max_error, trial.reply.max_error);
  }
  trial.reply = std::move(reply);
  trial.checked = true;
}

std::optional<Interval> Finals::best_us() const {
  if (!race_) return std::nullopt;
  const std::vector<Standing> all = race_->standings(0);
  if (all.empty()) return std::nullopt;
  return median_interval(race_->loads_us(all.front().who), stated_confidence);
}

// Measuring energy takes most of a second per variant: if energy chooses the winner it is measured for all,
// else for the base and the first of the tied ones.
void Finals::end_rounds() {
  for (std::size_t who = 0; who < entrants_.size(); ++who) {
    Trial& trial = findings_.trial(entrants_[who]);
    if (!contains(trial_ids_, entrants_[who])) continue;
    trial.loads_us = race_->loads_us(who);
    trial.median_us = summarize(trial.loads_us).median_us;
    findings_.worst_us = std::max(findings_.worst_us, trial.median_us);
  }
  stage_ = Stage::energy;
  if (!setup_.energy) return;
  const auto add = [&](TrialId trial_id) {
    if (!contains(energy_left_, trial_id)) energy_left_.insert(energy_left_.begin(), trial_id);
  };
  if (setup_.conditions.objective != Objective::time) {
    for (const TrialId trial_id : trial_ids_) add(trial_id);
    return;
  }
  if (contains(trial_ids_, TrialId{0})) add(0);
  for (const TrialId trial_id : winners()) add(trial_id);
  for (const Standing& each : race_->standings(0)) {
    if (each.state == Standing::State::slower || energy_left_.size() >= most_energies) continue;
    add(entrants_[each.who]);
  }
}

void Finals::take_energy(TrialId trial_id, const MeasureReply& reply) {
  if (reply.verdict != Verdict::ok) return fail(trial_id, reply);
  findings_.trial(trial_id).reply.energy_uj = reply.energy_uj;
  if (reply.energy_uj > 0) return;
  if (setup_.conditions.objective != Objective::time) {
    record();  // the times are valid
    throw UsageError("The objective " + std::string(to_text(setup_.conditions.objective)) +
                     " needs the energy of a launch, and this device does not tell it (NVML has no counter "
                     "for it, or is not installed); use the objective time.");
  }
  energy_left_.clear();
}

// Records one row per finalist, with the samples of all rounds.
void Finals::record() {
  for (const TrialId trial_id : trial_ids_) {
    Trial& trial = findings_.trial(trial_id);
    trial.reply.samples_us = samples_us_[trial_id];
    trial.measurement = setup_.record(trial, trial.reply);
  }
  stage_ = Stage::second_check;
}

void Finals::fail(TrialId trial_id, const MeasureReply& reply) {
  Trial& trial = findings_.trial(trial_id);
  trial.measurement = setup_.record(trial, reply);
  trial.reply = reply;
  trial.median_us = 0;
  ++findings_.failed;
  std::erase(trial_ids_, trial_id);
  race_->drop(
      static_cast<std::size_t>(std::find(entrants_.begin(), entrants_.end(), trial_id) - entrants_.begin()));
}

std::vector<Standing> Finals::standings(std::int64_t most_alignment_bytes) const {
  if (setup_.conditions.objective == Objective::time) return race_->standings(most_alignment_bytes);
  std::vector<double> values;
  for (const TrialId trial_id : entrants_) {
    const Trial& trial = findings_.trial(trial_id);
    const double factor = setup_.conditions.objective == Objective::edp ? trial.median_us : 1;
    values.push_back(contains(trial_ids_, trial_id) ? trial.reply.energy_uj * factor : 0);
  }
  return standings_of(values, contenders_, most_alignment_bytes, setup_.policy.energy_within);
}

// The winner's place in the standings.
std::optional<std::size_t> Finals::winner(const std::vector<Standing>& standings) const {
  const double resolution =
      setup_.conditions.objective == Objective::time ? setup_.policy.resolution : setup_.policy.energy_within;
  const auto who = choose_winner(standings, contenders_, resolution);
  if (!who) return std::nullopt;
  const auto place = [&](const Standing& each) { return each.who == *who; };
  return std::find_if(standings.begin(), standings.end(), place) - standings.begin();
}

// The winners of each alignment that is asked for.
std::vector<TrialId> Finals::winners() const {
  std::vector<TrialId> trial_ids;
  for (const std::int64_t alignment : alignments()) {
    const std::vector<Standing> all = standings(alignment);
    if (const auto place = winner(all)) trial_ids.push_back(entrants_[all[*place].who]);
  }
  return trial_ids;
}

Interval Finals::ratio(const Standing& who, const Standing& winner) const {
  if (who.who == winner.who) return {1, 1, 1};
  if (setup_.conditions.objective == Objective::time) return race_->ratio(who.who, winner.who);
  Interval ratio = who.ratio;  // of values without an interval
  ratio.middle /= winner.ratio.middle;
  return ratio;
}

std::optional<TrialId> Finals::finalist_of(const WinnerRow& row) const {
  for (const TrialId trial_id : trial_ids_) {
    if (findings_.trial(trial_id).variant.source.hash == row.variant.source_hash) return trial_id;
  }
  return std::nullopt;
}

// All variants that would be written as a winner are checked against inputs that no variant has seen. So is
// the base, because dispatch falls back to it. A variant that fails makes room for the next.
std::optional<Finals::Question> Finals::next_second_check() {
  std::vector<TrialId> candidates;
  const auto add = [&](TrialId trial_id) {
    if (!contains(candidates, trial_id)) candidates.push_back(trial_id);
  };
  if (contains(trial_ids_, TrialId{0})) add(0);
  for (const TrialId trial_id : winners()) add(trial_id);
  for (const WinnerRow& row : setup_.previous) {
    if (const auto trial_id = finalist_of(row)) add(*trial_id);
  }
  done_ = static_cast<std::int64_t>(passed_.size());
  total_ = static_cast<std::int64_t>(candidates.size());
  for (const TrialId trial_id : candidates) {
    if (!contains(passed_, trial_id)) return Question{trial_id, true, 0, true};
  }
  return std::nullopt;
}

Decision Finals::decide() const {
  Decision decision;
  std::vector<std::int64_t> stale;  // their alignments
  for (const WinnerRow& row : setup_.previous) {
    if (const auto trial_id = finalist_of(row)) {
      decision.confirmed.push_back({*trial_id, row.alignment_bytes, conditions_of(row) != setup_.conditions});
    } else {
      stale.push_back(row.alignment_bytes);
    }
  }
  for (const std::int64_t most_bytes : alignments()) {
    const std::vector<Standing> all = standings(most_bytes);
    const auto place = winner(all);
    if (!place) continue;
    const TrialId trial_id = entrants_[all[*place].who];
    const auto named = [&](const Decision::Winner& other) { return other.trial_id == trial_id; };
    if (std::any_of(decision.winners.begin(), decision.winners.end(), named)) continue;
    const std::int64_t alignment = findings_.trial(trial_id).variant.alignment_bytes;
    decision.winners.push_back({trial_id, alignment, contains(stale, alignment)});
    std::erase(stale, alignment);
    for (const Standing& each : all) {
      decision.finalists.push_back(
          {trial_id, entrants_[each.who], ratio(each, all[*place]), each.state != Standing::State::slower});
    }
  }
  // A stale row is dropped if no winner of this run has its alignment, because nothing would ever replace it.
  if (!decision.winners.empty()) decision.dropped = std::move(stale);
  decision.base = !trial_ids_.empty() && trial_ids_.front() == 0;
  return decision;
}

}  // namespace tunesmith
