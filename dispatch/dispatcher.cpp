// SPDX-License-Identifier: Apache-2.0
// The dispatcher: its options, its device, and the way of a problem: looked up, else planned; better kernels
// are made in the background.

#include "tunesmith/dispatcher.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "dispatch/background_compiler.h"
#include "dispatch/explanation.h"
#include "dispatch/fork.h"
#include "dispatch/launch_counts.h"
#include "dispatch/online_tuner.h"
#include "dispatch/plan_cache.h"
#include "dispatch/planner.h"
#include "dispatch/profiler_range.h"
#include "dispatch/source.h"
#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

// Unknown and missing parameters are refused later, by complete_problem().
Problem from_fields(const Op& op, std::span<const Field> fields) {
  Problem problem;
  for (const Field& field : fields) {
    if (problem.has(field.name.text())) {
      throw UsageError("The parameter " + std::string(field.name.text()) + " of the " + op.name +
                       " problem is given twice; name each field once.");
    }
    problem.set(field.name.text(), value_of(field));
  }
  return problem;
}

// An environment variable that is on or off. Any other value is ignored, and noted.
struct Switch {
  const char* variable;
  bool otherwise;

  std::string_view word() const {
    const char* given = std::getenv(variable);
    return given == nullptr ? "" : given;
  }
  bool is_on() const { return otherwise ? word() != "off" : word() == "on"; }
  bool is_understood() const { return word().empty() || word() == "on" || word() == "off"; }
  std::string note() const {
    return std::string(variable) + " is \"" + std::string(word()) +
           "\", which is not used; allowed are on and off. Set one of them or unset it.";
  }
};
constexpr Switch overlap_switch = {"TUNESMITH_OVERLAP", true};
constexpr Switch check_pointers_switch = {"TUNESMITH_CHECK_POINTERS", false};
constexpr Switch nvtx_switch = {nvtx_variable, false};

bool is_same_kernel(const Kernel& a, const Kernel& b) {
  return a.variant.source_hash == b.variant.source_hash && a.variant.config == b.variant.config;
}

// An exported library compiles nothing, and runs no binaries but its own.
DispatcherOptions possible(DispatcherOptions options) {
  if (!is_exported()) return options;
  options.compile = Compile::never;
  options.cache_folder.clear();
  options.keep_first_use = false;
  return options;
}

}  // namespace

inline namespace TUNESMITH_ABI {

std::string default_cache_folder() { return user_cache_folder().string(); }

std::string first_device() {
  std::string why_none;
  return cuda_devices(why_none).empty() ? "host" : "cuda";
}

bool default_overlap() { return overlap_switch.is_on(); }
bool default_check_pointers() { return check_pointers_switch.is_on(); }

}  // namespace TUNESMITH_ABI

// Hidden: its enclosing class is exported, but this one need not be.
struct __attribute__((visibility("hidden"))) Dispatcher::Impl {
  static constexpr std::size_t part_for_uses = 16;  // the share of most_bytes for counts of uses, in addition
  static constexpr std::size_t part_for_plans = 4;
  // The longest wait for another writer of the database: a tuner commits within milliseconds.
  static constexpr std::chrono::milliseconds writer_limit{1000}, writer_limit_at_the_end{100};

  Impl(const ChosenDevice& chosen, const DispatcherOptions& options, TuningData data)
      : first_notes(data.notes),
        first_uses_database(options.keep_first_use ? options.database : ""),
        compile(options.compile),
        tries(options.tune_on_first_use),
        most_bytes(options.most_bytes),
        online_tuner(
            [ordinal = chosen.ordinal()] {
              return ordinal < 0 ? make_host_benchmark() : make_cuda_benchmark(ordinal);
            },
            data.first_uses),
        planner(chosen.facts, chosen.ordinal(), std::move(data), options,
                [this](const std::string& why) { note(LateNote::cache, why); }),
        uses(chosen.facts, options.most_bytes / part_for_uses),
        background(
            [this] { return due(); },
            [this] {
              note(LateNote::no_thread,
                   "No thread can be made to compile and load in the background, so plans stay as they "
                   "are. It is tried again at the next plan; prepare() does the work itself. The limits "
                   "of threads are ulimit -u and, in a container, pids.max.");
            }) {
    if (const auto why = BinaryCache(options.cache_folder).why_unused()) first_notes.push_back(*why);
    for (const Switch& one : {overlap_switch, check_pointers_switch, nvtx_switch})
      if (!one.is_understood()) first_notes.push_back(one.note());
  }

