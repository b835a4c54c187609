#include "tuner/problem_run.h"

#include <algorithm>
#include <utility>

namespace tunesmith {
namespace {

// So many worker deaths without a good variant between them are looked into.
constexpr int most_deaths_in_a_row = 5;

// Between two looks at the clock and at the interrupt.
constexpr double longest_wait_s = 0.2;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<WinnerRow> of_problem(std::vector<WinnerRow> winners, const Problem& problem) {
  std::erase_if(winners, [&](const WinnerRow& row) { return row.problem.text != problem.text(); });
  return winners;
}

// Of what was fast on the problem before.
constexpr std::int64_t most_remembered = 8;

// What was fast on this problem, or won for another one of the op, the nearest first, as far as it is legal
// here. A template that has changed since most likely still likes what it liked.
std::vector<Point> promising(const Op& op, const Problem& problem, const DeviceFacts& device,
                             const SearchSpace& space, const std::vector<Store::Tried>& fastest,
                             const std::vector<WinnerRow>& winners) {
  struct Candidate {
    double distance;
    std::string_view template_name, config;
  };
  std::vector<Candidate> candidates;
  for (const WinnerRow& row : winners) {
    try {
      const Problem other = complete_problem(op, Values::parse(row.problem.text));
      candidates.push_back({distance(op, problem, other), row.template_.name, row.variant.config});
    } catch (const UsageError&) {
      // The op has changed since.
    }
  }
  for (const Store::Tried& tried : fastest) candidates.push_back({0, tried.template_name, tried.config});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<Point> points;
  for (const Candidate& candidate : candidates) {
    auto point = legal_point(op, problem, device, candidate.template_name, candidate.config);
    if (!point) continue;
    const bool searched = std::any_of(
        space.parts.begin(), space.parts.end(),
        [&](const SearchSpace::Part& part) { return part.template_index == point->template_index; });
    if (searched && std::find(points.begin(), points.end(), *point) == points.end())
      points.push_back(std::move(*point));
  }
  return points;
}

}  // namespace

ProblemRun::ProblemRun(const Bench& bench, const Problem& problem)
    : bench_(bench),
      problem_(problem),
      space_(search_space(bench.op, problem, bench.worker.hello().device, bench.options.templates)),
      known_(bench.recorder.known(problem)),
      started_(Clock::now()) {
  const std::vector<WinnerRow> winners = bench.recorder.winners();
  space_.promising = promising(bench.op, problem, bench.worker.hello().device, space_,
                               bench.recorder.fastest(problem, most_remembered), winners);
  search_ = make_search(bench.options.strategy, space_, bench.options.seed, bench.options.prior);
  previous_ = of_problem(winners, problem);
  result_.problem = problem.text();
  result_.variants = space_.count();
  deaths_seen_ = bench.worker.deaths();
  PrepareRequest prepare;
  prepare.op = bench.op.name;
  prepare.problem = problem.text();
  prepare.seed = bench.options.seed;
  bench_.worker.prepare(prepare);
}

TunedProblem ProblemRun::run() {
  search();
  if (!bench_.interrupted()) finals();
  bench_.progress.done();
  result_.seconds = since(started_);
  return std::move(result_);
}

void ProblemRun::search() {
  while (true) {
    const bool over = out_of_budget();
    if (over) {
      bench_.compilers.drop_all();
      ready_.clear();
    } else {
      propose();
    }
    take_compiled();
    feed();
    if (!on_device_ && ready_.empty() && bench_.compilers.at_work() == 0 && (over || exhausted_)) break;
    wait();
    take_measured();
    show("search", counted_,
         bench_.budget.count ? std::min(*bench_.budget.count, result_.variants) : result_.variants);
  }
}

// The base is always measured: what a run gains is told against it. A budget of time begins after it, for a
// large problem's inputs and reference may take longer than the budget.
bool ProblemRun::out_of_budget() const {
  if (bench_.interrupted()) return true;
  return base_settled_ && bench_.budget.seconds && since(*base_settled_) >= *bench_.budget.seconds;
}

void ProblemRun::propose() {
  // Enough behind the compilers that the device never waits, little enough that no time-out throws much away.
  while (!exhausted_ && bench_.compilers.has_room() && ready_.size() < 32) {
    if (bench_.budget.count && counted_ >= *bench_.budget.count) {
      exhausted_ = true;
      return;
    }
    const auto point = search_->next();
    if (!point) {
      exhausted_ = true;
      return;
    }
    const auto ticket = static_cast<Ticket>(entries_.size());
    Entry& entry = entries_.emplace_back();
    entry.variant = make_variant(bench_.op, problem_, *point, bench_.worker.hello().device);
    entry.variant.is_base = *point == space_.base;
    if (adopt(entry)) {
      ++counted_;
      ++result_.known;
      count(ticket, entry.reply.verdict, entry.median_us);
    } else if (auto why = exceeds(entry.variant.work, bench_.worker.hello().device)) {
      MeasureReply reply;  // costs nothing, so the budget does not count it
      reply.verdict = Verdict::resource_limit;
      reply.reason = *why;
      settle(ticket, reply);
    } else {
      ++counted_;
      bench_.compilers.begin(ticket, entry.variant.source);
      entry.variant.source.text.clear();  // thousands of texts; the hash and the config make it again
    }
    if (bench_.interrupted()) return;
    show("search", counted_, 0);
  }
}

// Takes the verdict of an earlier run. The base is measured in each, so that all of a run is told against the
// same clocks.
bool ProblemRun::adopt(Entry& entry) {
  if (entry.variant.is_base) return false;
  const auto found = known_.find(entry.variant.source.hash);
  if (found == known_.end()) return false;
  const Verdict verdict = verdict_of(found->second.verdict);
  if (bench_.options.retry_failed && (verdict == Verdict::timeout || verdict == Verdict::crash)) return false;
  entry.reply.verdict = verdict;
  if (verdict == Verdict::ok) entry.median_us = found->second.median_us.value_or(0);
  entry.variant.source.text.clear();
  return true;
}

void ProblemRun::take_compiled() {
  for (CompileResult& result : bench_.compilers.update()) {
    Entry& entry = entries_[static_cast<std::size_t>(result.ticket)];
    entry.compile_ms = result.milliseconds;
    if (result.verdict == Verdict::ok) {
      entry.binary = std::move(result.binary);
      ready_.push_back(result.ticket);
    } else {
      MeasureReply reply;
      reply.verdict = result.verdict;
      reply.reason = result.reason;
      settle(result.ticket, reply);
    }
  }
}

MeasureRequest ProblemRun::request(const Entry& entry) const {
  MeasureRequest request;
  request.template_name = entry.variant.tmpl->name;
  request.config = entry.variant.point.config.text();
  request.suffix = entry.variant.source.suffix;
  request.binary = entry.binary;
  request.samples = bench_.policy.samples;
  request.sample_target_us = bench_.policy.sample_target_us;
  request.cold_caches = bench_.options.cold_caches;
  return request;
}

void ProblemRun::feed() {
  if (on_device_ || !bench_.worker.idle()) return;
  if (probing_) {
    on_device_ = 0;
    bench_.worker.measure(request(entries_.front()));
    return;
  }
  if (ready_.empty()) return;
  auto next = ready_.begin();
  if (!base_settled_) {
    next = std::find(ready_.begin(), ready_.end(), Ticket{0});
    if (next == ready_.end()) return;  // the base is still being compiled
  }
  on_device_ = *next;
  ready_.erase(next);
  const Entry& entry = entries_[static_cast<std::size_t>(*on_device_)];
  MeasureRequest wanted = request(entry);
  if (!entry.variant.is_base && best_us_ > 0)
    wanted.give_up_above_us = best_us_ * bench_.policy.give_up_factor;
  bench_.worker.measure(wanted);
}

void ProblemRun::take_measured() {
  const auto reply = bench_.worker.update();
  if (!reply || !on_device_) return;
  const Ticket ticket = *std::exchange(on_device_, std::nullopt);
  const bool probe = std::exchange(probing_, false);
  const bool died = bench_.worker.deaths() != std::exchange(deaths_seen_, bench_.worker.deaths());
  if (probe) {
    if (reply->verdict != Verdict::ok) {
      throw Error(
          "The worker on " + bench_.worker.hello().identity + " ended " + std::to_string(deaths_in_a_row_) +
          " times in a row, and the base, which was right before, now gives " +
          std::string(name(reply->verdict)) + " (" + reply->reason +
          "). Likely the device needs a reset or the machine is out of memory; run the same command again "
          "to continue.");
    }
    deaths_in_a_row_ = 0;
    return;
  }
  if (reply->verdict == Verdict::ok) deaths_in_a_row_ = 0;
  if (died) ++deaths_in_a_row_;
  if (ticket != 0 || reply->verdict == Verdict::ok)
    feed();  // the device works on while this verdict is written down
  settle(ticket, *reply);
  if (deaths_in_a_row_ < most_deaths_in_a_row) return;
  if (entries_.front().median_us == 0) {
    throw Error("The worker on " + bench_.worker.hello().identity + " ended " +
                std::to_string(deaths_in_a_row_) +
                " times in a row, the base among them; the last time: " + reply->reason +
                " Likely the device needs a reset, the machine is out of memory, or the op itself is wrong.");
  }
  probing_ = true;
}

// A verdict of this run: first the database, then everything that follows from it.
void ProblemRun::settle(Ticket ticket, const MeasureReply& reply) {
  Entry& entry = entries_[static_cast<std::size_t>(ticket)];
  bench_.recorder.record(problem_, entry.variant, reply, entry.compile_ms);
  ++result_.measured;
  entry.reply = reply;
  entry.variant.source.text.clear();
  if (reply.verdict == Verdict::ok) {
    entry.median_us = summarize(reply.samples_us).median_us;
    entry.checked = true;
  }
  count(ticket, reply.verdict, entry.median_us);
}

void ProblemRun::count(Ticket ticket, Verdict verdict, double median_us) {
  Entry& entry = entries_[static_cast<std::size_t>(ticket)];
  ++result_.verdicts[verdict];
  search_->report(entry.variant.point, verdict, median_us);
  if (entry.variant.is_base) base_settled_ = Clock::now();
  if (verdict != Verdict::ok) {
    ++failed_;
    entry.binary.clear();
    return;
  }
  result_.worst_us = std::max(result_.worst_us, median_us);
  if (best_us_ == 0 || median_us < best_us_) {
    best_us_ = median_us;
    for (Entry& other : entries_) {
      if (!other.variant.is_base && other.median_us > best_us_ * bench_.policy.give_up_factor)
        other.binary.clear();
    }
  }
}

void ProblemRun::wait() const {
  std::vector<int> descriptors = {bench_.worker.descriptor()};
  bench_.compilers.descriptors(descriptors);
  double seconds = longest_wait_s;
  const auto until = [&](Clock::time_point deadline) {
    seconds = std::min(seconds, std::chrono::duration<double>(deadline - Clock::now()).count());
  };
  if (!bench_.worker.idle()) until(bench_.worker.deadline());
  until(bench_.compilers.deadline());
  wait_for(descriptors, seconds);
}

void ProblemRun::show(const std::string& stage, std::int64_t done, std::int64_t total) {
  ProgressState state;
  state.stage = stage;
  state.done = done;
  state.total = total;
  state.elapsed_s = base_settled_ ? since(*base_settled_) : 0;
  state.budget_s = stage == "search" ? bench_.budget.seconds.value_or(0) : 0;
  state.measured = stage == "search" ? result_.measured : 0;
  state.failed = failed_;
  state.best_us = best_us_;
  state.base_us = entries_.empty() ? 0 : entries_.front().median_us;
  state.cold_caches = bench_.options.cold_caches;
  bench_.progress.show(state);
}

}  // namespace tunesmith
