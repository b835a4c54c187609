// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/search_run.h"

#include <algorithm>
#include <utility>

namespace tunesmith {
namespace {

// After this many worker deaths without a good variant between them the base is measured again.
constexpr int most_deaths_in_a_row = 5;
constexpr int most_timeouts_in_a_row = 2;  // of a base that never worked: each takes minutes

// Enough compiled variants that the device never waits, and few enough that little is lost when the time is
// over. A search that learns proposes better after each verdict, so it has fewer in flight.
constexpr std::size_t most_ready = 32;
constexpr std::size_t most_ready_of_learners = 4;

constexpr TrialId base_ticket = 0;

// A compilation is cut off after this many times the median of the run, and not before this share of the
// budget: by then 15 compilers have compiled 150 others.
constexpr double compile_medians = 10;
constexpr double compile_share = 0.05;
constexpr double shortest_limit_s = 2;
constexpr std::size_t fewest_compiled = 16;
constexpr double no_limit_s = 1e9;

}  // namespace

SearchRun::SearchRun(Setup setup, Findings& findings) : setup_(std::move(setup)), findings_(findings) {
  end_.least_gain = setup_.budget.least_gain;
}

// The base is measured in every run with any budget: it is the baseline. The budget's time begins after it,
// because a large problem's inputs and reference may take longer than that.
bool SearchRun::out_of_time() const {
  return base_settled_s_ && setup_.budget.seconds && elapsed_s() >= *setup_.budget.seconds;
}

double SearchRun::elapsed_s() const { return base_settled_s_ ? setup_.now_s() - *base_settled_s_ : 0; }

std::optional<SearchRun::Proposal> SearchRun::propose() {
  if (exhausted_ || ready_.size() >= (setup_.search.learns() ? most_ready_of_learners : most_ready))
    return std::nullopt;
  std::optional<Point> point;
  if (!setup_.budget.count || counted_ < *setup_.budget.count) point = setup_.search.next();
  little_expected_ = point && end_.reached(setup_.search.expected_gain());
  if (little_expected_) point.reset();
  if (!point) {
    exhausted_ = true;
    return std::nullopt;
  }
  const auto trial_id = static_cast<TrialId>(findings_.trials.size());
  Trial& trial = findings_.trials.emplace_back();
  trial.variant = setup_.render(*point);
  trial.variant.is_base = *point == setup_.base;
  if (adopt(trial)) {
    ++counted_;
    ++findings_.known;
    count(trial_id, trial.reply.verdict, trial.median_us);
    return Proposal{trial_id, false};
  }
  if (auto why = exceeds(trial.variant.work, setup_.device)) {
    MeasureReply reply;  // costs no time, so the budget does not count it
    reply.verdict = Verdict::resource_limit;
    reply.reason = *why;
    settle(trial_id, reply);
    return Proposal{trial_id, false};
  }
  ++counted_;
  return Proposal{trial_id, true};
}

void SearchRun::learn_compile_time(const Point& point, double milliseconds) {
  setup_.search.compiled(point, milliseconds);
  compile_ms_.insert(std::upper_bound(compile_ms_.begin(), compile_ms_.end(), milliseconds), milliseconds);
}

double SearchRun::least_compile_limit_s() const {
  return setup_.budget.seconds ? *setup_.budget.seconds * compile_share : no_limit_s;
}

// A single variant of thousands is not worth more of a compiler's time than this.
double SearchRun::compile_limit_s() const {
  if (!setup_.budget.seconds || compile_ms_.size() < fewest_compiled) return setup_.mode.most_compile_s;
  const double median_s = 1e-3 * compile_ms_[compile_ms_.size() / 2];
  return std::max({compile_medians * median_s, least_compile_limit_s(), shortest_limit_s});
}

// Takes over the verdict of an earlier run. Not that of the base if times are compared with it: the base is
// measured at the same clocks.
bool SearchRun::adopt(Trial& trial) {
  if (trial.variant.is_base && setup_.mode.base_is_baseline) return false;
  const auto found = setup_.known.find(trial.variant.source.hash);
  if (found == setup_.known.end()) return false;
  const Verdict verdict = verdict_of(found->second.verdict);
  if (setup_.retry_failed && (verdict == Verdict::timeout || verdict == Verdict::crash)) return false;
  if (const auto took_ms = found->second.compile_ms) {
    // A compilation that may have been cut off is tried again in a run that has much more time.
    if (verdict == Verdict::timeout && *took_ms >= 1e3 * shortest_limit_s &&
        least_compile_limit_s() > 2e-3 * *took_ms)
      return false;
    learn_compile_time(trial.variant.point, *took_ms);
  }
  const double known_us = found->second.median_us.value_or(0);
  const int least_loads = setup_.mode.repeats_loads ? setup_.policy.list_loads : 1;
  if (verdict == Verdict::ok && known_us < short_launch_us && found->second.loads < least_loads) return false;
  trial.reply.verdict = verdict;
  trial.measurement = found->second.measurement_id;
  if (verdict == Verdict::ok) trial.median_us = known_us;
  trial.variant.source.text.clear();
  return true;
}

void SearchRun::compiled(CompileResult result) {
  Trial& trial = findings_.trial(result.ticket);
  trial.compile_ms = result.milliseconds;
  if (result.milliseconds) learn_compile_time(trial.variant.point, *result.milliseconds);
  if (result.verdict == Verdict::ok) {
    trial.binary = std::move(result.binary);
    ready_.push_back(result.ticket);
    return;
  }
  MeasureReply reply;
  reply.verdict = result.verdict;
  reply.reason = std::move(result.reason);
  settle(result.ticket, reply);
}

std::optional<SearchRun::MeasureTask> SearchRun::to_measure() {
  if (on_device_) return std::nullopt;
  if (std::exchange(probe_wanted_, false)) {
    on_device_ = OnDevice{base_ticket, true};
    return MeasureTask{base_ticket};
  }
  if (ready_.empty()) return std::nullopt;
  auto next = ready_.begin();
  if (!base_settled_s_) {
    next = std::find(ready_.begin(), ready_.end(), base_ticket);
    if (next == ready_.end()) return std::nullopt;  // the base is still being compiled
  }
  MeasureTask wanted{*next};
  ready_.erase(next);
  on_device_ = OnDevice{wanted.trial_id, false};
  if (!findings_.trial(wanted.trial_id).variant.is_base && findings_.best_us > 0)
    wanted.give_up_above_us = findings_.best_us * setup_.policy.give_up_factor;
  return wanted;
}

void SearchRun::measured(MeasureReply reply, bool worker_died) {
  if (!on_device_) return;
  const OnDevice what = *std::exchange(on_device_, std::nullopt);
  if (what.probe) return end_of_probe(reply);
  if (reply.verdict == Verdict::ok) deaths_in_a_row_ = 0;
  if (worker_died) ++deaths_in_a_row_;
  unwritten_ = UnwrittenReply{what.trial_id, std::move(reply)};
}

void SearchRun::write_down() {
  if (!unwritten_) return;
  const auto [trial_id, reply] = *std::exchange(unwritten_, std::nullopt);
  settle(trial_id, reply);
  const bool is_hopeless = findings_.base_us() == 0 && reply.verdict == Verdict::timeout;
  if (deaths_in_a_row_ >= (is_hopeless ? most_timeouts_in_a_row : most_deaths_in_a_row))
    look_into_deaths(reply);
}

void SearchRun::look_into_deaths(const MeasureReply& reply) {
  if (findings_.base_us() == 0) {
    throw Error("The worker on " + setup_.device_id + " ended " + std::to_string(deaths_in_a_row_) +
                " times in a row, and the base never worked; the last time: " + reply.reason +
                (reply.verdict == Verdict::crash
                     ? " Likely the device needs a reset, the machine is out of memory, or the op itself is "
                       "wrong."
                     : " Either it never ends, or it needs more time for this problem."));
  }
  probe_wanted_ = true;
}

void SearchRun::end_of_probe(const MeasureReply& reply) {
  if (reply.verdict != Verdict::ok) {
    throw Error("The worker on " + setup_.device_id + " ended " + std::to_string(deaths_in_a_row_) +
                " times in a row, and the base, which was right before, now gives " +
                std::string(name(reply.verdict)) + " (" + reply.reason +
                "). Likely the device needs a reset or the machine is out of memory; run the same command "
                "again to continue.");
  }
  deaths_in_a_row_ = 0;
}

// Handles a verdict of this run: first writes it to the database, then does all that follows from it.
void SearchRun::settle(TrialId trial_id, const MeasureReply& reply) {
  Trial& trial = findings_.trial(trial_id);
  trial.measurement = setup_.record(trial, reply);
  ++findings_.measured;
  trial.reply = reply;
  trial.variant.source.text.clear();
  if (reply.verdict == Verdict::ok) {
    trial.median_us = summarize(reply.samples_us).median_us;
    trial.checked = true;
  }
  count(trial_id, reply.verdict, trial.median_us);
}

void SearchRun::count(TrialId trial_id, Verdict verdict, double median_us) {
  Trial& trial = findings_.trial(trial_id);
  ++findings_.verdicts[verdict];
  setup_.search.report(trial.variant.point, verdict, median_us);
  if (trial.variant.is_base) base_settled_s_ = setup_.now_s();
  if (verdict != Verdict::ok) {
    ++findings_.failed;
    trial.binary.clear();
    return;
  }
  findings_.worst_us = std::max(findings_.worst_us, median_us);
  if (findings_.best_us > 0 && median_us >= findings_.best_us) return;
  findings_.best_us = median_us;
  for (Trial& other : findings_.trials) {
    if (!other.variant.is_base && other.median_us > median_us * setup_.policy.give_up_factor)
      other.binary.clear();
  }
}

}  // namespace tunesmith
