// The store: which variants were tried, with which verdict, and which one dispatch should use. It is the only
// interface to the database. Use a Store from one thread at a time, and never carry an open one across a
// fork.
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

// The database cannot be used as asked; what() is a whole sentence. Everything recorded before is safe.
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
    create,      // a missing file is created, and its folder too
  };
  struct Migration {
    // Migrates the tables to the next version, in a transaction; foreign keys are checked before it ends.
    // Views hold no data: they are created again from schema.sql.
    const char* sql;
  };
  struct Options {
    int busy_timeout_ms = 5000;             // how long to wait for another writer
    std::int64_t max_pages = 0;             // of 4096 bytes; 0: no limit but the disk
    std::span<const Migration> migrations;  // [i] migrates from version i + 1 to i + 2
    Options();                              // the program's own migrations
  };

  // A file of an older schema is migrated; with read_only a copy in memory is.
  static Store open(const std::filesystem::path& path, Mode mode, const Options& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();
  [[nodiscard]] const std::filesystem::path& path() const;

  // Finds the row, or creates it.
  std::int64_t id_of(const DeviceRow&);
  std::int64_t id_of(const TemplateRow&);
  std::int64_t id_of(const VariantRow&);
  std::int64_t id_of(const ProblemRow&);

  // The largest generation in the file. Who begins a session later follows all that the file has.
  [[nodiscard]] std::int64_t generation() const;
  // Marks sessions whose process was killed as interrupted.
  std::int64_t begin_session(const SessionRow&);
  enum class End { finished, interrupted };
  void end_session(std::int64_t session_id, End);

  // The measurement is on the disk when this returns: a kill or a power failure loses only what is in flight.
  std::int64_t record(const MeasurementRow&);
  // All that `write` records is on the disk when this returns, or nothing of it.
  void in_one_commit(const std::function<void()>& write);
  // The newest verdict on each variant, so that a command that is run again continues where it stopped. An
  // `ok` counts only for the caches and launches that it was measured with, a failure for all.
  [[nodiscard]] std::map<SourceKey, KnownVerdict> known(std::int64_t device_id, std::int64_t problem_id,
                                                        const Conditions& conditions) const;

  // Of every problem of the op and every device the fastest configs with these caches and launches, so many
  // each, by device and problem, the fastest first. What an older body measured there does not count.
  struct Fast {
    std::int64_t device_id = 0;
    std::string problem, template_name, config;
  };
  // What the kernel's newest measurement of each problem on a device of that name said, the newest first.
  struct Newest {
    std::string verdict, reason, problem;
  };
  [[nodiscard]] std::vector<Newest> newest_of(std::string_view target, std::string_view source_hash,
                                              std::string_view device) const;

  [[nodiscard]] std::vector<Fast> fastest_of(std::string_view op, const Conditions& conditions,
                                             std::int64_t limit) const;

  // The op's problems with a time on the device of these caches and launches, those that were tried first
  // first. What an older body measured there does not count.
  struct TriedProblem {
    std::string problem;
    bool has_winner = false;  // that finals named
    bool is_anchor = false;   // it was measured for a table
  };
  [[nodiscard]] std::vector<TriedProblem> tried(std::string_view op, std::int64_t device_id,
                                                const Conditions& conditions) const;

  // What other sessions have recorded of a problem on a device behind the measurement `after`, in that order.
  struct Verdict {
    std::int64_t id = 0;
    std::string template_name, config, verdict;
    double median_us = 0;  // where it is ok
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
  // no sound one that finals named, and any of these replaces it.
  enum class Evidence { by_finals, provisionally };
  SetWinner set_winner(std::int64_t measurement_id, std::int64_t alignment_bytes,
                       bool winner_is_stale = false, Objective objective = Objective::time,
                       Evidence evidence = Evidence::by_finals);

  // For a stale winner that nothing has replaced, by the finals of this session. Its measurements stay.
  void drop_winner(std::int64_t session_id, std::int64_t problem_id, std::int64_t alignment_bytes);

  // What the finals saw beside the winner with this measurement, itself included. Once for each winner.
  void record_finalists(std::int64_t winner_id, const std::vector<FinalistRow>&);
  [[nodiscard]] std::vector<FinalistRow> finalists(std::int64_t winner_id) const;  // the fastest first

  // The newest time of each config of the op on the device, by problem, then template: of templates that
  // have these bodies; where none are given, those that were measured last.
  [[nodiscard]] std::vector<TimeRow> times_of(std::string_view op, std::int64_t device_id,
                                              const Conditions& conditions,
                                              const BodyHashes& bodies = {}) const;

  // Those whose name has the words in it, in upper or lower case, or whose target they are; empty: all.
  [[nodiscard]] std::vector<StoredDevice> devices(const std::string& words = {}) const;

  void put_anchor_table(const AnchorTableRow&);
  // The newest of each op, device, caches and launches that the filter's op and device let through.
  [[nodiscard]] std::vector<StoredAnchorTable> anchor_tables(const QueryFilter& = {}) const;

  // On the disk when it returns, all of it or nothing.
  void put_first_use(const FirstUseRow&);
  // Those on the op, device and problem that the filter lets through; without `history` those that count. By
  // problem, the newest first, then the fastest.
  [[nodiscard]] std::vector<StoredTrial> trials(const QueryFilter& = {}) const;

  // The binary of a winner is deleted when the winner is replaced.
  void put_binary(const BinaryRow&);
  [[nodiscard]] std::optional<BinaryRow> binary(const SourceKey&) const;

  [[nodiscard]] std::vector<ResultRow> results(const QueryFilter& = {}) const;  // fastest first per problem
  enum class Load {
    report,    // with base_us and worst_us
    dispatch,  // with binaries: all that dispatch needs, in one consistent read
    tuning,    // with neither
  };
  [[nodiscard]] std::vector<WinnerRow> winners(const QueryFilter& = {}, Load = Load::report) const;
  [[nodiscard]] std::vector<SessionSummary> sessions(std::int64_t limit = 0) const;  // newest first
  [[nodiscard]] StoreStatus status() const;

  // Those with verdicts that are not stale, by op (empty: all), for each problem and device.
  [[nodiscard]] std::vector<StoredKernel> kernels(const std::string& op = {}) const;
  // Records what was measured of these kernels of what they are now too: verdicts, choices and finalists of a
  // session are those of a new one, whose command is `command`, then the older one's. A verdict that the
  // kernel has by now is not replaced. All of it or, where it throws, nothing.
  CarryReport carry(const std::vector<CarriedKernel>&, const std::vector<CarriedTable>&,
                    const std::string& command);

  // Writes the database as SQL, in a fixed order: the same content gives the same text.
  // `sqlite3 new.db < text` reads it too. A session that is still running is written as interrupted.
  enum class Blobs { omit, include };
  void write_text(std::ostream&, Blobs = Blobs::omit) const;
  // All three add what is new to this database and leave their source unchanged; doing it again adds nothing,
  // and the order of several does not matter. Binaries are machine code, so they are taken only where asked
  // for.
  MergeReport merge(MergeSource, Blobs = Blobs::omit);
  MergeReport read_text(std::istream&, Blobs = Blobs::omit);
  MergeReport merge_from(const std::filesystem::path& other, Blobs = Blobs::omit);

 private:
  friend class MergeSource;
  Store(std::unique_ptr<sqlite::Database>, const Options&);
  void end_dead_sessions();  // marks those whose process was killed; within the caller's transaction
  std::unique_ptr<sqlite::Database> database_;
  Options options_;
};

// What another file or a text holds, in memory, migrated and checked: merging it does not fail by what it
// holds. Reading it takes bounded time and memory whatever it is; throws StoreError.
class MergeSource {
 public:
  static MergeSource file(const std::filesystem::path& path, const Store::Options& options = {});
  // SQL as write_text writes it, at most 1 GiB.
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
