// SPDX-License-Identifier: Apache-2.0
// The store of tried variants, their verdicts, and the winners for dispatch. It is the only interface to the
// database. Use a Store from one thread at a time, and never carry an open one across a fork.
#pragma once

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
#include <vector>

#include "db/rows.h"
#include "generator/conditions.h"

namespace tunesmith {

// Thrown if the database cannot be used as asked; what() is a whole sentence. Everything recorded before is
// safe.
struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// $TUNESMITH_DB, else $XDG_DATA_HOME/tunesmith/tunesmith.db, else ~/.local/share/tunesmith/tunesmith.db
std::filesystem::path default_database_path();

namespace sqlite {
class Database;
}

class MergeSource;

class Store {
 public:
  enum class Mode {
    read_only,
    read_write,  // the file must exist
    create,      // creates a missing file and its folder
  };
  struct Migration {
    // Migrates the tables to the next version, in a transaction; foreign keys are checked before it ends.
    // Views hold no data: they are created again from schema.sql.
    const char* sql;
  };
  struct Options {
    int busy_timeout_ms = 5000;             // the time to wait for another writer
    std::int64_t max_pages = 0;             // pages of 4096 bytes; 0: no limit but the disk
    std::span<const Migration> migrations;  // [i] migrates from version i + 1 to i + 2
    Options();                              // the program's own migrations
  };