  std::shared_ptr<const PlanState> make(const Op& op, const Problem& given) {
    const ProfilerRange range("plan", op.name);
    const Inside inside;
    const Problem problem = complete_problem(op, given);
    const std::string text = problem.text();
    const Field field = as_text(text);
    const Key key(op.name, {&field, 1});
    if (auto plan = plans.find(key)) return plan;
    keep_within_bounds();  // if no plan can be made, the binaries that were tried stay until the next plan
    const std::uint64_t lacked = planner.modules().lacked();
    auto made = plan_now(op, problem, compile != Compile::background, {});
    if (compile == Compile::now && is_worth_trying(*made)) {
      try_out(*made, {});
      made = plan_now(op, problem, true, {});
      background.post([this](const std::stop_token&) { write_first_uses_within(writer_limit); });
    }
    // Something could not be loaded: not kept, the next plan may be better.
    if (planner.modules().lacked() != lacked) {
      made->outdated = true;
      return made;
    }
    auto plan = plans.keep(key, made);
    if (plan == made && (made->is_improved() || (compile != Compile::now && is_worth_trying(*made))))
      background.post_for(made, [this, weak = std::weak_ptr(made)](const std::stop_token& stop) {
        if (auto asked_for = weak.lock()) improve(std::move(asked_for), stop);
      });
    if (plan == made && made->try_again.load() != never) background.wake_up()->signal();
    keep_within_bounds();
    return plan;
  }

  std::shared_ptr<PlanState> plan_now(const Op& op, const Problem& problem, bool may_wait,
                                      const std::stop_token& stop) {
    auto made = planner.plan(
        op, problem,
        {.may_wait = may_wait,
         .fallback_at_once = compile != Compile::background,
         .tried = tries > 1 ? online_tuner.find(op, problem.text()) : std::vector<TriedVariant>(),
         .stop = stop});
    if (made->fallback_comes) made->wake_up = background.wake_up();
    made->clock = planner.modules().clock();
    if (!made->warning.empty()) note(LateNote::warning, op.name + ": " + made->warning);
    uses.begin(*made);
    return made;
  }

  bool is_worth_trying(const PlanState& plan) const {
    return tries > 1 && plan.match != Match::exact && !plan.is_tried;
  }
  void try_out(const PlanState& plan, const std::stop_token& stop) {
    std::vector<TrialCandidate> candidates = planner.trial_candidates(*plan.op, plan.problem, tries, stop);
    const OutsideOfLibrary outside;
    if (candidates.size() > 1) online_tuner.try_out(*plan.op, plan.problem_text, candidates, stop);
  }

  // Rows that cannot be written stay for the next call, and for the dispatcher's end.
  void write_first_uses_within(std::chrono::milliseconds limit) noexcept {
    // The parent writes the outcomes of its own trials.
    if (first_uses_database.empty() || ::getpid() != process) return;
    const Inside inside;
    try {
      online_tuner.write_new([&](const std::vector<FirstUseOutcome>& outcomes) {
        write_first_uses(first_uses_database, planner.device(), outcomes, limit);
      });
    } catch (const std::exception& error) {
      note(LateNote::first_uses, "What was tried at first uses is not kept in the database " +
                                     first_uses_database + ". " + error.what());
    }
  }
  struct WriteAtTheEnd {
    Impl& impl;
    ~WriteAtTheEnd() { impl.write_first_uses_within(writer_limit_at_the_end); }
  };

  // Notes only the first sentence of each kind. A reader of the earlier notes continues with these.
  enum class LateNote : std::size_t { warning, first_uses, no_thread, cache, count };
  void note(LateNote kind, const std::string& sentence) {
    const std::scoped_lock lock(noting);
    std::vector<std::string>& longer = later_notes[static_cast<std::size_t>(kind)];
    if (!longer.empty()) return;
    longer = *notes;
    longer.push_back(sentence);
    notes = &longer;
  }

