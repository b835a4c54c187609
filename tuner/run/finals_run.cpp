// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/finals_run.h"

#include <utility>

#include "tuner/run/interrupt.h"
#include "tuner/run/problem_points.h"

namespace tunesmith {
namespace {

// A second check of the winners must not see the inputs of the first.
constexpr std::uint64_t second_check_seed = 0x7265636865636bu;

// A finalist was measured in the search, and is now measured for longer.
constexpr double limit_times = 5;

}  // namespace

FinalsRun::FinalsRun(ProblemSession& session, Findings& findings, std::vector<WinnerRow> previous,
                     std::int64_t space_variants)
    : session_(session),
      findings_(findings),
      space_variants_(space_variants),
      finals_(setup(std::move(previous)), findings) {}

Finals::Setup FinalsRun::setup(std::vector<WinnerRow> previous) {
  const RunContext& context = session_.context();
  const Problem& problem = session_.task().problem;
  const DeviceFacts& device = session_.device();
  return {.policy = session_.policy(),
          .element_bytes = element_alignment(context.op, problem),
          .previous = std::move(previous),
          .built_in = built_in_hashes({context.op, problem, device}, context.options.search.built_in),
          .conditions = on_device(device.kind, context.options.measure.conditions),
          .energy = context.options.measure.energy && device.kind != DeviceKind::host,
          .now_s = [this] { return session_.now_s(); },
          .render =
              [this](const WinnerRow& row) {
                return render_legal(session_.context().op, session_.task().problem, row.template_.name,
                                    row.variant.config, session_.device());
              },
          .record =
              [this](const Trial& trial, const MeasureReply& reply) {
                Recorder::Cost cost{.stage = "finals"};
                cost.wall_s = std::exchange(took_s_[trial.variant.source.hash], 0);
                if (trial.variant.is_base) cost.space_variants = space_variants_;
                return session_.record(trial, reply, cost);
              }};
}

std::optional<Decision> FinalsRun::run() {
  const ProblemTask& task = session_.task();
  const std::uint64_t seed = session_.context().options.seed;
  session_.make_ahead(task.problem, seed ^ second_check_seed);
  if (!task.next.empty()) session_.make_ahead(*task.next.front().problem, seed);
  compile_missing();
  bool other_inputs = false;
  while (const auto question = finals_.next()) {
    if (interrupted()) return std::nullopt;
    if (question->other_inputs && !std::exchange(other_inputs, true))
      session_.want_inputs(seed ^ second_check_seed);
    auto reply = ask(*question);
    // A round that was cut short is worth nothing; a second check is a verdict.
    if (!reply || (interrupted() && !question->other_inputs)) return std::nullopt;
    took_s_[findings_.trial(question->trial_id).variant.source.hash] +=
        reply->load_s + reply->check_s + reply->time_s;
    finals_.answered(std::move(*reply));
    show(*question);
  }
  if (interrupted()) return std::nullopt;
  return finals_.decide();
}

void FinalsRun::show(const Finals::Question& asked) {
  Progress& progress = session_.context().progress;
  if (!progress.due()) return;
  const char* const stage = asked.energy         ? "finals: energy"
                            : asked.other_inputs ? "finals: checking again"
                                                 : "finals: round";
  ProgressState state = session_.state(stage, finals_.done(), finals_.total());
  if (!asked.energy && !asked.other_inputs) {
    state.running = static_cast<std::int64_t>(finals_.running());
    if (const auto best = finals_.best_us()) {
      state.best_us = best->middle;
      state.best_within = (best->high - best->low) / 2 / best->middle;
    }
  }
  progress.show(state);
}

void FinalsRun::compile_missing() {
  const RunContext& context = session_.context();
  const std::vector<TrialId> missing = finals_.uncompiled();
  std::size_t next = 0;
  while ((next < missing.size() || context.compilers.at_work() > 0) && !interrupted()) {
    while (next < missing.size() && context.compilers.has_room()) {
      const TrialId trial_id = missing[next++];
      const Point& point = findings_.trial(trial_id).variant.point;
      context.compilers.begin(
          trial_id, render_variant(context.op, session_.task().problem, point, session_.device()).source);
    }
    session_.wait();
    context.worker.update();
    for (CompileResult& result : context.compilers.update()) finals_.compiled(std::move(result));
    context.progress.show(session_.state("finals: compiling", static_cast<std::int64_t>(next),
                                         static_cast<std::int64_t>(missing.size())));
  }
  context.compilers.drop_all();
}

std::optional<MeasureReply> FinalsRun::ask(const Finals::Question& question) {
  DeviceWorker& worker = session_.context().worker;
  while (!session_.ready()) {
    if (interrupted()) return std::nullopt;
    session_.wait();
    worker.update();
  }
  MeasureRequest wanted = session_.request(question.trial_id);
  wanted.check = question.check;
  wanted.timing.samples = question.samples;
  wanted.energy = question.energy;
  // The same number of launches for all finalists.
  wanted.timing.repeats = repeats_for(findings_.best_us, session_.policy().sample_target_us);
  session_.measure(question.trial_id, wanted, limit_times);
  while (true) {
    session_.wait();
    if (auto reply = worker.update()) return reply;
    if (session_.out_of_patience()) return std::nullopt;
  }
}

}  // namespace tunesmith
