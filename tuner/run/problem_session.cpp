// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/problem_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tuner/run/interrupt.h"

namespace tunesmith {
namespace {

// The longest time between two looks at the clock and at the interrupt.
constexpr double longest_wait_s = 0.2;

// The time that an interrupted run waits for running work of the device and the compilers.
constexpr double patience_s = 1;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Budget budget_of(const ProblemTask& task, const SearchOptions& options) {
  if (!task.mode.searches()) return {};
  Budget budget = Budget::parse(options.budget);
  if (!options.until.empty()) budget.least_gain = least_gain_of(options.until);
  if (task.seconds) budget.seconds = std::min(*task.seconds, budget.seconds.value_or(*task.seconds));
  return budget;
}

}  // namespace

std::string variant_text(const Trial& trial) {
  return trial.variant.tmpl->name + " " + trial.variant.point.config.text();
}

ProblemSession::ProblemSession(const RunContext& context, const ProblemTask& task, const Findings& findings)
    : context_(context),
      task_(task),
      policy_(task.mode.adjusted(context.policy)),
      budget_(budget_of(task, context.options.search)),
      findings_(findings) {}

double ProblemSession::now_s() const { return since(started_); }

bool ProblemSession::out_of_patience() {
  if (!interrupted()) return false;
  if (!interrupted_at_) interrupted_at_ = Clock::now();
  return since(*interrupted_at_) > patience_s;
}

void ProblemSession::want_inputs(std::uint64_t seed) {
  inputs_seed_ = seed;
  wanted_ = true;
  prepared_ = false;
  context_.worker.expect_problem();
  context_.references.want(context_.op.name, task_.problem.text(), seed);
}

// False if the arithmetic would disturb the host's times, or a reference that is a kernel those of a GPU.
bool ProblemSession::may_make_ahead() const {
  return device().kind != DeviceKind::host && context_.op.user_kernel == nullptr;
}

void ProblemSession::make_ahead(const Problem& problem, std::uint64_t seed) {
  if (may_make_ahead()) context_.references.want(context_.op.name, problem.text(), seed);
}

void ProblemSession::prepare() {
  context_.references.update();
  if (prepared_ || !wanted_) return;
  const std::string problem = task_.problem.text();
  const std::string memory = context_.references.ready(problem, inputs_seed_);
  if (memory.empty()) return;
  prepared_ = true;
  context_.worker.prepare({context_.op.name, problem, memory});
  context_.references.forget_others(problem);
  if (!task_.mode.finals && !task_.next.empty())
    make_ahead(*task_.next.front().problem, context_.options.seed);
}

void ProblemSession::wait() {
  std::vector<int> descriptors = {context_.worker.descriptor()};
  context_.compilers.descriptors(descriptors);
  double seconds = longest_wait_s;
  const auto until = [&](Clock::time_point deadline) {
    seconds = std::min(seconds, std::chrono::duration<double>(deadline - Clock::now()).count());
  };
  if (!context_.worker.idle()) until(context_.worker.deadline());
  until(context_.compilers.deadline());
  if (context_.references.descriptor() >= 0) {
    descriptors.push_back(context_.references.descriptor());
    until(context_.references.deadline());
  }
  wait_for(descriptors, seconds);
  prepare();
}

// The limit for the variant, from the time of the base: on the host for each of the base's threads.
double ProblemSession::limit_s(TrialId trial_id) const {
  const Op& op = context_.op;
  double base_s = 0;
  if (!findings_.trials.empty() && findings_.trials.front().checked &&
      findings_.trials.front().reply.verdict != Verdict::timeout) {
    const MeasureReply& base = findings_.trials.front().reply;
    base_s = base.load_s + base.check_s + base.time_s;
  }
  const double amount =
      (op.flops ? op.flops(task_.problem) : 0) + (op.bytes_moved ? op.bytes_moved(task_.problem) : 0);
  const double limit_s = measure_limit_s(limits_for(device().kind), base_s, amount);
  if (base_s == 0 || device().kind != DeviceKind::host) return limit_s;
  const double times = threads_of(findings_.trial(trial_id).variant.work) /
                       std::max(1.0, threads_of(findings_.trials.front().variant.work));
  return limit_s * std::max(1.0, times);
}

MeasureRequest ProblemSession::request(TrialId trial_id) const {
  const Trial& trial = findings_.trial(trial_id);
  MeasureRequest request;
  request.template_name = trial.variant.tmpl->name;
  request.config = trial.variant.point.config.text();
  request.suffix = trial.variant.source.suffix;
  request.binary = trial.binary;
  request.loads = policy_.list_loads;
  request.timing = {.samples = policy_.samples,
                    .sample_target_us = policy_.sample_target_us,
                    .conditions = context_.options.measure.conditions};
  return request;
}

void ProblemSession::measure(TrialId trial_id, const MeasureRequest& request, double limit_times) {
  context_.worker.measure(request, limit_times * limit_s(trial_id));
}

std::int64_t ProblemSession::record(const Trial& trial, const MeasureReply& reply,
                                    const Recorder::Cost& cost) {
  const bool waits = context_.worker.idle();
  const Clock::time_point start = Clock::now();
  const std::int64_t id =
      context_.recorder.record(task_.problem, trial.variant, reply, trial.compile_ms, trial.loads_us, cost);
  if (reply.verdict != Verdict::ok) {
    const std::string kind(name(reply.verdict));
    context_.progress.say_once(context_.op.name + " " + kind,
                               "The first " + kind + ": " + context_.op.name + "/" + variant_text(trial) +
                                   " for " + task_.problem.text() + ". " + one_line(reply.reason));
  }
  if (waits) context_.worker.spent().stored(since(start));
  return id;
}

ProgressState ProblemSession::state(std::string stage, std::int64_t done, std::int64_t total) const {
  ProgressState state;
  state.stage = std::move(stage);
  state.done = done;
  state.total = total;
  state.failed = findings_.failed;
  if (task_.mode.seeks_times) {
    state.best_us = findings_.best_us;
    state.base_us = findings_.base_us();
  }
  state.conditions = context_.options.measure.conditions;
  return state;
}

}  // namespace tunesmith
