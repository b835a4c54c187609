// SPDX-License-Identifier: Apache-2.0
// Which known variants should serve a problem, by the time that is expected of them: a pure ranking of
// candidates. Knows no files, binaries or devices.
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
#include "choose/time_model.h"
#include "generator/op.h"
#include "generator/same_model.h"
#include "tunesmith/match.h"

namespace tunesmith {

struct Choice {
  std::size_t candidate = 0;
  Match match = Match::base;
  /// What is expected to be lost against the best that tuning would find, as a part of its time; of what was
  /// measured on this problem, against the best of that.
  double expected_loss = 0;
  double expected_us = 0;  ///< of one launch on this model of device; 0: not known
  double cautious = 0;  ///< by which choices are ranked: the logarithm of 1 + loss, more where it is unsure
  double likeness = 0;  ///< of the problem to the one that it won; 1: the same
  /// Measured on another model of device, which is so like this one that its time is set beside those of
  /// this.
  bool is_linked = false;
  Config config;  ///< the candidate's, or where that is not legal here, the nearest with one axis changed
  std::string changed;  ///< that axis: "OUT_X=4"; empty where none is
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

/// The candidates of one op, for one device: what the ranking of any problem needs, made once.
class Chooser {
 public:
  /// `candidates` must outlive it.
  Chooser(const Op& op, const DeviceFacts& device, std::span<const Candidate> candidates);

  /// All candidates of the op without a fault, the least expected time first; those that were measured on
  /// another model of device come last, but for portfolio variants of templates that this device's times do
  /// not know. Legality is not looked at: configs are empty.
  std::vector<Choice> rank(const Problem& problem) const;

  /// Completes a choice, or says why it cannot be used: its template or config is not legal for the problem
  /// or the device, it keeps state between its steps, or it has to be compiled and may not be.
  std::optional<std::string> complete(const Problem& problem, bool may_compile, Choice& choice) const;

  /// Where the choice's variant was measured, the problems that are most like this one first.
  std::vector<TimeModel::MeasuredTime> nearest(const Problem& problem, const Choice& choice,
                                               std::size_t most) const;

  /// rank() and complete() of all; what needed a changed axis loses some of its promise.
  Selection select(const Problem& problem, bool may_compile) const;

 private:
  struct Group {  // what may be compared by time
    TimeModel model;
    bool same_device = false;
    double penalty = 0;  // for another device
    struct Member {
      std::size_t candidate, variant;
      std::optional<std::size_t> row;  // of the problem that it won
    };
    std::vector<Member> members = {};
    struct Link {
      std::size_t own;                       // group: of this device, under the same conditions
      std::set<std::string> templates = {};  // that it knows
    };
    std::optional<Link> link = {};  // of another device, whose times say something of this one's
  };

  friend class Choices;
  using Spaces = std::deque<std::pair<const Template*, Space>>;  // of one problem, made once each
  const Space& space_of(const Template& tmpl, const Problem& problem, Spaces& spaces) const;
  std::optional<std::string> complete(const Problem& problem, bool may_compile, Choice& choice,
                                      Spaces& spaces) const;
  std::optional<std::string> finish(const Problem& problem, bool may_compile, Choice& choice,
                                    Spaces& spaces) const;
  void link(Group& elsewhere) const;
  void add_group(const Candidate& first, const std::vector<std::size_t>& members, const Weights* weights);
  bool is_before(const Choice& a, const Choice& b) const;
  bool is_known(const Choice& choice) const;

  const Op* op_;
  DeviceFacts device_;
  std::span<const Candidate> candidates_;
  std::deque<Group> groups_;
  std::vector<std::size_t> unusable_;      // with a fault, or of another kind of device
  std::unordered_set<std::string> known_;  // template and config of those without a fault
};

/// What select() chooses, each completed only when it is reached: mostly the first is enough.
class Choices {
 public:
  Choices(const Chooser& chooser, const Problem& problem, bool may_compile)
      : chooser_(chooser), problem_(problem), may_compile_(may_compile), choices_(chooser.rank(problem)) {}

  /// The best is 0; null: there are no more. The pointer is good until the next call.
  const Choice* at(std::size_t i);
  /// The first usable one from `i` on for which `wanted` says yes before it is completed and after; what it
  /// passes over is not completed. `i` is then its place. Null: there is none.
  const Choice* find(std::size_t& i, const std::function<bool(const Choice&)>& wanted);
  const Candidate& candidate_of(const Choice& choice) const { return chooser_.candidates_[choice.candidate]; }
  std::vector<Refusal> refusals;  ///< so far

 private:
  const Chooser& chooser_;
  const Problem& problem_;
  bool may_compile_;
  std::vector<Choice> choices_;
  std::size_t usable_ = 0;  // the first so many are in their places
  Chooser::Spaces spaces_;
};

/// What is launched where no candidate can be used: the default config of a template that is sensible without
/// measurements and serves the problem on the device. In the op's order: a later one is for where the earlier
/// are not there. Nothing: only the base is left.
struct UntunedVariant {
  const Template* tmpl;
  Config config;
};
std::vector<UntunedVariant> untuned(const Op& op, const Problem& problem, const DeviceFacts& device);

}  // namespace tunesmith
