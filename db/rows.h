// SPDX-License-Identifier: Apache-2.0
// The rows that the store takes and gives, as plain data. Configs, problems and verdicts are texts here: db/
// does not interpret them. Every field has a default, so that a designated initialiser may leave it out
// without a warning.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tunesmith {

// Rows that a tuner writes.

struct DeviceRow {
  std::string kind{};  // cuda, host
  std::string name{};
  std::string target{};              // sm_90a, host
  std::string compute_capability{};  // "9.0"; empty on the host
  std::int64_t sm_count = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;  // this and the following fields do not identify a device; 0: not known
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t max_threads_per_sm = 0;
  std::int64_t max_shared_bytes_per_block = 0;
  bool operator==(const DeviceRow&) const = default;
};

struct TemplateRow {
  std::string op{};
  std::string name{};
  std::string body_hash{};
  bool operator==(const TemplateRow&) const = default;
};

struct VariantRow {
  std::int64_t template_id = 0;
  std::string target{};
  std::string source_hash{};
  std::string config{};       // "BLOCK_X=32 BLOCK_Y=8"
  std::string compiled_in{};  // "dtype=f32 mask_width=3"
  std::string entry{};
};

struct ProblemRow {
  std::string op{};
  std::string text{};  // canonical: "batch=1 height=1000 width=2000 dtype=f32"
};

struct SessionRow {
  std::int64_t device_id = 0;
  std::string command{};
  std::string strategy{};
  std::int64_t seed = 0;
  std::string budget{};
  std::string tunesmith_version{};
  std::string toolchain{};
  std::string driver{};
  std::string host_facts{};
  std::string device_uuid{};  // the individual GPU; empty if its driver does not tell
};

struct MeasurementRow {
  std::int64_t session_id = 0;
  std::int64_t variant_id = 0;
  std::int64_t problem_id = 0;
  std::int64_t device_id = 0;
  bool is_base = false;
  std::string verdict{};  // ok, compile_error, resource_limit, launch_error, wrong_result, out_of_bounds,
                          // timeout, crash
  std::string reason{};   // a sentence; empty when ok
  std::optional<double> median_us{};
  std::optional<double> min_us{};
  std::optional<double> spread{};  // interquartile range / median
  std::vector<double> samples_us{};
  std::optional<std::int64_t> registers{};             // per thread
  std::optional<std::int64_t> static_shared_bytes{};   // per block
  std::optional<std::int64_t> dynamic_shared_bytes{};  // per block
  std::optional<std::int64_t> spill_bytes{};           // per thread
  std::optional<double> max_error{};                   // |error| / the error that the op permits
  std::optional<double> compile_ms{};
  std::string toolchain{};
  std::string driver{};
  std::string measured_at{};    // UTC, ISO 8601 with milliseconds; empty: now
  std::string caches = "warm";  // the state of the caches at a launch: warm, cold
  std::string launches =
      "apart";  // how a sample is launched: between ordinary kernels (apart) or back to back (chained)
  std::optional<double> low_us{}, high_us{};     // 95 % interval of the median over loads; empty for one load
  std::optional<std::int64_t> loads{};           // the number of times that the binary was loaded
  std::optional<double> energy_uj{};             // per launch
  std::optional<std::int64_t> clock_mhz{};       // the lowest clock seen
  std::string throttled{};                       // why the clock was reduced, in words
  std::string stage{};                           // search, finals, table; empty: not known
  std::optional<double> wall_ms{};               // time of loading, checking and timing
  std::optional<std::int64_t> space_variants{};  // only for a base: the number of variants in the space
};

// A finalist's result in the finals that named a winner.
struct FinalistRow {
  std::int64_t measurement_id = 0;
  double ratio = 1;                                 // its time / the winner's, paired over rounds
  std::optional<double> ratio_low{}, ratio_high{};  // 99 % interval; empty: too few rounds
  bool tied = false;                                // it could not be distinguished from the best
  bool operator==(const FinalistRow&) const = default;
};

