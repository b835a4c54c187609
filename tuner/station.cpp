#include "tuner/station.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tuner/interrupt.h"

namespace tunesmith {
namespace {

// Between two looks at the clock and at the interrupt.
constexpr double longest_wait_s = 0.2;

// An interrupted run waits so long for what the device and the compilers have begun.
constexpr double patience_s = 1;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Budget budget_of(const Turn& turn, const SearchOptions& options) {
  if (!turn.mode.searches()) return {};
  Budget budget = Budget::parse(options.budget);
  if (!options.until.empty()) budget.least_gain = least_gain_of(options.until);
  if (turn.seconds) budget.seconds = std::min(*turn.seconds, budget.seconds.value_or(*turn.seconds));
  return budget;
}

}  // namespace

std::string variant_text(const Trial& trial) {
  return trial.variant.tmpl->name + " " + trial.variant.point.config.text();
}

Station::Station(const Bench& bench, const Turn& turn, const Findings& findings)
    : bench_(bench),
      turn_(turn),
      policy_(turn.mode.adjusted(bench.policy)),
      budget_(budget_of(turn, bench.options.search)),
      findings_(findings) {}

double Station::now_s() const { return since(started_); }

bool Station::out_of_patience() {
  if (!interrupted()) return false;
  if (!interrupted_at_) interrupted_at_ = Clock::now();
  return since(*interrupted_at_) > patience_s;
}

void Station::want_inputs(std::uint64_t seed) {
  inputs_seed_ = seed;
  wanted_ = true;
  prepared_ = false;
  bench_.worker.expect_problem();
  bench_.references.want(bench_.op.name, turn_.problem.text(), seed);
}

// The arithmetic would disturb the times of the host, and a reference that is a kernel those of a GPU.
bool Station::may_make_ahead() const {
  return device().kind != DeviceKind::host && bench_.op.user_kernel == nullptr;
}

void Station::make_ahead(const Problem& problem, std::uint64_t seed) {
  if (may_make_ahead()) bench_.references.want(bench_.op.name, problem.text(), seed);
}

void Station::prepare() {
  bench_.references.update();
  if (prepared_ || !wanted_) return;
  const std::string problem = turn_.problem.text();
  const std::string memory = bench_.references.ready(problem, inputs_seed_);
  if (memory.empty()) return;
  prepared_ = true;
  bench_.worker.prepare({bench_.op.name, problem, memory});
  bench_.references.forget_others(problem);
  if (!turn_.mode.finals && turn_.next != nullptr) make_ahead(*turn_.next, bench_.options.seed);
}

void Station::wait() {
  std::vector<int> descriptors = {bench_.worker.descriptor()};
  bench_.compilers.descriptors(descriptors);
  double seconds = longest_wait_s;
  const auto until = [&](Clock::time_point deadline) {
    seconds = std::min(seconds, std::chrono::duration<double>(deadline - Clock::now()).count());
  };
  if (!bench_.worker.idle()) until(bench_.worker.deadline());
  until(bench_.compilers.deadline());
  if (bench_.references.descriptor() >= 0) {
    descriptors.push_back(bench_.references.descriptor());
    until(bench_.references.deadline());
  }
  wait_for(descriptors, seconds);
  prepare();
}

// Of one variant, from what the base took.
double Station::limit_s() const {
  const Op& op = bench_.op;
  double base_s = 0;
  if (!findings_.trials.empty() && findings_.trials.front().checked &&
      findings_.trials.front().reply.verdict != Verdict::timeout) {
    const MeasureReply& base = findings_.trials.front().reply;
    base_s = base.load_s + base.check_s + base.time_s;
  }
  const double amount =
      (op.flops ? op.flops(turn_.problem) : 0) + (op.bytes_moved ? op.bytes_moved(turn_.problem) : 0);
  return measure_limit_s(limits_for(device().kind), base_s, amount);
}

MeasureRequest Station::request(Ticket ticket) const {
  const Trial& trial = findings_.trial(ticket);
  MeasureRequest request;
  request.template_name = trial.variant.tmpl->name;
  request.config = trial.variant.point.config.text();
  request.suffix = trial.variant.source.suffix;
  request.binary = trial.binary;
  request.loads = policy_.list_loads;
  request.timing = {.samples = policy_.samples,
                    .sample_target_us = policy_.sample_target_us,
                    .conditions = bench_.options.measure.conditions};
  return request;
}

void Station::measure(const MeasureRequest& request, double limit_times) {
  bench_.worker.measure(request, limit_times * limit_s());
}

std::int64_t Station::record(const Trial& trial, const MeasureReply& reply, const Recorder::Cost& cost) {
  const bool waits = bench_.worker.idle();
  const Clock::time_point start = Clock::now();
  const std::int64_t id =
      bench_.recorder.record(turn_.problem, trial.variant, reply, trial.compile_ms, trial.loads_us, cost);
  if (reply.verdict != Verdict::ok) {
    const std::string kind(name(reply.verdict));
    bench_.progress.say_once(bench_.op.name + " " + kind,
                             "The first " + kind + ": " + bench_.op.name + "/" + variant_text(trial) +
                                 " for " + turn_.problem.text() + ". " + one_line(reply.reason));
  }
  if (waits) bench_.worker.spent().stored(since(start));
  return id;
}

ProgressState Station::state(std::string stage, std::int64_t done, std::int64_t total) const {
  ProgressState state;
  state.stage = std::move(stage);
  state.done = done;
  state.total = total;
  state.failed = findings_.failed;
  if (turn_.mode.seeks_times) {
    state.best_us = findings_.best_us;
    state.base_us = findings_.base_us();
  }
  state.conditions = bench_.options.measure.conditions;
  return state;
}

}  // namespace tunesmith
