#include "tuner/tune.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <thread>

#include "db/old_identity.h"
#include "generator/ops.h"
#include "tuner/problem_run.h"

namespace tunesmith {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

bool interrupted() { return interrupt_seen != 0; }

/// While this lives the first SIGINT or SIGTERM sets a flag; the second of the same kind acts as it did
/// before.
class InterruptScope {
 public:
  InterruptScope() {
    interrupt_seen = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupt_seen = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &previous_int_);
    ::sigaction(SIGTERM, &action, &previous_term_);
  }
  ~InterruptScope() {
    ::sigaction(SIGINT, &previous_int_, nullptr);
    ::sigaction(SIGTERM, &previous_term_, nullptr);
  }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction previous_int_ = {};
  struct sigaction previous_term_ = {};
};

int compilers_wanted(const TuneOptions& options) {
  if (options.compilers > 0) return options.compilers;
  // One processor is left to the worker: on the host its times are wall-clock times.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

// The tuner keeps copies of its own, so a problem that passes may still be too large.
void refuse_too_large(const Op& op, const Problem& problem, const DeviceFacts& device) {
  double bytes_needed = 0;
  for (const Argument& argument : op.arguments) bytes_needed += size_bytes(argument, problem);
  if (bytes_needed <= static_cast<double>(device.memory_bytes)) return;
  std::array<char, 100> sizes{};
  std::snprintf(sizes.data(), sizes.size(), "%.4g GiB, but %.4g GiB", bytes_needed / (1 << 30),
                static_cast<double>(device.memory_bytes) / (1 << 30));
  throw UsageError("The arrays of the " + op.name + " problem " + problem.text() + " take " + sizes.data() +
                   " are all that " + device.name + " has; give a smaller problem.");
}

// Adds the problems of winners whose templates render them to another text now, and of those that were chosen
// among times of several GPUs, each once.
void add_stale(std::vector<Problem>& problems, const Op& op, const DeviceFacts& device,
               const Recorder::Facts& facts, const std::vector<WinnerRow>& winners) {
  for (const WinnerRow& row : winners) {
    if (row.caches != facts.caches || row.launches != facts.launches || row.objective != facts.objective)
      continue;
    try {
      Problem problem = complete_problem(op, Values::parse(row.problem.text));
      if (std::find(problems.begin(), problems.end(), problem) != problems.end()) continue;
      const auto point = legal_point(op, problem, device, row.template_.name, row.variant.config);
      if (row.other_gpus > 0 || !point ||
          render_variant(op, problem, *point, device).source.hash != row.variant.source_hash)
        problems.push_back(std::move(problem));
    } catch (const UsageError&) {
      // The op has no such problem any more.
    }
  }
}

}  // namespace

TuneResult tune(const TuneOptions& options, Progress& progress) {
  // Everything that a user can get wrong is checked before a process is started.
  const Op& op = find_op(options.op);
  const Budget budget = Budget::parse(options.budget);
  if (options.problems.empty() && !options.stale)
    throw UsageError("There is no problem to tune; give at least one, or ask for the stale ones.");
  std::vector<Problem> problems;
  for (const Problem& given : options.problems) {
    problems.push_back(complete_problem(op, given));
    if (op.templates.front().work(problems.back(), base_config(op, problems.back())).steps.empty()) {
      throw UsageError("There is nothing to tune in the " + op.name + " problem " + problems.back().text() +
                       ": it launches no kernel. Give a problem with elements.");
    }
    make_search(options.strategy, search_space(op, problems.back(), DeviceFacts{}, options.templates), 0);
  }
  if (options.chained && options.cold_caches) {
    throw UsageError(
        "Chained launches find their data in the cache, so they cannot have cold caches. Ask for cold caches "
        "or "
        "for chained launches.");
  }
  Store store = Store::open(options.database, Store::Mode::create, with_old_identities());

  const InterruptScope scope;
  const Clock::time_point started = Clock::now();
  DeviceWorker worker(options.device, options.worker);
  const Hello& hello = worker.hello();
  if (options.cold_caches && hello.device.kind == "host") {
    throw UsageError(
        "Caches can be cold on CUDA devices only, and this is the host. Tune with warm caches, or on a CUDA "
        "device." +
        (hello.note.empty() ? "" : " " + hello.note));
  }
  if (options.objective != Objective::time && !options.energy) {
    throw UsageError("The objective " + std::string(name(options.objective)) +
                     " needs the energy of a launch; leave out --no-energy.");
  }
  if (options.objective != Objective::time && hello.device.kind == "host") {
    throw UsageError(
        "The objective " + std::string(name(options.objective)) +
        " needs the energy of a launch, and the host does not tell it. Tune on a CUDA device, or "
        "with the objective time." +
        (hello.note.empty() ? "" : " " + hello.note));
  }
  const bool chained = launches_of(hello.device.kind, options.chained) == "chained";
  for (const Problem& problem : problems) refuse_too_large(op, problem, hello.device);
  progress.say("Tuning " + std::string(options.cold_caches ? "for cold caches " : "") +
               (chained ? "for chained launches " : "") + "on " + hello.device.name + " (" + hello.identity +
               ", " + hello.device.target + ")" + (hello.note.empty() ? "." : ". " + hello.note));
  if (options.chained && !chained)
    progress.say("On the host launches apart and chained are the same: their times are called apart.");
  Compilers compilers(hello.device.target, compilers_wanted(options), options.compile_timeout_s,
                      options.cache_folder);
  const Policy policy = options.policy.value_or(policy_for(hello.device.kind));

  Recorder::Facts facts;
  facts.command = options.command;
  facts.strategy = options.strategy + (options.prior == Prior::none ? ", prior none" : "");
  facts.budget = options.budget;
  facts.seed = options.seed;
  facts.toolchain = compilers.identity();
  facts.driver = hello.driver;
  facts.device_uuid = hello.uuid;
  facts.device = hello.device;
  facts.caches = options.cold_caches ? "cold" : "warm";
  facts.launches = launches_of(hello.device.kind, options.chained);
  facts.objective = name(options.objective);
  Recorder recorder(store, op, facts);

  if (options.stale) add_stale(problems, op, hello.device, facts, recorder.winners());
  TuneResult result;
  result.device_id = hello.identity;
  result.device = hello.device;
  result.cold_caches = options.cold_caches;
  result.chained = chained;
  for (const Problem& problem : problems) {
    if (interrupted()) break;
    progress.say(op.name + " " + problem.text());
    ProblemRun run({op, options, policy, budget, compilers, worker, recorder, progress, interrupted},
                   problem);
    result.problems.push_back(run.run());
  }
  result.spent = worker.spent();
  result.compile_s = compilers.busy_s();
  result.compilers = compilers.processes();
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  result.interrupted = interrupted();
  if (!result.interrupted) recorder.finish();
  return result;
}

}  // namespace tunesmith