// The anchor table of an op on a device. db/ does not interpret its text and its factors.
struct AnchorTableRow {
  std::int64_t session_id = 0;
  std::int64_t device_id = 0;
  std::string op{};
  std::string caches = "warm";
  std::string launches = "apart";
  std::string text{};
  std::string factors{};  // bytes computed from the text; empty: not computed yet
};

// A variant that was tried at the first use of a problem.
struct TrialRow {
  std::string template_name{}, config{}, source_hash{};
  std::optional<double> us{};  // time of a launch; empty: it could not be loaded or launched
  std::string toolchain{};     // the toolchain that compiled it; else the origin of its binary, in words
};

// The variants that an application tried when it first used a problem. They have no verdict: nothing was
// compared with a reference.
struct FirstUseRow {
  std::int64_t problem_id = 0;
  std::int64_t device_id = 0;
  std::string driver{}, tunesmith_version{};
  std::vector<TrialRow> trials{};  // the fastest comes first, and is used
};

struct BinaryRow {
  std::int64_t variant_id = 0;
  std::string toolchain{};
  std::string hash{};  // SHA-256 of bytes
  std::vector<std::byte> bytes{};
};

bool is_whole(const BinaryRow&);  // true if its hash is the hash of its bytes

// Queries and results of readers.

// The newest time of a config on a problem and device, under conditions that the reader has named.
struct TimeRow {
  std::string problem, template_name, body_hash, config;
  double median_us = 0;
};

using BodyHashes = std::map<std::string, std::string>;  // the current body_hash by template