  // Plans again with the compiler, and once more with the outcomes of the trials. A plan that was evicted
  // meanwhile is not added again.
  void improve(std::shared_ptr<PlanState> plan, const std::stop_token& stop) {
    const Inside inside;
    if (!plans.has(*plan)) return;
    try {
      const auto again = [&] {
        const std::uint64_t lacked = planner.modules().lacked();
        auto better = plan_now(*plan->op, plan->problem, true, stop);
        if (stop.stop_requested()) return;
        if (planner.modules().lacked() != lacked) return plans.remove(*plan);  // made anew when asked for
        plans.replace(*plan, better);
        plan = std::move(better);
        keep_within_bounds();
      };
      if (plan->is_improved()) again();
      if (compile == Compile::now || stop.stop_requested() || !is_worth_trying(*plan)) return;
      try_out(*plan, stop);
      if (!online_tuner.find(*plan->op, plan->problem_text).empty()) again();
      write_first_uses_within(writer_limit);
    } catch (const std::exception&) {
      stays(*plan);
    }
  }

  // Keeps the plan after an exception, mostly for want of memory, and tries again later.
  static void stays(PlanState& plan) { plan.try_again_at(Clock::now() + std::chrono::seconds(10)); }

  // Sources that did not compile may compile now. If the new plan is the same, the old one stays, and says
  // when to try again.
  void plan_again(const std::shared_ptr<PlanState>& plan, const std::stop_token& stop) {
    const Inside inside;
    if (!plans.has(*plan)) return;
    try {
      const std::uint64_t lacked = planner.modules().lacked();
      const auto again = plan_now(*plan->op, plan->problem, true, stop);
      if (stop.stop_requested()) return;
      if (planner.modules().lacked() != lacked) return plans.remove(*plan);
      if (is_same_kernel(again->first, plan->first) &&
          is_same_kernel(again->temporary_fallback, plan->temporary_fallback))
        return plan->try_again_at(again->try_again);
      plans.replace(*plan, again);
      keep_within_bounds();
    } catch (const std::exception&) {
      stays(*plan);
    }
  }

  // The jobs that are due: unaligned fallbacks that launches asked for, and plans for which something did not
  // compile.
  BackgroundCompiler::Schedule due() {
    PlanCache::DuePlans due = plans.take_due();
    std::vector<BackgroundCompiler::Job> jobs;
    for (const auto& plan : due.again)
      jobs.emplace_back([this, plan](const std::stop_token& stop) { plan_again(plan, stop); });
    for (const auto& plan : due.fallbacks) {
      jobs.emplace_back([this, plan](const std::stop_token& stop) {
        const Inside inside;
        try {
          planner.make_fallback(*plan, stop);
        } catch (const std::exception&) {
          // On failure the temporary fallback stays.
        }
      });
    }
    return {std::move(jobs), due.next};
  }

  // Kernels are unloaded here, by the thread that plans or compiles; look-ups go on meanwhile. With the
  // oldest plan go the sources that were asked for until it was made. However much memory is taken by kernels
  // that may not be unloaded, plans have their share.
  void keep_within_bounds() {
    Modules& modules = planner.modules();
    const auto are_too_many = [&] { return plans.bytes() + modules.bytes() > most_bytes; };
    while (are_too_many() && plans.bytes() > most_bytes / part_for_plans) {
      auto oldest = plans.remove_oldest();
      if (oldest == nullptr) break;
      const std::uint64_t clock = oldest->clock;
      oldest.reset();  // and its kernels
      while (modules.unload_one(clock)) {
      }
    }
    while (are_too_many() && modules.unload_one()) {
    }
  }

