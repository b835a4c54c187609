// SPDX-License-Identifier: Apache-2.0
// What is done with a problem, as values: who reads them asks for no mode by its name.
#pragma once

#include <optional>
#include <string_view>

#include "tuner/search/policy.h"

namespace tunesmith {

struct Mode {
  enum class Points {
    proposed,  ///< by a strategy, until the budget is over
    stored,    ///< the fastest of earlier runs on the problem
    listed,    ///< variants that are given
    covering,  ///< configs in which each value of each axis occurs, and random ones
  };
  Points points = Points::proposed;  ///< what is tried; of each the base is the first
  bool finals = true;                ///< they follow, and name winners
  /// Of a search that is one of several on the problem: the points are divided, and it learns what others
  /// find.
  bool hears_others = false;
  std::string_view shown = "search";     ///< what the progress calls it, before the finals
  std::string_view recorded = "search";  ///< the stage in the rows of its measurements, before the finals

  /// The base is measured though its verdict is known, and its row says how large the space is: times are
  /// compared with it.
  bool base_is_baseline = true;
  bool seeks_times = true;  ///< else verdicts: a time is that of a few launches, and all that fail are named
  bool repeats_loads = false;              ///< as often as Policy::list_loads says, of a short launch
  std::optional<double> give_up_factor{};  ///< in place of the policy's
  double most_compile_s = 0;               ///< of one variant; 0: no limit beside the budget's
  bool compiles_ahead = false;             ///< what is listed for the next problem

  bool searches() const { return points == Points::proposed; }
  bool chooses_again() const { return points == Points::stored; }
  bool only_checks() const { return points == Points::covering; }
  /// With what the mode changes of it.
  Policy adjusted(Policy policy) const;
};

namespace modes {

/// A search, then finals.
inline constexpr Mode tuning = {};
/// A search without finals: those of the problem follow elsewhere, or none do.
inline constexpr Mode search = {.finals = false, .hears_others = true};
/// No search: what is stored is measured again.
inline constexpr Mode finals = {.points = Mode::Points::stored};
/// Variants of a table. Slow times count too, and what takes long to compile would hold up all behind it.
inline constexpr Mode table = {.points = Mode::Points::listed,
                               .finals = false,
                               .recorded = "table",
                               .base_is_baseline = false,
                               .repeats_loads = true,
                               .give_up_factor = 4,
                               .most_compile_s = 6,
                               .compiles_ahead = true};
/// Every check, and neither times nor winners.
inline constexpr Mode checks = {
    .points = Mode::Points::covering, .finals = false, .shown = "check", .seeks_times = false};

}  // namespace modes
}  // namespace tunesmith