// The key of a kernel across runs.
struct SourceKey {
  std::string target{};
  std::string source_hash{};
  auto operator<=>(const SourceKey&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

struct KnownVerdict {
  std::int64_t measurement_id = 0;
  std::string verdict{};
  std::string reason{};
  std::optional<double> median_us{};
  std::optional<double> compile_ms{};
  std::string toolchain{};
  std::string driver{};
  std::string measured_at{};
  std::int64_t loads = 1;  // the number of loads behind its time
  std::string command{};   // the command of its session
};

// Selects rows; an empty field matches everything.
struct QueryFilter {
  std::string op{};
  std::string device{};   // a part of a device's name, upper or lower case, or its whole target
  std::string problem{};  // words that must all be in the problem's text: "height=1000 dtype=f32"
  std::string verdict{};
  std::string caches{};    // applies only to verdicts that are `ok`
  std::string launches{};  // likewise
  bool history = false;    // true: also replaced measurements and those of older bodies
  bool samples = false;    // true: with the samples of each measurement
  std::int64_t limit = 0;  // 0: no limit
};

struct ResultRow {
  std::int64_t measurement_id = 0;
  std::int64_t session_id = 0;
  std::string op, device, problem, template_name, config, compiled_in, target, source_hash;
  bool is_base = false;
  bool is_current = false;  // no newer measurement of the variant exists, and it is not stale
  bool is_stale = false;    // it belongs to an older body of its template, or an older text of its config
  std::string verdict, reason, caches, launches;
  std::optional<double> median_us, low_us, high_us, min_us, spread, energy_uj, max_error, compile_ms;
  std::optional<std::int64_t> loads, clock_mhz;
  std::optional<std::int64_t> registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes;
  std::string throttled, toolchain, driver, measured_at, stage;
  std::optional<double> wall_ms;
  std::int64_t samples = 0;
  std::vector<double> samples_us;  // only with QueryFilter::samples
  std::optional<std::int64_t> space_variants;
};

struct WinnerRow {
  DeviceRow device{};
  ProblemRow problem{};
  TemplateRow template_{};
  VariantRow variant{};
  std::int64_t device_id = 0, problem_id = 0, variant_id = 0, measurement_id = 0;
  std::int64_t alignment_bytes = 0;
  std::string caches{}, launches{};  // the conditions of all times in this row
  std::string objective{};           // the objective by which it won: time, energy, edp
  double median_us = 0;
  std::optional<double> low_us{}, high_us{}, spread{}, energy_uj{};
  std::optional<std::int64_t> loads{}, clock_mhz{};
  std::string throttled{};
  std::int64_t tied =
      0;  // finalists that could not be distinguished from the best, including it; 0: not recorded
  std::optional<std::string> runner_up{};  // template and config of the next best finalist
  std::optional<double> runner_up_ratio{};
  std::int64_t other_gpus =
      0;  // other GPUs on which other winners were named at the same time: their times do not compare
  bool provisional = false;                 // no finals named it: its run was interrupted
  std::optional<double> base_us, worst_us;  // only with Load::report
  std::string newest_verdict{};             // if not ok, it failed when last measured: do not dispatch it
  std::string toolchain, driver, measured_at, since;
  std::optional<BinaryRow> binary{};  // only with Load::dispatch, and if there is one
};

struct StoredDevice {
  std::int64_t id = 0;
  DeviceRow device{};
};

struct StoredAnchorTable {
  std::int64_t id = 0;
  DeviceRow device{};
  AnchorTableRow table{};
  std::string made_at{};
};

// A kernel that was measured on a problem and a device, and is not stale.
struct StoredKernel {
  std::int64_t variant_id = 0, problem_id = 0, device_id = 0;
  std::string op, template_name, target, source_hash, config, problem;
  bool has_binary = false;
};

struct StoredTrial {
  DeviceRow device{};
  ProblemRow problem{};
  TrialRow trial{};
  std::int64_t place = 0;
  bool is_current = false;       // there is no later first use of the problem on the device with its driver
  bool is_tuned = false;         // the problem has a winner now
  std::string newest_verdict{};  // a tuner's verdict on the same kernel and problem; empty: none
  std::string driver{}, tunesmith_version{}, tried_at{};
  std::string first_use{};  // equal for all trials of one first use
};

struct SessionSummary {
  std::int64_t id = 0;
  std::string state, started_at, ended_at, device, command, strategy;
  std::int64_t measurements = 0, ok = 0, problems = 0;
};

struct StoreStatus {
  std::filesystem::path path{};
  std::uint64_t size_bytes = 0;  // including the write-ahead log
  int schema_version = 0;
  std::string journal_mode{};
  std::string check{};  // "ok", or what is damaged, one per line: pages, rows, binaries
  std::vector<std::pair<std::string, std::int64_t>> rows{};  // per table
  std::vector<std::pair<std::string, std::int64_t>>
      verdicts{};  // the number of current measurements by verdict, such as "ok, cold caches"
  std::optional<SessionSummary> newest_session{};
  std::vector<std::string> hints{};  // sentences
};

// A kernel whose text has changed and whose machine code has not.
struct CarriedKernel {
  StoredKernel before{};
  TemplateRow template_now{};
  VariantRow now{};    // without the template's id
  BinaryRow binary{};  // without the variant's id; no bytes: no binary is kept
};
struct CarriedTable {
  std::int64_t id = 0;  // the id of the older table
  std::string text{};
};

// Results of writing.

struct CarryReport {
  std::int64_t verdicts = 0, winners = 0, tables = 0;
};

struct SetWinner {
  bool taken = false;  // the measurement is now the winner, and was not before
  std::string why{};   // a sentence
};

struct MergeReport {
  std::int64_t sessions = 0, measurements = 0;  // the numbers that were new here
  std::int64_t winners_taken = 0, winners_kept = 0;
  std::int64_t other_kinds =
      0;  // their winners for problems that were tuned here with other caches or launches
  MergeReport& operator+=(const MergeReport& m) {
    sessions += m.sessions;
    measurements += m.measurements;
    winners_taken += m.winners_taken;
    winners_kept += m.winners_kept;
    other_kinds += m.other_kinds;
    return *this;
  }
};

}  // namespace tunesmith
