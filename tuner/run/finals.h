// SPDX-License-Identifier: Apache-2.0
// The finals of one problem as a state machine: the fastest of the search and the winners of earlier runs are
// loaded and measured again in rounds (race.h), then checked against other inputs, and winners are chosen. It
// decides the next question to the device and the final result; it starts no process and opens no database.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/check/compilers.h"
#include "tuner/run/findings.h"
#include "tuner/search/policy.h"
#include "tuner/search/race.h"

namespace tunesmith {

/// The result of the finals, in the order in which it is written.
struct Decision {
  /// A winner of an earlier run that was measured again.
  struct Confirmation {
    TrialId trial_id;
    std::int64_t alignment_bytes;  ///< alignment in the row of the database
    bool other_kind;               ///< it won with other caches, launches or by another objective
    bool operator==(const Confirmation&) const = default;
  };
  struct Winner {
    TrialId trial_id;
    std::int64_t alignment_bytes;
    bool replaces_stale;  ///< the row in its place is stale, so a slower variant replaces it too
    bool operator==(const Winner&) const = default;
  };
  /// A variant that was measured in a winner's race, or the winner itself.
  struct Finalist {
    TrialId winner, trial_id;
    Interval ratio;  ///< of its time, or of the objective's value, to the winner's; high may be infinite
    bool tied;       ///< it could not be distinguished from the best
  };
  std::vector<Confirmation> confirmed;
  std::vector<Winner> winners;        ///< the fastest, then, if it needs alignment, the fastest that does not
  std::vector<std::int64_t> dropped;  ///< alignments of stale rows that no winner of this run replaces
  bool base = false;                  ///< the base passed; it is the first trial
  std::vector<Finalist> finalists;    ///< finalists of all winners; of each the best first
};

class Finals {
 public:
  struct Setup {
    const Policy& policy;
    std::int64_t element_bytes;       ///< alignment of one element, which every pointer has
    std::vector<WinnerRow> previous;  ///< the problem's winners in the database
    /// The hashes of the library's own winners of the problem: a new winner must beat them, or be one of
    /// them.
    std::vector<std::string> built_in{};
    Conditions conditions = {};
    bool energy = false;            ///< the device may measure the energy of a launch
    std::function<double()> now_s;  ///< any clock
    /// Renders the variant of such a row; nothing if it is not legal any more.
    std::function<std::optional<RenderedVariant>(const WinnerRow&)> render;
    Record record;
  };
  /// Chooses the finalists: the base, the fastest variants, the built-in winners, and the winners of earlier
  /// runs that are not stale.
  Finals(Setup setup, Findings& findings);

  const std::vector<TrialId>& finalists() const { return trial_ids_; }
  std::vector<TrialId> uncompiled() const;  ///< known from an earlier run, or dropped as too slow to win
  void compiled(CompileResult result);

  /// The next question to the device, until there is none. Finalists without a binary are dropped from the
  /// first question on.
  struct Question {
    TrialId trial_id;
    bool check = false;
    int samples = 0;            ///< 0: check only
    bool other_inputs = false;  ///< other inputs than in the search; so are those of all later questions
    bool energy = false;        ///< also measure the energy of a launch
    bool operator==(const Question&) const = default;
  };
  std::optional<Question> next();
  void answered(MeasureReply reply);

  /// The progress in questions of the present kind, after an answer: for rounds, those that are done, of
  /// those there may be.
  std::int64_t done() const { return done_; }
  std::int64_t total() const { return total_; }
  /// In the rounds: the number of finalists that are measured in this round, and the best time so far.
  std::size_t running() const { return round_.size(); }
  std::optional<Interval> best_us() const;

  /// Call it when there are no more questions.
  Decision decide() const;

 private:
  enum class Stage { before, rounds, energy, second_check };
  void add_previous_winners();
  void begin_rounds();
  void begin_round();
  void end_rounds();
  void take_time(TrialId trial_id, MeasureReply reply);
  void take_energy(TrialId trial_id, const MeasureReply& reply);
  void record();
  std::optional<Question> next_second_check();
  void fail(TrialId trial_id, const MeasureReply& reply);
  std::vector<Standing> standings(std::int64_t most_alignment_bytes) const;
  std::optional<std::size_t> winner(const std::vector<Standing>& standings) const;
  std::vector<TrialId> winners() const;
  Interval ratio(const Standing& who, const Standing& winner) const;
  std::vector<std::int64_t> alignments() const { return {0, setup_.element_bytes}; }
  std::optional<TrialId> finalist_of(const WinnerRow& row) const;

  Setup setup_;
  Findings& findings_;
  std::vector<TrialId> trial_ids_;  // the finalists that are still in
  Stage stage_ = Stage::before;
  std::vector<TrialId> entrants_;  // by their position in the race
  std::vector<Contender> contenders_;
  std::optional<Race> race_;
  double began_s_ = 0;
  std::vector<std::size_t> round_;  // finalists measured in it
  std::size_t in_round_ = 0;        // how many of them were measured
  std::map<TrialId, std::vector<double>> samples_us_;
  std::vector<TrialId> energy_left_;  // the next one last
  std::vector<TrialId> passed_;       // the second check
  std::optional<Question> asked_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace tunesmith
