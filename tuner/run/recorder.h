// SPDX-License-Identifier: Apache-2.0
// Writes variants and verdicts as rows of the store, within one session on one device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store.h"
#include "tuner/check/messages.h"
#include "tuner/check/rendered_variant.h"

namespace tunesmith {

class Recorder {
 public:
  /// The facts of a session; toolchain, driver and caches go into every measurement.
  struct Facts {
    SessionRow session = {};  ///< facts that the recorder does not know itself
    DeviceFacts device = {};
    Conditions conditions = {};
  };
  Recorder(Store& store, const Op& op, Facts facts);
  ~Recorder();  ///< marks an unfinished session as interrupted
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  void finish();

  /// The verdicts of earlier runs by source hash: only those of the present toolchain, and times with the
  /// present caches.
  std::map<std::string, KnownVerdict> known(const Problem& problem);
  /// The fastest configs of earlier runs on each of the op's problems, `limit` of each, with the present
  /// caches; their templates may have changed since.
  std::vector<Store::Fast> fastest(std::int64_t limit) const;
  std::int64_t device() const { return device_; }
  /// The op's problems that were tried on this device with the present caches and launches.
  std::vector<Store::TriedProblem> tried() const;
  /// The verdicts of this run's other devices on the problem since the last call, or since this session
  /// began.
  std::vector<Store::Verdict> of_others(const Problem& problem);
  /// The winners of all problems of the op on this device.
  std::vector<WinnerRow> winners() const;

  /// The cost of a verdict, and its place in the run.
  struct Cost {
    std::string stage{};              ///< search, finals, table
    double wall_s = 0;                ///< of loading, checking and timing
    std::int64_t space_variants = 0;  ///< of a base
  };
  /// Records a verdict. It is on the disk when this returns the measurement's id. `loads_us` as in Trial.
  std::int64_t record(const Problem& problem, const RenderedVariant& variant, const MeasureReply& reply,
                      std::optional<double> compile_ms, const std::vector<double>& loads_us,
                      const Cost& cost);
  SetWinner set_winner(std::int64_t measurement, std::int64_t alignment_bytes, bool winner_is_stale,
                       Store::Evidence evidence = Store::Evidence::by_finals);
  void record_finalists(std::int64_t winner, const std::vector<FinalistRow>& finalists);
  /// Drops a stale winner that no variant of this run replaces.
  void drop_winner(const Problem& problem, std::int64_t alignment_bytes);
  /// Stores the table's text and factors.
  void put_anchor_table(AnchorTableRow row);
  void put_binary(const RenderedVariant& variant, const std::string& binary);

 private:
  std::int64_t id_of(const RenderedVariant& variant);

  Store& store_;
  const Op& op_;
  Facts facts_;
  std::int64_t device_ = 0;
  std::int64_t session_ = 0;
  bool finished_ = false;
  std::int64_t heard_ = 0;                         // up to this measurement of others
  std::map<std::string, std::int64_t> templates_;  // ids by name
};

}  // namespace tunesmith
