// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/tune.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "db/store.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "tuner/device/device_lock.h"
#include "tuner/run/device_runs.h"
#include "tuner/run/interrupt.h"
#include "tuner/run/table_run.h"

namespace tunesmith {
namespace {

// Reading that takes less than a second is not worth a line.
void show_reading(const char* what, std::int64_t done, std::int64_t total, Clock::time_point started,
                  Progress& progress) {
  if (Clock::now() - started > std::chrono::seconds(1))
    progress.show({.stage = what, .done = done, .total = total});
}

// The tuner keeps its own copies, so a problem that passes may still be too large.
void refuse_too_large(const Op& op, const Problem& problem, const DeviceFacts& device) {
  double bytes_needed = 0;
  for (const Argument& argument : op.arguments) bytes_needed += size_bytes(argument, problem);
  if (bytes_needed <= static_cast<double>(device.memory_bytes)) return;
  throw UsageError("The arrays of the " + op.name + " problem " + problem.text() + " take " +
                   printed("%.4g GiB, but %.4g GiB", bytes_needed / (1 << 30),
                           static_cast<double>(device.memory_bytes) / (1 << 30)) +
                   " are all that " + device.name + " has; give a smaller problem.");
}

// Adds the problems of winners, without repetitions, whose templates now render them to another text, that
// were chosen among times of several GPUs, or that no finals have named.
void add_stale(std::vector<Problem>& problems, const Op& op, const DeviceFacts& device,
               const Recorder::Facts& facts, const std::vector<WinnerRow>& winners) {
  for (const WinnerRow& row : winners) {
    if (conditions_of(row) != facts.conditions) continue;
    try {
      Problem problem = complete_problem(op, Problem::parse(row.problem.text));
      if (std::find(problems.begin(), problems.end(), problem) != problems.end()) continue;
      const auto variant = render_legal(op, problem, row.template_.name, row.variant.config, device);
      if (row.other_gpus > 0 || row.provisional || !variant ||
          variant->source.hash != row.variant.source_hash)
        problems.push_back(std::move(problem));
    } catch (const UsageError&) {
      // The op no longer has such a problem.
    }
  }
}

// Adds all problems that have verdicts, except anchors of a table without a winner: those are measured for
// the table.
void add_tried(std::vector<Problem>& problems, const Op& op, const std::vector<Store::TriedProblem>& tried,
               Progress& progress) {
  std::size_t without = 0;
  std::size_t anchors = 0;
  for (const Store::TriedProblem& one : tried) {
    if (one.is_anchor && !one.has_winner) {
      ++anchors;
      continue;
    }
    try {
      problems.push_back(complete_problem(op, Problem::parse(one.problem)));
      if (!one.has_winner) ++without;
    } catch (const UsageError&) {
      // The op no longer has such a problem.
    }
  }
  if (problems.empty()) {
    if (anchors > 0)
      progress.say("The only verdicts are those of a timing table, on " + counted(anchors, "anchor") +
                   ", of which no winners are chosen; tune a problem first.");
    return;
  }
  progress.say(
      counted(problems.size(), "problem") + " with verdicts, of which " +
      (without == 0 ? "all have a winner of finals" : std::to_string(without) + " had no finals yet") +
      (anchors == 0 ? "." : "; " + counted(anchors, "anchor") + " of the table left out."));
}

// Keeps one of equal problems, with the sum of their weights.
void merge_duplicates(std::vector<Problem>& problems, std::vector<double>& weights) {
  std::vector<Problem> once;
  std::vector<double> its_weights;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto [place, is_new] = places.try_emplace(problems[i].text(), once.size());
    if (is_new) {
      once.push_back(std::move(problems[i]));
      if (i < weights.size()) its_weights.push_back(weights[i]);
    } else if (i < weights.size()) {
      its_weights[place->second] += weights[i];
    }
  }
  problems = std::move(once);
  weights = std::move(its_weights);
}

// Locks each GPU once, in the same order in all tuners, so that no two wait for each other. Ends at an
// interrupt.
void take_locks(const DeviceRuns& device_runs, std::vector<DeviceLock>& locks, Progress& progress) {
  std::map<std::string, const DeviceRun*> gpus;
  for (const auto& device_run : device_runs)
    if (!device_run->uuid().empty()) gpus.emplace(device_run->uuid(), device_run.get());
  for (const auto& [uuid, device_run] : gpus) {
    DeviceLock& lock = locks.emplace_back(lock_folder, uuid);
    for (bool said = false; !lock.take();) {
      if (interrupted()) return;
      if (!std::exchange(said, true)) {
        progress.say("Another tuner measures on " + device_run->id() + " (" + device_run->device().name +
                     ", " + uuid +
                     "): waiting until it has ended, because two would disturb each other's times.");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
}

std::string others_text(const DeviceRun& device_run) {
  const std::vector<std::int32_t>& processes = device_run.other_processes();
  if (processes.empty()) return "";
  std::string numbers;
  for (const std::int32_t process : processes)
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(process);
  return (processes.size() == 1 ? "Another process uses "
                                : std::to_string(processes.size()) + " other processes use ") +
         device_run.id() + " (" + numbers + "): times that are measured while it computes are wrong.";
}

void refuse_contradictions(const Op& op, const TuneOptions& options) {
  if (options.problems.empty() && !options.stale && !options.mode.chooses_again())
    throw UsageError("There is no problem to tune; give at least one, or ask for the stale ones.");
  if (options.measure.conditions.launches == Launches::chained &&
      options.measure.conditions.caches == Caches::cold) {
    throw UsageError(
        "Chained launches find their data in the cache, so they cannot have cold caches. Ask for cold caches "
        "or for chained launches.");
  }
  if (options.measure.conditions.objective != Objective::time && !options.measure.energy) {
    throw UsageError("The objective " + std::string(to_text(options.measure.conditions.objective)) +
                     " needs the energy of a launch; leave out --no-energy.");
  }
  if (!options.measure.inputs.empty() && op.user_kernel == nullptr) {
    throw UsageError("--inputs is for a kernel of your own, such as my_kernel.cu; " + options.op +
                     " says itself what its inputs hold.");
  }
  if (!options.measure.reference.empty() && op.user_kernel == nullptr) {
    throw UsageError("--reference is for a kernel of your own, such as my_kernel.cu; " + options.op +
                     " has its reference built in.");
  }
  if (!options.search.until.empty()) least_gain_of(options.search.until);
  if (!options.search.until.empty() && options.search.strategy != "auto" &&
      options.search.strategy != "model") {
    throw UsageError("--until asks a model what is still expected, and the strategy " +
                     options.search.strategy + " has none; use auto or model.");
  }
  std::error_code ignored;
  if ((options.mode.chooses_again() || options.stale) &&
      !std::filesystem::exists(options.database, ignored)) {
    throw UsageError("There is no database " + options.database.string() + ", so there is nothing to " +
                     (options.mode.chooses_again() ? "choose from" : "tune again") +
                     "; name the file with verdicts by --db.");
  }
  if (options.table && (options.stale || options.mode.chooses_again() || options.shard))
    throw UsageError(
        "The problems of a table have no finals and are not divided: it goes with neither stale problems, "
        "finals nor a shard.");
  if (!options.shard) return;
  if (options.stale || options.mode.chooses_again() || options.problems.empty())
    throw UsageError(
        "A shard divides problems that are given, to search them; it goes neither with the stale ones nor "
        "with finals alone. Merge the shards' files first.");
}

// The search space, which takes long, is made when the problem's turn comes.
std::vector<Problem> complete_problems(const Op& op, const TuneOptions& options, Progress& progress) {
  refuse_unknown_strategy(options.search.strategy);
  for (const std::string& name : options.search.templates) find_template(op, name);
  const Clock::time_point started = Clock::now();
  std::vector<Problem> problems;
  for (const Problem& given : options.problems) {
    problems.push_back(complete_problem(op, given));
    if (op.templates.front().work(problems.back(), base_config(op, problems.back())).steps.empty()) {
      throw UsageError("There is nothing to tune in the " + op.name + " problem " + problems.back().text() +
                       ": it launches no kernel. Give a problem with elements.");
    }
    show_reading("reading problem", std::ssize(problems), std::ssize(options.problems), started, progress);
  }
  return problems;
}

// A shard's file begins with the contents of the file without a shard's name, because its choices follow from
// them.
void open_shard(const TuneOptions& options, const std::filesystem::path& file) {
  std::error_code ignored;
  if (!options.shard || !std::filesystem::exists(options.database, ignored)) return;
  Store::open(file, Store::Mode::create).merge_from(options.database);
}

void refuse_mistakes(const Op& op, const std::vector<Problem>& problems, Progress& progress) {
  const UserKernel* own = op.user_kernel;
  if (own == nullptr) return;
  const Clock::time_point started = Clock::now();
  std::int64_t looked_at = 0;
  for (const Problem& problem : problems) {
    if (const std::string mistake = own->mistake(problem); !mistake.empty())
      throw UsageError(own->file.path + ": " + mistake);
    show_reading("checking expressions for problem", ++looked_at, std::ssize(problems), started, progress);
  }
}

std::string device_words_of(const TuneOptions& options) {
  if (!options.local_rank) return options.device;
  std::string why_none;
  return device_of_rank(options.device, *options.local_rank, cuda_devices(why_none).size());
}

DeviceRuns make_device_runs(const Op& op, const TuneOptions& options, const std::filesystem::path& file,
                            const std::vector<DeviceId>& ids, Progress& progress) {
  const auto references = std::make_shared<SharedReferences>();
  DeviceRuns device_runs;
  for (const DeviceId& id : ids) {
    device_runs.push_back(std::make_unique<DeviceRun>(
        DeviceRun::Setup{op, options, file, id.text(), ids.size(), references}, progress));
    device_runs.back()->must_be_like(*device_runs.front());
  }
  return device_runs;
}

// Refuses options that the device does not support.
void check_device(const TuneOptions& options, const DeviceRun& device_run) {
  const bool host = device_run.device().kind == DeviceKind::host;
  const std::string note = device_run.note().empty() ? "" : " " + device_run.note();
  if (options.measure.conditions.caches == Caches::cold && host) {
    throw UsageError(
        "Caches can be cold on CUDA devices only, and this is the host. Tune with warm caches, or on a CUDA "
        "device." +
        note);
  }
  if (options.measure.conditions.objective == Objective::time) return;
  const std::string needs = "The objective " + std::string(to_text(options.measure.conditions.objective)) +
                            " needs the energy of a launch, and ";
  if (host) {
    throw UsageError(needs + "the host does not tell it. Tune on a CUDA device, or with the objective time." +
                     note);
  }
  if (!device_run.tells_energy()) {
    throw UsageError(needs + device_run.device().name +
                     " does not tell it (NVML has no counter for it, or is not installed); use the "
                     "objective time.");
  }
}

void introduce(const TuneOptions& options, const DeviceRuns& device_runs, const std::string& device_words,
               Progress& progress) {
  for (const auto& device_run : device_runs) device_run->introduce();
  if (device_runs.front()->facts().conditions != options.measure.conditions)
    progress.say("On the host launches apart and chained are the same: their times are called apart.");
  if (options.local_rank && device_words != options.device)
    progress.say("Rank " + std::to_string(*options.local_rank) + " of this machine uses " + device_words +
                 ".");
  for (const auto& device_run : device_runs)
    if (const std::string text = others_text(*device_run); !text.empty()) progress.say(text);
}

void say_shard(const Shard& shard, const std::vector<Task>& tasks, std::size_t problems,
               const std::filesystem::path& file, Progress& progress) {
  std::string what = std::to_string(tasks.size()) + " of " + counted(problems, "problem");
  if (tasks.front().parts > 1) {
    what = "part " + std::to_string(tasks.front().part + 1) + " of " + std::to_string(tasks.front().parts) +
           " of a problem";
  }
  progress.say("Shard " + shard.text() + ": " + what + ", into " + file.string() + ".");
}

std::vector<TunedProblem> run_problems(const DeviceRuns& device_runs, const TuneOptions& options,
                                       const std::vector<Problem>& problems, const std::vector<Task>& tasks,
                                       std::vector<double> weights, Clock::time_point started,
                                       Progress& progress) {
  Assignment assignment{.mode = options.mode};
  if (options.total_s > 0) {
    const std::chrono::duration<double> total(options.total_s);
    assignment.until = started + std::chrono::duration_cast<Clock::duration>(total);
    assignment.weights = std::move(weights);
    assignment.weights.resize(problems.size(), 1);  // stale problems get a weight too
  }
  std::vector<TunedProblem> tuned = run_tasks(device_runs, problems, tasks, assignment);
  if (tuned.size() < problems.size() && !interrupted() && !options.shard) {
    progress.say("The time limit --total is reached: " + std::to_string(problems.size() - tuned.size()) +
                 " of " + std::to_string(problems.size()) +
                 " problems were not tuned; give more time for them.");
  }
  return tuned;
}

}  // namespace

std::string device_of_rank(const std::string& words, int local_rank, std::size_t count) {
  if ((words != "cuda" && words != "auto") || count == 0) return words;
  return "cuda:" + std::to_string(static_cast<std::size_t>(local_rank) % count);
}

std::size_t device_count(const std::string& words) { return DeviceId::parse_list(words).size(); }

TuneResult tune(const TuneOptions& options, Progress& progress) {
  // Every possible mistake of a user is checked before a process is started.
  const Op& op = find_op(options.op);
  if (!options.mode.chooses_again()) static_cast<void>(Budget::parse(options.search.budget));
  refuse_contradictions(op, options);
  std::vector<Problem> problems = complete_problems(op, options, progress);
  refuse_mistakes(op, problems, progress);
  std::vector<double> weights = options.weights;
  if (!options.table && !options.mode.only_checks()) merge_duplicates(problems, weights);
  const std::string device_words = device_words_of(options);
  const std::vector<DeviceId> ids = DeviceId::parse_list(device_words);
  const std::filesystem::path file =
      options.shard ? shard_file(options.database, *options.shard) : options.database;
  open_shard(options, file);

  const InterruptScope scope;
  const Clock::time_point started = Clock::now();
  std::vector<DeviceLock> locks;  // held until the workers have ended
  const DeviceRuns device_runs = make_device_runs(op, options, file, ids, progress);
  DeviceRun& first = *device_runs.front();
  check_device(options, first);
  for (const Problem& problem : problems) refuse_too_large(op, problem, first.device());
  introduce(options, device_runs, device_words, progress);
  if (!options.mode.only_checks()) take_locks(device_runs, locks, progress);
  if (options.stale) add_stale(problems, op, first.device(), first.facts(), first.winners());
  if (options.mode.chooses_again() && problems.empty() && !interrupted())
    add_tried(problems, op, first.tried(), progress);
  const std::vector<Task> tasks = tasks_of(problems.size(), options.shard.value_or(Shard{}));
  if (options.shard) say_shard(*options.shard, tasks, problems.size(), file, progress);
  if (device_runs.size() > 1 && !problems.empty())
    compare(device_runs, op, problems[tasks.front().problem], progress);

  TuneResult result;
  if (options.table) {
    run_table(device_runs, op, options, problems, tasks, started, result);
  } else {
    result.problems =
        run_problems(device_runs, options, problems, tasks, std::move(weights), started, progress);
  }
  result.device = first.device();
  result.mode = options.mode;
  result.conditions = first.facts().conditions;
  for (const auto& device_run : device_runs) {
    result.device_id += (result.device_id.empty() ? "" : ", ") + device_run->id();
    device_run->add_spent(result);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  result.interrupted = interrupted();
  if (!result.interrupted)
    for (const auto& device_run : device_runs) device_run->finish();
  return result;
}

}  // namespace tunesmith
