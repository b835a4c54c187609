// The store: what was tried, with which verdict, and what dispatch should use. The only interface to the
// database. Rows are plain data; a config, a problem and a verdict are texts here, and db/ does not know what
// they mean. A Store belongs to one thread at a time and does not survive a fork.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith {

// A failure of the world around the database, as a sentence. Nothing that was recorded before is lost.
struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// $TUNESMITH_DB, else $XDG_DATA_HOME/tunesmith/tunesmith.db, else ~/.local/share/tunesmith/tunesmith.db
std::filesystem::path default_database_path();

// Every field has a default, so that a designated initialiser may leave it out without a warning.
struct DeviceRow {
  std::string kind{};  // cuda, host
  std::string name{};
  std::string target{};              // sm_90a, host
  std::string compute_capability{};  // "9.0"; empty on the host
  std::int64_t sm_count = 0;
  std::int64_t memory_bytes = 0;
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
  std::optional<std::int64_t> registers{};             // a thread
  std::optional<std::int64_t> static_shared_bytes{};   // a block
  std::optional<std::int64_t> dynamic_shared_bytes{};  // a block
  std::optional<std::int64_t> spill_bytes{};           // a thread
  std::optional<double> max_error{};                   // |error| / what the op permits
  std::optional<double> compile_ms{};
  std::string toolchain{};
  std::string driver{};
  std::string measured_at{};    // UTC, ISO 8601 with milliseconds; empty: now
  std::string caches = "warm";  // as a launch found them; or cold
};

// What identifies a kernel across runs.
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
  std::string toolchain{};
  std::string driver{};
  std::string measured_at{};
};

struct BinaryRow {
  std::int64_t variant_id = 0;
  std::string toolchain{};
  std::string hash{};  // of bytes
  std::vector<std::byte> bytes{};
};

// Empty fields let everything through.
struct QueryFilter {
  std::string op{};
  std::string device{};   // part of a device's name in any case, or its whole target
  std::string problem{};  // words that a problem's text must hold: "height=1000 dtype=f32"
  std::string verdict{};
  bool history = false;    // measurements that have a newer successor too
  std::int64_t limit = 0;  // 0: no limit
};

struct ResultRow {
  std::int64_t measurement_id = 0;
  std::int64_t session_id = 0;
  std::string op, device, problem, template_name, config, compiled_in, target, source_hash;
  bool is_base = false;
  bool is_current = false;
  std::string verdict, reason, caches;
  std::optional<double> median_us, min_us, spread, max_error, compile_ms;
  std::optional<std::int64_t> registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes;
  std::string toolchain, driver, measured_at;
};

struct WinnerRow {
  DeviceRow device{};
  ProblemRow problem{};
  TemplateRow template_{};
  VariantRow variant{};
  std::int64_t device_id = 0, problem_id = 0, variant_id = 0, measurement_id = 0;
  std::int64_t alignment_bytes = 0;
  std::string caches{};  // with which all times here were measured
  double median_us = 0;
  std::optional<double> spread{};
  std::optional<double> base_us, worst_us;  // only with Load::report
  std::string newest_verdict{};             // not ok: failed when last measured, do not dispatch it
  std::string toolchain, driver, measured_at, since;
  std::optional<BinaryRow> binary{};  // only with Load::dispatch, and where there is one
};

struct SetWinner {
  bool taken = false;  // the winner's row is new or has changed
  std::string why{};   // a sentence
};

struct SessionSummary {
  std::int64_t id = 0;
  std::string state, started_at, ended_at, device, command, strategy;
  std::int64_t measurements = 0, ok = 0, problems = 0;
};

struct StoreStatus {
  std::filesystem::path path{};
  std::uint64_t size_bytes = 0;  // with the write-ahead log
  int schema_version = 0;
  std::string journal_mode{};
  std::string check{};                                           // "ok", or what is damaged, a line each
  std::vector<std::pair<std::string, std::int64_t>> rows{};      // a table each
  std::vector<std::pair<std::string, std::int64_t>> verdicts{};  // of current measurements; "ok, cold caches"
  std::optional<SessionSummary> newest_session{};
  std::vector<std::string> hints{};  // sentences
};

// A variant whose identity was the hash of its whole text, with one problem that it was measured on, and
// where.
struct OldVariant {
  std::int64_t id = 0;
  std::string op{}, template_name{}, target{}, config{}, problem{};
  std::string text_hash{};
  DeviceRow device{};
};
struct NewIdentity {
  std::int64_t variant_id = 0;
  std::string source_hash{}, body_hash{};
};

struct MergeReport {
  std::int64_t sessions = 0, measurements = 0;  // that were new here
  std::int64_t winners_taken = 0, winners_kept = 0;
  std::int64_t other_caches = 0;  // of these, of problems that were tuned here with other caches
};

