// SPDX-License-Identifier: Apache-2.0
// Ranks the known variants for a problem by their expected times: a pure ranking of candidates for dispatch.
// Knows no files, binaries or devices.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "choose/candidate.h"
#include "choose/nearest.h"
#include "choose/time_model.h"
#include "generator/op.h"
#include "generator/same_model.h"
#include "tunesmith/match.h"

namespace tunesmith {

struct Choice {
  std::size_t candidate = 0;
  Match match = Match::base;
  /// The expected loss against the best that tuning would find, as a fraction of its time; for variants
  /// measured on this problem, the loss against the best measured one.
  double expected_loss = 0;
  double expected_us = 0;  ///< time of one launch on this model of device; 0: not known
  double cautious =
      0;  ///< the rank of choices: the logarithm of 1 + loss, larger if the estimate is uncertain
  double likeness = 0;  ///< likeness of the problem to the one that it won; 1: the same
  /// It was measured on another model of device that is so similar that its time is compared with those of
  /// this one.
  bool is_linked = false;
  Config config;  ///< the candidate's config or, if that is not legal here, the nearest with one axis changed
  std::string changed;       ///< the changed axes: "OUT_X=4"; empty if none
  bool is_adapted = false;   ///< its times were measured with the config changed in the same way
  bool is_complete = false;  ///< complete() has made its config
  bool must_compile = false;
  std::int64_t alignment_bytes = 1;
};

struct Refusal {
  std::size_t candidate = 0;
  std::string why;  ///< a sentence
};

struct Selection {
  std::vector<Choice> choices;  ///< best first
  std::vector<Refusal> refusals;
};

/// Ranks the candidates of one op for one device. It is made once and serves any problem.
class Chooser {
 public:
  /// `candidates` must outlive the Chooser.
  Chooser(const Op& op, const DeviceFacts& device, std::span<const Candidate> candidates);

  /// Returns all candidates of the op without a fault that were measured on a problem of this one's kind, the
  /// least expected time first. Those measured on
  /// another model of device come last, except portfolio variants of templates that this device's times do
  /// not cover. Legality is not checked: configs are empty.
  std::vector<Choice> rank(const Problem& problem) const;

  /// Completes a choice, or returns why it cannot be used: its template or config is not legal for the
  /// problem or the device, it keeps state between its steps, or it would have to be compiled and must not
  /// be.
  std::optional<std::string> complete(const Problem& problem, bool may_compile, Choice& choice) const;

  /// Returns the problems on which the choice's variant was measured, the most similar to this one first.
  std::vector<TimeModel::MeasuredTime> nearest(const Problem& problem, const Choice& choice,
                                               std::size_t most) const;

  /// Calls rank(), and complete() for each choice; a choice with a changed axis gets a worse rank.
  Selection select(const Problem& problem, bool may_compile) const;

 private:
  struct Group {  // candidates whose times may be compared
    TimeModel model;
    bool same_device = false;
    double penalty = 0;  // added if the times come from another device
    struct Member {
      std::size_t candidate, variant;
      std::optional<std::size_t> row;  // the model's row of the problem that it won
    };
    std::vector<Member> members = {};
    struct Link {
      std::size_t own;                       // index of the group of this device under the same conditions
      std::set<std::string> templates = {};  // the templates that this group knows
    };
    std::optional<Link> link = {};  // set for another device whose times tell something about this one
  };

  friend class Choices;
  struct Known {  // what several choices for one problem need, each made once
    std::deque<std::pair<const Template*, Space>> spaces = {};
    std::optional<std::optional<UntunedVariant>> guess = {};  // first_guess()
    std::vector<TimeModel::Estimates> estimates = {};         // by group
  };
  std::vector<Choice> rank(const Problem& problem, std::vector<TimeModel::Estimates>& estimates) const;
  static bool depends_on_launch(const Group& group, const Group::Member& member);
  const Space& space_of(const Template& tmpl, const Problem& problem, Known& known) const;
  std::optional<Config> config_of(const Candidate& candidate, const Template& tmpl, const Problem& problem,
                                  const Space& space, Known& known) const;
  std::optional<std::string> complete(const Problem& problem, bool may_compile, Choice& choice,
                                      Known& known) const;
  void refine(const Problem& problem, const Work& work, Choice& choice, const Known& known) const;
  std::optional<std::string> finish(const Problem& problem, bool may_compile, Choice& choice,
                                    Known& known) const;
  void link(Group& elsewhere) const;
  void add_group(const Candidate& first, const std::vector<std::size_t>& members, const Weights* weights);
  bool is_before(const Choice& a, const Choice& b) const;
  bool is_known(const Choice& choice) const;

  const Op* op_;
  DeviceFacts device_;
  double unproven_ = 0;  // a rate of the device
  std::span<const Candidate> candidates_;
  std::deque<Group> groups_;
  std::vector<std::size_t> unusable_;      // candidates with a fault, or of another kind of device
  std::unordered_set<std::string> known_;  // template and config of the candidates without a fault
};

/// The choices of select(), each completed only when it is reached: mostly the first is enough.
class Choices {
 public:
  Choices(const Chooser& chooser, const Problem& problem, bool may_compile)
      : chooser_(chooser),
        problem_(problem),
        may_compile_(may_compile),
        choices_(chooser.rank(problem, known_.estimates)) {}

  /// Returns the i-th choice, from the best (0) on; null: there are no more. The pointer is valid until the
  /// next call.
  const Choice* at(std::size_t i);
  /// Returns the first usable choice from `i` on that `wanted` accepts before it is completed and after;
  /// choices that it rejects before are not completed. Sets `i` to its place. Null: there is none.
  const Choice* find(std::size_t& i, const std::function<bool(const Choice&)>& wanted);
  const Candidate& candidate_of(const Choice& choice) const { return chooser_.candidates_[choice.candidate]; }
  std::vector<Refusal> refusals;  ///< the refusals so far

 private:
  const Chooser& chooser_;
  const Problem& problem_;
  bool may_compile_;
  Chooser::Known known_;  // stands before the choices, which are made with it
  std::vector<Choice> choices_;
  std::size_t usable_ = 0;  // the number of choices at the start that are in their final places
};

}  // namespace tunesmith
