#include "tuner/finals.h"

#include <algorithm>
#include <utility>

namespace tunesmith {
namespace {

bool contains(const auto& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Contender contender(Ticket ticket, const Trial& trial) {
  Contender contender;
  contender.index = static_cast<std::size_t>(ticket);
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
    if (trial.median_us > 0) all.push_back(contender(static_cast<Ticket>(i), trial));
  }
  if (findings_.base_us() > 0) tickets_.push_back(0);
  for (const std::size_t index : choose_finalists(all, setup_.element_bytes, setup_.policy)) {
    if (index != 0) tickets_.push_back(static_cast<Ticket>(index));
  }
  add_previous_winners();
}

// A winner of an earlier run takes part, so that it is beaten at today's clocks or stays with today's time.
// Its template may be one that this run does not search.
void Finals::add_previous_winners() {
  for (const WinnerRow& row : setup_.previous) {
    const auto same = [&](const Trial& trial) {
      return trial.variant.source.hash == row.variant.source_hash;
    };
    const auto found = std::find_if(findings_.trials.begin(), findings_.trials.end(), same);
    const Ticket ticket = found - findings_.trials.begin();
    if (found == findings_.trials.end()) {
      auto variant = setup_.render(row);
      if (!variant) continue;  // the space changed: stale
      Trial trial;
      trial.variant = std::move(*variant);
      trial.median_us = row.median_us;
      if (!same(trial)) continue;  // the template changed: stale
      findings_.trials.push_back(std::move(trial));
    }
    if (findings_.trial(ticket).median_us <= 0) continue;  // it failed in this run
    if (!contains(tickets_, ticket)) tickets_.push_back(ticket);
  }
}

std::vector<Ticket> Finals::uncompiled() const {
  std::vector<Ticket> missing;
  for (const Ticket ticket : tickets_) {
    if (findings_.trial(ticket).binary.empty()) missing.push_back(ticket);
  }
  return missing;
}

void Finals::compiled(CompileResult result) {
  Trial& trial = findings_.trial(result.ticket);
  trial.binary = std::move(result.binary);
  trial.compile_ms = result.milliseconds;
}

// Each finalist once per round: a drift of the clocks meets all alike.
std::optional<Finals::Question> Finals::next() {
  if (stage_ == Stage::before) {
    std::erase_if(tickets_, [&](Ticket ticket) { return findings_.trial(ticket).binary.empty(); });
    total_ = static_cast<std::int64_t>(tickets_.size()) * setup_.policy.final_rounds;
    stage_ = Stage::rounds;
  }
  if (stage_ == Stage::rounds) {
    if (left_in_round_.empty() && rounds_begun_ < setup_.policy.final_rounds) {
      ++rounds_begun_;
      left_in_round_.assign(tickets_.rbegin(), tickets_.rend());
    }
    if (!left_in_round_.empty()) {
      const Ticket ticket = left_in_round_.back();
      return asked_ = Question{ticket, !findings_.trial(ticket).checked, setup_.policy.final_samples};
    }
    stage_ = Stage::second_check;
  }
  return asked_ = next_second_check();
}

void Finals::answered(MeasureReply reply) {
  if (!asked_) return;
  const Question question = *std::exchange(asked_, std::nullopt);
  if (stage_ == Stage::rounds) {
    left_in_round_.pop_back();
    ++done_;
    take_sample(question.ticket, std::move(reply));
    if (left_in_round_.empty() && rounds_begun_ == setup_.policy.final_rounds) end_rounds();
  } else if (reply.verdict == Verdict::ok) {
    passed_.push_back(question.ticket);
    done_ = static_cast<std::int64_t>(passed_.size());
  } else {
    reply.reason = "With other inputs: " + reply.reason;
    fail(question.ticket, reply);
  }
}

void Finals::take_sample(Ticket ticket, MeasureReply reply) {
  if (reply.verdict != Verdict::ok) return fail(ticket, reply);
  std::vector<double>& all = samples_us_[ticket];
  all.insert(all.end(), reply.samples_us.begin(), reply.samples_us.end());
  Trial& trial = findings_.trial(ticket);
  if (trial.checked) {  // only a check compares
    reply.compared = trial.reply.compared || reply.compared;
    reply.max_error = std::max(reply.max_error, trial.reply.max_error);
  }
  trial.reply = std::move(reply);
  trial.checked = true;
}

// One row per finalist, with the samples of all rounds.
void Finals::end_rounds() {
  for (const Ticket ticket : tickets_) {
    Trial& trial = findings_.trial(ticket);
    trial.reply.samples_us = samples_us_[ticket];
    trial.median_us = summarize(trial.reply.samples_us).median_us;
    findings_.worst_us = std::max(findings_.worst_us, trial.median_us);
    trial.measurement = setup_.record(trial, trial.reply);
  }
}

void Finals::fail(Ticket ticket, const MeasureReply& reply) {
  Trial& trial = findings_.trial(ticket);
  trial.measurement = setup_.record(trial, reply);
  trial.reply = reply;
  trial.median_us = 0;
  ++findings_.failed;
  std::erase(tickets_, ticket);
}

std::vector<Contender> Finals::contenders() const {
  std::vector<Contender> list;
  for (const Ticket ticket : tickets_) {
    const Trial& trial = findings_.trial(ticket);
    if (trial.median_us > 0) list.push_back(contender(ticket, trial));
  }
  return list;
}

std::vector<Ticket> Finals::best_of_each_alignment() const {
  const std::vector<Contender> list = contenders();
  std::vector<Ticket> best;
  for (const std::int64_t most_bytes : {std::int64_t{0}, setup_.element_bytes}) {
    const auto winner = choose_winner(list, setup_.policy, most_bytes);
    if (winner && !contains(best, static_cast<Ticket>(*winner))) best.push_back(static_cast<Ticket>(*winner));
  }
  return best;
}

std::optional<Ticket> Finals::finalist_of(const WinnerRow& row) const {
  for (const Ticket ticket : tickets_) {
    if (findings_.trial(ticket).variant.source.hash == row.variant.source_hash) return ticket;
  }
  return std::nullopt;
}

// All that would be written as a winner, against inputs that no variant has seen. The base too, because
// dispatch falls back to it. One that fails makes room for the next.
std::optional<Finals::Question> Finals::next_second_check() {
  std::vector<Ticket> candidates;
  const auto add = [&](Ticket ticket) {
    if (!contains(candidates, ticket)) candidates.push_back(ticket);
  };
  if (contains(tickets_, Ticket{0})) add(0);
  for (const Ticket ticket : best_of_each_alignment()) add(ticket);
  for (const WinnerRow& row : setup_.previous) {
    if (const auto ticket = finalist_of(row)) add(*ticket);
  }
  done_ = static_cast<std::int64_t>(passed_.size());
  total_ = static_cast<std::int64_t>(candidates.size());
  for (const Ticket ticket : candidates) {
    if (!contains(passed_, ticket)) return Question{ticket, true, 0, true};
  }
  return std::nullopt;
}

Decision Finals::decide() const {
  Decision decision;
  std::vector<std::int64_t> stale;  // alignments
  for (const WinnerRow& row : setup_.previous) {
    if (const auto ticket = finalist_of(row)) {
      decision.confirmed.push_back(
          {*ticket, row.alignment_bytes, row.caches != setup_.caches || row.launches != setup_.launches});
    } else {
      stale.push_back(row.alignment_bytes);
    }
  }
  for (const Ticket ticket : best_of_each_alignment()) {
    const std::int64_t alignment = findings_.trial(ticket).variant.alignment_bytes;
    decision.winners.push_back({ticket, alignment, contains(stale, alignment)});
    std::erase(stale, alignment);
  }
  // Nothing would ever replace a stale row whose alignment no winner of this run has.
  if (!decision.winners.empty()) decision.dropped = std::move(stale);
  decision.base = !tickets_.empty() && tickets_.front() == 0;
  return decision;
}

}  // namespace tunesmith
