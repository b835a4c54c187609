// SPDX-License-Identifier: Apache-2.0
#include "cli/timing_tables.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>

#include "choose/portfolio.h"
#include "cli/cli.h"
#include "cli/winners_table.h"
#include "db/device_row.h"
#include "dispatch/explanation.h"
#include "dispatch/tuning_data.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "generator/sample.h"
#include "kernel_file/find_op.h"
#include "tuner/run/table_run.h"

namespace tunesmith {
namespace {

void add(std::vector<Problem>& problems, Problem problem) {
  if (std::find(problems.begin(), problems.end(), problem) == problems.end())
    problems.push_back(std::move(problem));
}

// Returns the problems of built-in winners, which come before drawn ones: somebody found them worth tuning.
std::vector<Problem> built_in_problems(const Op& op, const TuneOptions& options, std::size_t most,
                                       const SampleLimits& limits) {
  std::vector<Problem> problems;
  for (const BuiltIn& winner : options.search.built_in) {
    if (winner.op != op.name || problems.size() == most) continue;
    const Problem problem = complete_problem(op, Problem::parse(winner.problem));
    if (affordable(op, problem, limits)) add(problems, problem);
  }
  return problems;
}

// An op's share of the time. Around a search half a second goes to inputs and checks (H200). A problem that
// is only measured takes some 0.3 s, and no table needs more than this number of them: when all of 110
// searched anchors were used, each doubling of their number improved left-out speed by 3 to 5 %.
struct Share {
  std::size_t searched, measured;
  std::string budget;
};
Share share_of(double seconds, std::size_t devices) {
  constexpr double search = 0.38, around_s = 0.5, wanted_s = 1.2, least_s = 0.3, most_s = 6, measured_s = 0.2;
  const double time = seconds * static_cast<double>(devices);
  const double searched = std::clamp(std::floor(search * time / (wanted_s + around_s)), 4.0, 72.0);
  const double each = std::clamp(search * time / searched - around_s, least_s, most_s);
  const double measured = std::clamp(std::floor(search * time / measured_s), 4.0, 448.0);
  return {static_cast<std::size_t>(searched), static_cast<std::size_t>(measured),
          std::to_string(std::lround(1e3 * each)) + "ms"};
}

// Limits for every other problem, which is cheaper than a search allows: it teaches less, in less time.
SampleLimits cheaper(const SampleLimits& limits) { return {limits.bytes / 8, limits.flops / 8}; }

// Adds problems on which only the portfolio is measured; the seed differs, so they differ from the searched
// ones. A few share the constants of one other problem, so that its kernels are compiled once; they take
// turns, so that devices that take turns do not compile the same at the same time. Without others each has
// its own.
void add_measured(const Op& op, TuneOptions& options, std::size_t count, const std::vector<Problem>& others,
                  const SampleLimits& limits) {
  constexpr std::size_t with_the_same = 3, in_turns = 8;
  Random random(~options.seed);
  std::array<const Problem*, in_turns> like{};
  std::size_t i = 0;
  std::vector<Problem> all = sample_problems(op, count, ~options.seed, cheaper(limits));
  const std::vector<Problem> costly = sample_problems(op, count, ~options.seed ^ 1, limits);
  for (std::size_t k = 0; k < count; k += 2) all[k] = costly[k];
  for (const Problem& drawn : all) {
    if (i % (with_the_same * in_turns) == 0)
      for (const Problem*& other : like) other = others.empty() ? nullptr : &draw(random, others);
    const Problem* const alike = like[i++ % in_turns];
    Problem problem = alike == nullptr ? drawn : with_constants_of(op, drawn, *alike, limits);
    if (std::find(others.begin(), others.end(), problem) == others.end())
      add(options.problems, std::move(problem));
  }
}

std::vector<Problem> problems_of(const Op& op, const TimingTable& table) {
  std::vector<Problem> problems;
  for (const TimingTable::Anchor& anchor : table.anchors)
    problems.push_back(complete_problem(op, anchor.problem));
  return problems;
}

// Returns the device's table with variants worth measuring in addition to its portfolio.
TimingTable table_to_extend(const Op& op, const DeviceFacts& device, const TuneOptions& options,
                            bool with_challengers) {
  TimingTable table = current_table(op, device, options.database);
  if (table.anchors.empty()) {
    throw UsageError("There is no table of " + op.name + " for the device " + device.name +
                     "; make one with \"tunesmith table make " + command_name(op) + "\".");
  }
  const std::vector<std::vector<TimeRow>> measured = times_of_model(options.database, op, device);
  table = with_first_launches(with_guesses(std::move(table), op), op, device, measured);
  if (!with_challengers) return table;
  return challenged(std::move(table), op, device, measured, options.search.built_in, most_challengers);
}

void must_have_guesses(const Op& op) {
  if (op.kind) return;
  throw UsageError("A table of " + op.name +
                   " holds no configs that templates name without measurements; leave out --guesses.");
}

// Says which variants were wrong: no problem of the table is given them, but another one may be.
std::string wrong_variants_text(const std::string& op, const TuneResult& result) {
  std::size_t wrong = 0, problems = 0;
  for (const TunedProblem& problem : result.problems) {
    std::size_t its = 0;
    for (const Verdict verdict : {Verdict::wrong_result, Verdict::out_of_bounds})
      if (const auto found = problem.verdicts.find(verdict); found != problem.verdicts.end())
        its += static_cast<std::size_t>(found->second);
    wrong += its;
    problems += its > 0 ? 1 : 0;
  }
  if (wrong == 0) return "";
  return counted(wrong, "variant") + " on " + counted(problems, "problem") +
         " gave a wrong result or left an array: a kernel is wrong, or the compiler. They are not chosen for "
         "these problems, but may be for others; \"tunesmith query " +
         op + " --all --verdict wrong_result\" (or out_of_bounds) shows them.\n";
}

void run(const TuneOptions& options, Progress& progress, int& exit_code) {
  const TuneResult result = tune(options, progress);
  if (result.interrupted) {
    exit_code = 130;
    std::cout
        << "Interrupted. Every verdict so far is in the database; run the same command again to continue, "
           "or make a table of the measurements so far with \"tunesmith table remake\".\n";
  } else {
    std::cout << options.op << " on " << result.device.name << ": " << quality_text(*result.table) << ".\n";
  }
  if (const std::string text = wrong_variants_text(options.op, result); !text.empty()) {
    std::cout << text;
    if (exit_code == 0) exit_code = 1;
  }
  if (!progress.in_parts()) std::cout << '\n' << spent_text(result);
  std::cout << std::flush;
}

}  // namespace

void make_table(TuneOptions options, std::size_t searched, std::size_t measured, double seconds,
                Progress& progress, int& exit_code) {
  const Op& op = find_op(options.op);
  const SampleLimits limits = sample_limits(first_device(options.device).kind);
  for (Problem& problem : sample_problems(op, searched, options.seed, limits))
    add(options.problems, std::move(problem));
  options.table = TableOptions{.searched = options.problems.size(), .seconds = seconds};
  const std::vector<Problem> others = options.problems;
  if (measured > 0) add_measured(op, options, measured, others, limits);
  run(options, progress, exit_code);
}

void extend_table(TuneOptions options, std::size_t measured, bool only_guesses, double seconds,
                  Progress& progress, int& exit_code) {
  const Op& op = find_op(options.op);
  if (only_guesses) must_have_guesses(op);
  const DeviceFacts first = first_device(options.device);
  TimingTable table = table_to_extend(op, first, options, !only_guesses);
  add_measured(op, options, measured, only_guesses ? std::vector<Problem>() : problems_of(op, table),
               sample_limits(first.kind));
  options.table = TableOptions{.searched = 0, .known = std::move(table), .seconds = seconds};
  if (only_guesses)
    for (const Problem& problem : options.problems)
      options.table->lists.emplace(problem.text(), named_guesses(op));
  run(options, progress, exit_code);
}

void fill_table(TuneOptions options, std::size_t anchors, bool only_guesses, double seconds,
                Progress& progress, int& exit_code) {
  const Op& op = find_op(options.op);
  if (only_guesses) must_have_guesses(op);
  const DeviceFacts first = first_device(options.device);
  TimingTable table = table_to_extend(op, first, options, false);
  std::vector<TableGap> incomplete = table_gaps(table, op, first, anchors, options.search.templates);
  if (only_guesses) {
    const std::vector<NamedVariant> guesses = named_guesses(op);
    for (TableGap& gap : incomplete) {
      const auto others =
          std::remove_if(gap.variants.begin() + 1, gap.variants.end(), [&](const NamedVariant& variant) {
            return std::find(guesses.begin(), guesses.end(), variant) == guesses.end();
          });
      gap.variants.erase(others, gap.variants.end());
    }
    std::erase_if(incomplete, [](const TableGap& gap) { return gap.variants.size() < 2; });
  }
  if (incomplete.empty()) {
    std::cout << "No anchor of the table of " << op.name << " for " << first.name
              << " lacks a time of its variants.\n";
    return;
  }
  options.table = TableOptions{.searched = 0, .known = std::move(table), .seconds = seconds};
  for (const TableGap& one : incomplete) {
    options.problems.push_back(one.problem);
    options.table->lists.emplace(one.problem.text(), one.variants);
  }
  run(options, progress, exit_code);
}

void tune_all(const TuneOptions& options, const std::vector<std::string>& names, double seconds,
              Progress& progress, int& exit_code) {
  std::vector<const Op*> chosen;
  chosen.reserve(names.empty() ? ops().size() : names.size());
  for (const std::string& name : names) chosen.push_back(&find_op(name));
  if (names.empty())
    std::transform(ops().begin(), ops().end(), std::back_inserter(chosen), [](const Op& op) { return &op; });
  const SampleLimits limits = sample_limits(first_device(options.device).kind);
  const std::size_t devices = device_count(options.device);
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  for (std::size_t i = 0; i < chosen.size() && exit_code != 130; ++i) {
    const double time = std::max(1.0, (seconds - elapsed_s()) / static_cast<double>(chosen.size() - i));
    const Share share = share_of(time, devices);
    TuneOptions asked = options;
    asked.op = chosen[i]->name;
    asked.search.budget = share.budget;
    asked.problems = built_in_problems(*chosen[i], options, share.searched / 2, limits);
    progress.begin_part(
        {.name = asked.op + " (" + std::to_string(i + 1) + " of " + std::to_string(chosen.size()) + ")",
         .elapsed_s = elapsed_s(),
         .part_s = time,
         .whole_s = seconds});
    try {
      make_table(asked, share.searched - asked.problems.size(), share.measured, time, progress, exit_code);
    } catch (const UsageError&) {
      throw;  // it concerns the request, so every op
    } catch (const std::exception& error) {
      progress.say(asked.op + " failed; tuning goes on with the other ops: " + error.what());
      exit_code = 1;
    }
  }
}

std::string remake_tables(Store& store, const std::filesystem::path& database, const std::string& op_name,
                          const std::string& device, bool extend, const std::string& command) {
  std::string text;
  for (const StoredDevice& stored : store.devices(device)) {
    const DeviceFacts facts = facts_of(stored.device);
    std::int64_t session = 0;
    for (const Op& op : ops()) {
      if (!op_name.empty() && op.name != op_name) continue;
      const std::vector<TimeRow> times = times_for_table(store, op, stored.id);
      TimingTable table = extend ? current_table(op, facts, database) : best_table(op, facts, times);
      if (table.anchors.empty()) continue;
      if (extend) {
        table = challenged(std::move(table), op, facts, times_of_model(database, op, facts), {},
                           most_challengers);
        table = extended(std::move(table), op, facts, times);
      }
      if (session == 0) {
        session = store.begin_session(
            {.device_id = stored.id, .command = command, .tunesmith_version = TUNESMITH_VERSION});
      }
      AnchorTableRow row = row_of(facts, table);
      row.session_id = session;
      row.device_id = stored.id;
      store.put_anchor_table(row);
      text += op.name + " on " + facts.name + ": " + quality_text(table) + ".\n";
    }
    if (session != 0) store.end_session(session, Store::End::finished);
  }
  return text;
}

std::string list_tables(const std::filesystem::path& database, const std::string& op,
                        const std::string& device) {
  DeviceFacts any;
  any.kind = DeviceKind::cuda;
  std::string text;
  for (const CandidateSet::Table& unread :
       read_tuning_data({.database = database.string(), .device = any}).tables) {
    if ((!op.empty() && unread.op != op) || !is_named(unread.device, device)) continue;
    text += unread.op + " on " + unread.device.name +
            (unread.origin == Candidate::Origin::database ? " (database): " : " (built in): ") +
            quality_text(unread.read().table) + ".\n";
  }
  return text;
}

}  // namespace tunesmith