  std::vector<std::string> first_notes;
  std::array<std::vector<std::string>, static_cast<std::size_t>(LateNote::count)> later_notes;
  std::atomic<const std::vector<std::string>*> notes = &first_notes;
  std::mutex noting;  ///< guards later_notes
  const pid_t process = ::getpid();
  const std::string first_uses_database;  ///< empty: first uses are not stored
  const Compile compile;
  const std::size_t tries;  ///< the number of variants to try at a problem's first use
  const std::size_t most_bytes;
  OnlineTuner online_tuner;
  Planner planner;
  LaunchCounts uses;
  PlanCache plans;
  WriteAtTheEnd write_at_the_end{*this};
  BackgroundCompiler background;  ///< declared last, so that its threads end before the members that they use
};

Dispatcher::Dispatcher(const DispatcherOptions& options) {
  watch_forks();
  const Inside inside;
  const DeviceId asked = DeviceId::parse(options.device);
  const ChosenDevice chosen = choose_device(asked);
  if (asked.kind == DeviceId::Kind::automatic && chosen.ordinal() < 0) {
    throw UsageError(chosen.note +
                     " The host takes pointers to ordinary memory, so it is used only by name: choose the "
                     "device host for that.");
  }
  for (const std::string& file : options.kernels) add_kernel_file(file);
  TuningData data = read_tuning_data({.database = options.database,
                                      .device = chosen.facts,
                                      .host_binaries = options.host_binaries,
                                      .kernels = options.kernels,
                                      .first_uses = options.tune_on_first_use > 1});
  impl_ = std::make_unique<Impl>(chosen, possible(options), std::move(data));
}

Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

const std::string& Dispatcher::device() const noexcept { return impl_->planner.device().name; }
bool Dispatcher::on_host() const noexcept { return impl_->planner.ordinal() < 0; }
int Dispatcher::cuda_ordinal() const noexcept { return impl_->planner.ordinal(); }
const std::vector<std::string>& Dispatcher::notes() const noexcept { return *impl_->notes; }

Plan Dispatcher::plan(std::string_view op, std::string_view problem) {
  const Field field = as_text(problem);
  const Key key(op, {&field, 1});
  if (auto plan = impl_->plans.find(key)) return Plan(std::move(plan));
  const Inside inside;
  auto plan = impl_->make(find_op(op), Problem::parse(problem));
  impl_->plans.also(key, plan);
  return Plan(std::move(plan));
}

Plan Dispatcher::plan(std::string_view op, const Problem& problem) {
  const Inside inside;
  return Plan(impl_->make(find_op(op), problem));
}

Plan Dispatcher::plan(std::string_view op, std::span<const Field> problem) {
  const Key key(op, problem);
  if (auto plan = impl_->plans.find(key)) return Plan(std::move(plan));
  const Inside inside;
  const Op& found = find_op(op);
  auto plan = impl_->make(found, from_fields(found, problem));
  impl_->plans.also(key, plan);
  return Plan(std::move(plan));
}

void Dispatcher::prepare(std::span<const NamedProblem> problems) {
  for (const NamedProblem& problem : problems) static_cast<void>(plan(problem.op, problem.problem));
  impl_->background.wait(std::chrono::milliseconds::max());
  // With the better kernels there may be other unaligned fallbacks.
  for (const NamedProblem& problem : problems) plan(problem.op, problem.problem).ask_for_unaligned();
  impl_->background.wait(std::chrono::milliseconds::max());
}

bool Dispatcher::wait_until_ready(std::chrono::milliseconds limit) { return impl_->background.wait(limit); }

std::vector<Usage> Dispatcher::summary() const {
  const Inside inside;
  return impl_->uses.all();
}

void Dispatcher::save_problems(const std::string& file) const {
  write_file(file, problems_text(summary(), impl_->planner.device()));
}

std::string Dispatcher::explain(std::string_view op, std::string_view problem, bool with_refusals) {
  const Plan made = plan(op, problem);
  std::string text =
      heading(std::string(op), shown_problem(op, Problem::parse(made.problem())), impl_->planner.device(),
              made.match(), made.variant().template_name, made.variant().config);
  for (const std::string& note : notes()) text += note + "\n";
  for (const std::string& sentence : made.explanation(with_refusals)) text += sentence + "\n";
  return text;
}

}  // namespace tunesmith
