// SPDX-License-Identifier: Apache-2.0
// The work on a problem as values, so that code asks for the values and not for a mode's name.
#pragma once

#include <optional>
#include <string_view>

#include "tuner/search/policy.h"

namespace tunesmith {

struct Mode {
  enum class Points {
    proposed,  ///< a strategy proposes them, until the budget is over
    stored,    ///< the fastest of earlier runs on the problem
    listed,    ///< a given list of variants
    covering,  ///< configs in which each value of each axis occurs, and random ones
  };
  Points points = Points::proposed;  ///< source of the points; the base is always the first
  bool finals = true;                ///< finals follow, and name winners
  /// For a search that is one of several on the problem: the points are divided, and it learns the verdicts
  /// of the others.
  bool hears_others = false;
  std::string_view shown = "search";     ///< what the progress calls it, before the finals
  std::string_view recorded = "search";  ///< the stage in the rows of its measurements, before the finals

  /// The base is measured even if its verdict is known, and its row holds the size of the space: other times
  /// are compared with it.
  bool base_is_baseline = true;
  /// False: it seeks verdicts; a time is of a few launches, and all failures are named.
  bool seeks_times = true;
  bool repeats_loads = false;              ///< if a launch is short, as often as Policy::list_loads says
  std::optional<double> give_up_factor{};  ///< replaces the policy's
  double most_compile_s = 0;               ///< limit for one variant; 0: only the budget's limit
  bool compiles_ahead = false;             ///< compiles the list of the next problem

  bool searches() const { return points == Points::proposed; }
  bool chooses_again() const { return points == Points::stored; }
  bool only_checks() const { return points == Points::covering; }
  /// The policy with the changes of this mode.
  Policy adjusted(Policy policy) const;
};

namespace modes {

/// A search, then finals.
inline constexpr Mode tuning = {};
/// A search without finals: the finals of the problem follow elsewhere, or there are none.
inline constexpr Mode search = {.finals = false, .hears_others = true};
/// No search: stored variants are measured again.
inline constexpr Mode finals = {.points = Mode::Points::stored};
/// Measures variants for a table. Slow times count too; a variant that takes long to compile would hold up
/// all others behind it.
inline constexpr Mode table = {.points = Mode::Points::listed,
                               .finals = false,
                               .recorded = "table",
                               .base_is_baseline = false,
                               .repeats_loads = true,
                               .give_up_factor = 4,
                               .most_compile_s = 6,
                               .compiles_ahead = true};
/// Makes every check, and neither times nor winners.
inline constexpr Mode checks = {
    .points = Mode::Points::covering, .finals = false, .shown = "check", .seeks_times = false};

}  // namespace modes
}  // namespace tunesmith
