// SPDX-License-Identifier: Apache-2.0
// The tuning loop of a command: it searches, measures and chooses for each problem; every verdict goes to the
// database at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "choose/timing_table.h"
#include "choose/variant.h"
#include "db/rows.h"
#include "runtime/cache.h"
#include "tuner/check/device_worker.h"
#include "tuner/run/mode.h"
#include "tuner/run/progress.h"
#include "tuner/search/policy.h"
#include "tuner/search/search.h"
#include "tuner/search/shard.h"
#include "tuner/search/statistics.h"

namespace tunesmith {

/// The options of a timing table, which holds the times of the same variants on all problems. Some problems
/// are searched, without finals, and the best variants that were found are measured on all searched problems,
/// so that they can be compared; then the portfolio is measured on each problem where it is legal and not
/// known yet.
struct TableOptions {
  std::size_t searched = std::numeric_limits<std::size_t>::max();  ///< the first so many problems
  /// The table that is extended; its variants are the portfolio. Null: a new table from all times of the
  /// device, with its portfolio.
  std::optional<TimingTable> known = std::nullopt;
  std::vector<NamedVariant> portfolio = {};  ///< measured instead of the table's own; empty: the table's own
  VariantLists lists = {};                   ///< measured instead of the portfolio, by the text of a problem
  double seconds = 0;  ///< for all problems together; less than half is for the search; 0: no limit
};

/// Options that choose the variants to try.
struct SearchOptions {
  std::string budget = "60s";  ///< of each problem's search; the finals come after it (Budget::parse)
  /// Ends a search that expects less gain (least_gain_of); empty: its budget ends it.
  std::string until = {};
  std::string strategy = "auto";  ///< one of strategies()
  Prior prior = Prior::worth;
  std::vector<std::string> templates = {};  ///< search only these; empty: all
  std::vector<BuiltIn> built_in = {};       ///< guesses, which run in the finals too
  bool retry_failed = false;                ///< retry variants that timed out or crashed in an earlier run
};

/// Options for checking and timing variants.
struct MeasureOptions {
  Conditions conditions = {};  ///< of the times that choose winners; winners of other conditions are stale
  bool energy = true;          ///< measure the finalists' energy, some seconds a problem
  std::string reference = {};  ///< words of a ReferenceProgram, which replaces the described one
  std::string inputs = {};     ///< words of a program that gives input arrays
  std::optional<Policy> policy = std::nullopt;  ///< null: policy_for the device's kind
  WorkerTimeouts worker = {};
};

struct CompileOptions {
  int processes = 0;  ///< parallel compilations; 0: one less than there are processors
  double timeout_s = 120;
  std::filesystem::path cache_folder = user_cache_folder();  ///< folder of compiled binaries; empty: none
};

struct TuneOptions {
  std::string op;
  std::vector<Problem> problems;  ///< as given; parameters with an initial value may be missing
  /// The weight of each problem, used with total_s: a problem gets time by its weight. Empty: all are equal.
  std::vector<double> weights = {};
  /// The time for all problems together; problems are begun in order within that time; 0: no limit.
  double total_s = 0;
  /// Tune only its part, into a file of its own beside `database`.
  std::optional<Shard> shard = std::nullopt;
  std::optional<int> local_rank = std::nullopt;  ///< "cuda" and "auto" mean the GPU of this number
  Mode mode = modes::tuning;  ///< or finals (without problems: of all that have verdicts), or checks
  std::optional<TableOptions> table = std::nullopt;  ///< the problems are anchors of a timing table
  /// With modes::checks: the number of random configs of each template, dealt out to the problems, in
  /// addition to those in which each value of each axis occurs.
  std::size_t random_checks = 0;
  bool stale = false;  ///< also the op's problems on this device whose winners' templates have changed
  std::string device = "auto";     ///< as DeviceId reads it: auto, cuda, cuda:N or host; or several of one
                                   ///< model: cuda:all, or names with commas between them
  std::uint64_t seed = 1;          ///< of the search and the inputs
  std::filesystem::path database;  ///< created if it does not exist
  std::string command = "tunesmith tune";  ///< recorded in the session
  SearchOptions search = {};
  MeasureOptions measure = {};
  CompileOptions compile = {};
};

struct TunedTime {
  double median_us = 0;                                ///< over the loads of the finals
  std::optional<Interval> interval_us = std::nullopt;  ///< 95 %; none: too few loads
  double energy_uj = 0;                                ///< per launch; 0: not measured
};

struct TunedWinner {
  bool any_alignment = false;  ///< it needs no more than the alignment of one element
  std::string template_name;
  std::string config;
  TunedTime time;
  std::int64_t alignment_bytes = 0;
  int registers = 0;
  std::int64_t finalists = 0;  ///< number that it ran against, itself included
  std::int64_t tied = 0;       ///< those of them that could not be distinguished from the best
  std::string runner_up;       ///< the best of the others: template and config; empty: there was none
  Interval runner_up_ratio;
  std::string note;  ///< why the database kept another winner; empty if it took this one
};

/// A variant that ran beside the first winner, or the winner itself.
struct TunedFinalist {
  std::string template_name, config;
  double median_us = 0;
  double ratio = 1;  ///< of its time to the winner's, paired over rounds
};

/// A variant that is not `ok`.
struct FailedVariant {
  std::string template_name, config;
  Verdict verdict;
  std::string reason;
};

struct TunedProblem {
  std::string problem;
  /// The fastest, then, if it needs alignment, the fastest that does not.
  std::vector<TunedWinner> winners;
  bool provisional = false;  ///< the run was interrupted: the winners are the fastest of the search
  std::vector<TunedFinalist> finalists;  ///< the best first
  std::optional<TunedTime> base;
  std::string base_fault;  ///< the base's verdict and reason; empty: it is ok, or it was not judged
  double worst_us = 0;     ///< slowest variant that is ok; 0: none
  /// The verdicts of the variants that the search proposed, including those of earlier runs.
  std::map<Verdict, std::int64_t> verdicts;
  std::vector<FailedVariant> failed;  ///< with modes::checks
  std::int64_t unwatched = 0;         ///< variants whose accesses could not be watched on the host
  std::string why_unwatched;          ///< what the compiler said of the first of them
  std::int64_t measured = 0;          ///< verdicts of this run
  std::int64_t known = 0;             ///< verdicts taken from the database
  std::int64_t variants = 0;          ///< in the search space
  double seconds = 0;
  double search_s = 0;  ///< part of `seconds` from the base's verdict to the end of the search
};

struct TuneResult {
  bool interrupted = false;   ///< by SIGINT, SIGTERM or SIGHUP; exit code 130
  Mode mode = modes::tuning;  ///< as in the options
  std::string device_id;      ///< "cuda:0"
  DeviceFacts device;
  Conditions conditions = {};
  std::vector<TunedProblem> problems;
  std::optional<TimingTable> table = std::nullopt;  ///< the stored table, if the options ask for one
  TimeSpent spent;                                  ///< from the start of the worker
  double compile_s = 0;                             ///< of all compilers together
  int compilers = 0;
  double seconds = 0;
};

/// The number of devices that TuneOptions::device means. Throws UsageError.
std::size_t device_count(const std::string& words);

/// The GPU, of `count`, that the words mean to the process of this rank on its machine: "cuda:2". Words other
/// than "cuda" and "auto" stay.
std::string device_of_rank(const std::string& words, int local_rank, std::size_t count);

/// Tunes the problems. Throws UsageError, Error or StoreError; rows that were recorded before stay. Waits for
/// another tuner that has the GPU. Handles SIGINT, SIGTERM and SIGHUP while it runs: the first ends the run
/// cleanly, the second ends it at once.
TuneResult tune(const TuneOptions& options, Progress& progress);

}  // namespace tunesmith
