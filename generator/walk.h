// SPDX-License-Identifier: Apache-2.0
// The depth-first walk over a space's configs; only space.cpp and groups.cpp use it. A rule that has read an
// axis which is not chosen yet waits for that axis; a rule that has not is decided for the whole subtree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "generator/space.h"

namespace tunesmith {

/// An object runs one walk.
class Space::Walk {
 public:
  using Visit = std::function<bool(const Config&)>;
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  Walk(const Space& space, Subset subset);
  /// Walks only these axes (one bit each) under rules that should read no others; the other axes stay
  /// unchosen. If a rule reads another axis all the same, the walk ends and outside() returns that axis.
  Walk(const Space& space, std::uint32_t axes, std::vector<const Rule*> rules);

  /// Restricts the walk to configs that agree with these values; their axes exist.
  void restrict(const Values& given);

  /// Ends the walk after it has tried this many values of axes.
  void limit(std::uint64_t steps) { steps_left_ = steps; }

  /// Calls `visit` with every config until it returns false.
  void each(const Visit& visit) { run(visit); }

  /// Counts the configs, rounded beyond 2^53; a subtree that no rule can prune is counted at once. If the
  /// limit ended the walk, counts the configs passed so far.
  double count() {
    passes_by_ = true;
    run({});
    return counted_;
  }

  /// Calls `visit` with the config at each of these places of the walk, and with the index of the place in
  /// `places`. Passes by whole subtrees as count() does.
  void pick(std::span<const std::uint64_t> places,
            const std::function<void(const Config&, std::size_t)>& visit);

  /// By axis, for walked axes: the indices of the values that restrict() left.
  const std::vector<std::vector<std::uint16_t>>& indices() const { return indices_; }
  std::uint64_t steps_left() const { return steps_left_; }
  bool was_limited() const { return steps_left_ == 0; }
  std::uint32_t outside() const { return outside_; }

 private:
  void run(const Visit& visit);
  bool below(std::size_t depth, const Visit& visit);
  bool pass_by(std::size_t depth, const Visit& visit);
  bool decide(const Rule* rule);
  void forget_postponed(std::size_t since);

  const std::vector<Axis>& axes_;
  std::vector<std::size_t> order_;  // the axes that are walked
  std::vector<const Rule*> rules_;
  std::vector<std::vector<const Rule*>> waiting_;  // the rules by the axis that must be chosen next
  std::vector<std::size_t> postponed_;             // the axes to which rules were postponed, in order
  std::vector<std::vector<std::uint16_t>> indices_;
  std::size_t pending_ = 0;
  bool passes_by_ = false;
  std::uint64_t passed_ = 0;
  double counted_ = 0;  // the same as a double, which does not overflow
  std::uint64_t steps_left_ = no_limit;
  std::uint32_t walked_ = Config::all_axes;
  std::uint32_t outside_ = 0;
  std::span<const std::uint64_t> places_;  // the places that are still to come
  Config config_;
};

}  // namespace tunesmith