namespace sqlite {
class Database;
}

class Store {
 public:
  enum class Mode {
    read_only,
    read_write,  // the file must exist
    create,      // made, with its folder, where missing
  };
  struct Migration {
    // Lifts the tables by one version, in a transaction; foreign keys are checked after it. Views hold no
    // data: they are made anew from schema.sql.
    const char* sql;
  };
  struct Options {
    int busy_timeout_ms = 5000;
    std::int64_t max_pages = 0;             // of 4096 bytes; 0: as the disk allows
    std::span<const Migration> migrations;  // [i] lifts version i+1 to i+2
    // Translates identities that an older version wrote (db/old_identity.h). Without it such rows keep them,
    // and match no kernel of today.
    std::function<std::vector<NewIdentity>(const std::vector<OldVariant>&)> identify = {};
    bool identify_winners_only = false;  // for a reader that needs no more
    Options();                           // the program's own migrations
  };

  static Store open(const std::filesystem::path& path, Mode mode, const Options& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();
  [[nodiscard]] const std::filesystem::path& path() const;

  // Get or create.
  std::int64_t id_of(const DeviceRow&);
  std::int64_t id_of(const TemplateRow&);
  std::int64_t id_of(const VariantRow&);
  std::int64_t id_of(const ProblemRow&);

  // A session that was killed is marked interrupted when the next one begins.
  std::int64_t begin_session(const SessionRow&);
  enum class End { finished, interrupted };
  void end_session(std::int64_t session_id, End);

  // On the disk when it returns: a kill or a power failure at any moment loses only what is in flight.
  std::int64_t record(const MeasurementRow&);
  // The newest verdict of each variant, so that the same command continues where it stopped. An `ok` is known
  // for the caches that it was measured with, a failure for both.
  [[nodiscard]] std::map<SourceKey, KnownVerdict> known(std::int64_t device_id, std::int64_t problem_id,
                                                        std::string_view caches) const;

  // What was ok on the problem with these caches, the fastest first, whatever the body and the toolchain
  // were.
  struct Tried {
    std::string template_name, config;
  };
  [[nodiscard]] std::vector<Tried> fastest(std::int64_t device_id, std::int64_t problem_id,
                                           std::string_view caches, std::int64_t limit) const;

  // Takes the measurement's variant where there is no winner yet, where it is faster than the winner when
  // that was last ok, is the winner measured again, or where the winner is stale: named so here, from another
  // body of the same template, since found to give wrong results, or measured earlier and with other caches.
  // Never takes a measurement that is not ok, and compares no times that were measured with different caches:
  // all winners of a problem on a device have the same, so that one with others replaces all.
  SetWinner set_winner(std::int64_t measurement_id, std::int64_t alignment_bytes,
                       bool winner_is_stale = false);

  // For one that is stale and that nothing replaced; its measurements stay.
  void drop_winner(std::int64_t device_id, std::int64_t problem_id, std::int64_t alignment_bytes);

  // A binary of a replaced winner goes with it.
  void put_binary(const BinaryRow&);
  [[nodiscard]] std::optional<BinaryRow> binary(const SourceKey&) const;

  [[nodiscard]] std::vector<ResultRow> results(const QueryFilter& = {}) const;  // fastest first in a problem
  enum class Load {
    report,    // with base_us and worst_us
    dispatch,  // with binaries: all that dispatch needs, in one consistent read
    tuning,    // with neither
  };
  [[nodiscard]] std::vector<WinnerRow> winners(const QueryFilter& = {}, Load = Load::report) const;
  [[nodiscard]] std::vector<SessionSummary> sessions(std::int64_t limit = 0) const;  // newest first
  [[nodiscard]] StoreStatus status() const;

  // The database as SQL, ordered and the same for the same content; `sqlite3 new.db < text` reads it too.
  // A session that runs is written as interrupted: the text is where it was cut.
  enum class Blobs { omit, include };
  void write_text(std::ostream&, Blobs = Blobs::omit) const;
  // Both merge into what is here, may be repeated, and leave their source as it is. They read it into memory
  // first.
  MergeReport read_text(std::istream&);
  MergeReport merge_from(const std::filesystem::path& other);

 private:
  Store(std::unique_ptr<sqlite::Database>, const Options&);
  void migrate(sqlite::Database&) const;
  void carry_over(sqlite::Database&) const;
  MergeReport merge(sqlite::Database source);
  void drop_binary(std::int64_t variant_id);  // unless a winner needs it
  SetWinner choose(std::int64_t measurement_id, std::int64_t alignment_bytes, bool winner_is_stale,
                   std::string_view since);

  std::unique_ptr<sqlite::Database> database_;
  Options options_;
};

}  // namespace tunesmith