  // Opens a file and migrates an older schema; with read_only it migrates a copy in memory.
  static Store open(const std::filesystem::path& path, Mode mode, const Options& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();
  [[nodiscard]] const std::filesystem::path& path() const;

  // Returns the id of the row, which is created if missing.
  std::int64_t id_of(const DeviceRow&);
  std::int64_t id_of(const TemplateRow&);
  std::int64_t id_of(const VariantRow&);
  std::int64_t id_of(const ProblemRow&);

  // The largest generation in the file. A session that begins later comes after all that the file has.
  [[nodiscard]] std::int64_t generation() const;
  // Begins a session, and marks sessions whose process was killed as interrupted.
  std::int64_t begin_session(const SessionRow&);
  enum class End { finished, interrupted };
  void end_session(std::int64_t session_id, End);

  // Records a measurement. It is on the disk when this returns: a kill or a power failure loses only what is
  // in flight.
  std::int64_t record(const MeasurementRow&);
  // Calls `write`. When this returns, all or nothing of what `write` records is on the disk.
  void in_one_commit(const std::function<void()>& write);
  // Returns the newest verdict on each variant, so that a command that is run again continues where it
  // stopped. An `ok` counts only for the caches and launches that it was measured with, a failure for all.
  [[nodiscard]] std::map<SourceKey, KnownVerdict> known(std::int64_t device_id, std::int64_t problem_id,
                                                        const Conditions& conditions) const;

  // A fast config. fastest_of() returns at most `limit` configs, the fastest first, for every problem of the
  // op and every device with these caches and launches, by device and problem. Measurements of older bodies
  // do not count.
  struct Fast {
    std::int64_t device_id = 0;
    std::string problem, template_name, config;
  };
  // The newest verdict on a kernel for a problem. newest_of() returns one per problem on a device of that
  // name, the newest first.
  struct Newest {
    std::string verdict, reason, problem;
  };
  [[nodiscard]] std::vector<Newest> newest_of(std::string_view target, std::string_view source_hash,
                                              std::string_view device) const;

  [[nodiscard]] std::vector<Fast> fastest_of(std::string_view op, const Conditions& conditions,
                                             std::int64_t limit) const;

  // A problem with a time. tried() returns the op's problems with a time on the device with these caches and
  // launches, in the order in which they were first tried. Measurements of older bodies do not count.
  struct TriedProblem {
    std::string problem;
    bool has_winner = false;  // finals named one
    bool is_anchor = false;   // it was measured for a timing table
  };
  [[nodiscard]] std::vector<TriedProblem> tried(std::string_view op, std::int64_t device_id,
                                                const Conditions& conditions) const;

  // A verdict of another session. verdicts_of_others() returns those on a problem and device that were
  // recorded after the measurement `after`, in that order.
  struct Verdict {
    std::int64_t id = 0;
    std::string template_name, config, verdict;
    double median_us = 0;  // set if the verdict is ok
  };
  [[nodiscard]] std::vector<Verdict> verdicts_of_others(std::int64_t session_id, std::int64_t device_id,
                                                        std::int64_t problem_id, const Conditions& conditions,
                                                        std::int64_t after) const;
  [[nodiscard]] std::int64_t newest_measurement() const;  // 0: none

  // Makes the measurement's variant the winner for pointers of this alignment if it is `ok` and
  // - there is no winner yet,
  // - it is better by the objective than the newest `ok` measurement of the winner,
  // - it is a newer measurement of the winner, or
  // - the winner is stale: the caller says so, it was made from an older body of the same template, it has
  //   since been found to give wrong results, or it was measured earlier and with other caches, launches or
  //   another objective.
  // All winners of a problem on a device have the same caches, launches and objective.
  // `provisionally`: the run was interrupted before finals. Such a winner counts only while the problem has
  // no sound winner that finals named; any such winner replaces it.
  enum class Evidence { by_finals, provisionally };
  SetWinner set_winner(std::int64_t measurement_id, std::int64_t alignment_bytes,
                       bool winner_is_stale = false, Objective objective = Objective::time,
                       Evidence evidence = Evidence::by_finals);

  // Drops a stale winner that nothing has replaced, by the finals of this session. Its measurements stay.
  void drop_winner(std::int64_t session_id, std::int64_t problem_id, std::int64_t alignment_bytes);

  // Records the finalists of the finals that named the winner with this measurement, itself included. Call it
  // once for each winner.
  void record_finalists(std::int64_t winner_id, const std::vector<FinalistRow>&);
  [[nodiscard]] std::vector<FinalistRow> finalists(std::int64_t winner_id) const;  // the fastest first

  // Returns the newest time of each config of the op on the device, by problem, then template. Only templates
  // with the given bodies count; without given bodies, the bodies that were measured last.
  [[nodiscard]] std::vector<TimeRow> times_of(std::string_view op, std::int64_t device_id,
                                              const Conditions& conditions,
                                              const BodyHashes& bodies = {}) const;

  // Returns the devices whose name contains the words, in upper or lower case, or whose target they are;
  // empty: all.
  [[nodiscard]] std::vector<StoredDevice> devices(const std::string& words = {}) const;

  void put_anchor_table(const AnchorTableRow&);
  // Returns the newest table of each op, device, caches and launches that match the filter's op and device.
  [[nodiscard]] std::vector<StoredAnchorTable> anchor_tables(const QueryFilter& = {}) const;

  // Records a first use. When this returns, all or nothing of it is on the disk.
  void put_first_use(const FirstUseRow&);
  // Returns the trials that match the filter's op, device and problem; without `history` only those that
  // count. Ordered by problem, the newest first, then the fastest.
  [[nodiscard]] std::vector<StoredTrial> trials(const QueryFilter& = {}) const;

  // Stores a winner's binary, which is deleted when the winner is replaced.
  void put_binary(const BinaryRow&);
  [[nodiscard]] std::optional<BinaryRow> binary(const SourceKey&) const;

  [[nodiscard]] std::vector<ResultRow> results(const QueryFilter& = {}) const;  // fastest first per problem
  enum class Load {
    report,    // with base_us and worst_us
    dispatch,  // with binaries: everything for dispatch, in one consistent read
    tuning,    // with neither
  };
  [[nodiscard]] std::vector<WinnerRow> winners(const QueryFilter& = {}, Load = Load::report) const;
  [[nodiscard]] std::vector<SessionSummary> sessions(std::int64_t limit = 0) const;  // newest first
  [[nodiscard]] StoreStatus status() const;

  // Returns the kernels with verdicts that are not stale, by op (empty: all), for each problem and device.
  [[nodiscard]] std::vector<StoredKernel> kernels(const std::string& op = {}) const;
  // Records the measurements of these kernels for their current texts too. Verdicts, choices and finalists of
  // a session are copied to a new session whose command is `command`, followed by the older one's. A verdict
  // that the new kernel already has is not replaced. Records all or, if it throws, nothing.
  CarryReport carry(const std::vector<CarriedKernel>&, const std::vector<CarriedTable>&,
                    const std::string& command);

  // Writes the database as SQL, in a fixed order: the same content gives the same text.
  // `sqlite3 new.db < text` reads it too. A session that is still running is written as interrupted.
  enum class Blobs { omit, include };
  void write_text(std::ostream&, Blobs = Blobs::omit) const;
  // All three add new rows to this database and leave their source unchanged. A second run adds nothing, and
  // the order of several sources does not matter. Binaries are machine code, so they are taken only on
  // request.
  MergeReport merge(MergeSource, Blobs = Blobs::omit);
  MergeReport read_text(std::istream&, Blobs = Blobs::omit);
  MergeReport merge_from(const std::filesystem::path& other, Blobs = Blobs::omit);

 private:
  friend class MergeSource;
  Store(std::unique_ptr<sqlite::Database>, const Options&);
  void end_dead_sessions();  // marks sessions whose process was killed; within the caller's transaction
  std::unique_ptr<sqlite::Database> database_;
  Options options_;
};

// The content of another file or a text, in memory, migrated and checked, so that its content cannot make a
// merge fail. Reading it takes bounded time and memory whatever it holds; throws StoreError.
class MergeSource {
 public:
  static MergeSource file(const std::filesystem::path& path, const Store::Options& options = {});
  // Reads SQL as written by write_text, at most 1 GiB.
  static MergeSource text(std::istream&, const Store::Options& options = {});
  MergeSource(MergeSource&&) noexcept;
  MergeSource& operator=(MergeSource&&) noexcept;
  ~MergeSource();

 private:
  friend class Store;
  MergeSource(sqlite::Database, const Store::Options&);
  std::unique_ptr<sqlite::Database> database_;
};

}  // namespace tunesmith
