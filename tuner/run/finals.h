// SPDX-License-Identifier: Apache-2.0
// The finals of one problem as a state machine: the fastest of the search and the winners of earlier runs are
// loaded and measured again in rounds (race.h), then checked against other inputs, and winners are chosen. It
// says what to ask the device next and what to write at the end; it starts no process and opens no database.
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

/// What the finals decided, in the order in which it is written.
struct Decision {
  /// Winners of earlier runs that were measured again.
  struct Confirmation {
    TrialId trial_id;
    std::int64_t alignment_bytes;  ///< of the row in the database
    bool other_kind;               ///< it won with other caches, launches or by another objective
    bool operator==(const Confirmation&) const = default;
  };
  struct Winner {
    TrialId trial_id;
    std::int64_t alignment_bytes;
    bool replaces_stale;  ///< the row in its place is stale, so a slower variant replaces it too
    bool operator==(const Winner&) const = default;
  };
  /// What ran beside a winner, and itself.
  struct Finalist {
    TrialId winner, trial_id;
    Interval ratio;  ///< of its time, or what the objective asks for, to the winner's; high may be infinite
    bool tied;       ///< it could not be told from the best
  };
  std::vector<Confirmation> confirmed;
  std::vector<Winner> winners;  ///< the fastest, then, if that needs alignment, the fastest that does not
  std::vector<std::int64_t> dropped;  ///< alignments of stale rows that no winner of this run replaces
  bool base = false;                  ///< the base came through; it is the first trial
  std::vector<Finalist> finalists;    ///< of all winners; of each the best first
};

class Finals {
 public:
  struct Setup {
    const Policy& policy;
    std::int64_t element_bytes;       ///< alignment of one element: what every pointer has
    std::vector<WinnerRow> previous;  ///< the problem's winners in the database
    /// The hashes of the library's own winners of the problem: what a new winner must beat, or be.
    std::vector<std::string> built_in{};
    Conditions conditions = {};
    bool energy = false;            ///< the device may tell what a launch uses
    std::function<double()> now_s;  ///< of any clock
    /// The variant of such a row; nothing where it is not legal any more.
    std::function<std::optional<RenderedVariant>(const WinnerRow&)> render;
    Record record;
  };
  /// Chooses the finalists: the base, the fastest, those that are built in, and the winners of earlier runs
  /// that are not stale.
  Finals(Setup setup, Findings& findings);

  const std::vector<TrialId>& finalists() const { return trial_ids_; }
  std::vector<TrialId> uncompiled() const;  ///< known from an earlier run, or dropped as too slow to win
  void compiled(CompileResult result);

  /// The next question to the device, until there is none. Finalists without a binary are out from the first
  /// one on.
  struct Question {
    TrialId trial_id;
    bool check = false;
    int samples = 0;            ///< 0: check only
    bool other_inputs = false;  ///< than those of the search; all questions after the first such one are
    bool energy = false;        ///< also what a launch uses
    bool operator==(const Question&) const = default;
  };
  std::optional<Question> next();
  void answered(MeasureReply reply);

  /// How far the questions of this kind are, after an answer; of the rounds, how many are done of those there
  /// may be.
  std::int64_t done() const { return done_; }
  std::int64_t total() const { return total_; }
  /// Of the rounds: finalists that are measured in this one, and the best so far.
  std::size_t running() const { return round_.size(); }
  std::optional<Interval> best_us() const;

  /// When there are no more questions.
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
  std::vector<std::size_t> round_;  // those measured in it
  std::size_t in_round_ = 0;        // so many of them have been
  std::map<TrialId, std::vector<double>> samples_us_;
  std::vector<TrialId> energy_left_;  // the next one last
  std::vector<TrialId> passed_;       // the second check
  std::optional<Question> asked_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace tunesmith
