#include "tuner/finals_run.h"

#include <utility>

#include "tuner/interrupt.h"
#include "tuner/problem_points.h"

namespace tunesmith {
namespace {

// The winners' second check must not see the inputs of the first.
constexpr std::uint64_t second_check_seed = 0x7265636865636bu;

// A finalist was measured before, and is now measured for longer.
constexpr double limit_times = 5;

}  // namespace

FinalsRun::FinalsRun(Station& station, Findings& findings, std::vector<WinnerRow> previous,
                     std::int64_t space_variants)
    : station_(station),
      findings_(findings),
      space_variants_(space_variants),
      finals_(setup(std::move(previous)), findings) {}

Finals::Setup FinalsRun::setup(std::vector<WinnerRow> previous) {
  const Bench& bench = station_.bench();
  const Problem& problem = station_.turn().problem;
  const DeviceFacts& device = station_.device();
  return {.policy = station_.policy(),
          .element_bytes = element_alignment(bench.op, problem),
          .previous = std::move(previous),
          .built_in = built_in_hashes({bench.op, problem, device}, bench.options.search.built_in),
          .conditions = on_device(device.kind, bench.options.measure.conditions),
          .energy = bench.options.measure.energy && device.kind != DeviceKind::host,
          .now_s = [this] { return station_.now_s(); },
          .render =
              [this](const WinnerRow& row) {
                return render_legal(station_.bench().op, station_.turn().problem, row.template_.name,
                                    row.variant.config, station_.device());
              },
          .record =
              [this](const Trial& trial, const MeasureReply& reply) {
                Recorder::Cost cost{.stage = "finals"};
                cost.wall_s = std::exchange(took_s_[trial.variant.source.hash], 0);
                if (trial.variant.is_base) cost.space_variants = space_variants_;
                return station_.record(trial, reply, cost);
              }};
}

std::optional<Decision> FinalsRun::run() {
  const Turn& turn = station_.turn();
  const std::uint64_t seed = station_.bench().options.seed;
  station_.make_ahead(turn.problem, seed ^ second_check_seed);
  if (turn.next != nullptr) station_.make_ahead(*turn.next, seed);
  compile_missing();
  bool other_inputs = false;
  while (const auto question = finals_.next()) {
    if (interrupted()) return std::nullopt;
    if (question->other_inputs && !std::exchange(other_inputs, true))
      station_.want_inputs(seed ^ second_check_seed);
    auto reply = ask(*question);
    // A round that was cut short is worth nothing, a second check is a verdict.
    if (!reply || (interrupted() && !question->other_inputs)) return std::nullopt;
    took_s_[findings_.trial(question->ticket).variant.source.hash] +=
        reply->load_s + reply->check_s + reply->time_s;
    finals_.answered(std::move(*reply));
    show(*question);
  }
  if (interrupted()) return std::nullopt;
  return finals_.decide();
}

void FinalsRun::show(const Finals::Question& asked) {
  Progress& progress = station_.bench().progress;
  if (!progress.due()) return;
  const char* const stage = asked.energy         ? "finals: energy"
                            : asked.other_inputs ? "finals: checking again"
                                                 : "finals: round";
  ProgressState state = station_.state(stage, finals_.done(), finals_.total());
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
  const Bench& bench = station_.bench();
  const std::vector<Ticket> missing = finals_.uncompiled();
  std::size_t next = 0;
  while ((next < missing.size() || bench.compilers.at_work() > 0) && !interrupted()) {
    while (next < missing.size() && bench.compilers.has_room()) {
      const Ticket ticket = missing[next++];
      const Point& point = findings_.trial(ticket).variant.point;
      bench.compilers.begin(
          ticket, render_variant(bench.op, station_.turn().problem, point, station_.device()).source);
    }
    station_.wait();
    bench.worker.update();
    for (CompileResult& result : bench.compilers.update()) finals_.compiled(std::move(result));
    bench.progress.show(station_.state("finals: compiling", static_cast<std::int64_t>(next),
                                       static_cast<std::int64_t>(missing.size())));
  }
  bench.compilers.drop_all();
}

std::optional<MeasureReply> FinalsRun::ask(const Finals::Question& question) {
  DeviceWorker& worker = station_.bench().worker;
  while (!station_.ready()) {
    if (interrupted()) return std::nullopt;
    station_.wait();
    worker.update();
  }
  MeasureRequest wanted = station_.request(question.ticket);
  wanted.check = question.check;
  wanted.timing.samples = question.samples;
  wanted.energy = question.energy;
  // One for all finalists.
  wanted.timing.repeats = repeats_for(findings_.best_us, station_.policy().sample_target_us);
  station_.measure(wanted, limit_times);
  while (true) {
    station_.wait();
    if (auto reply = worker.update()) return reply;
    if (station_.out_of_patience()) return std::nullopt;
  }
}

}  // namespace tunesmith
