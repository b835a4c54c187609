// SPDX-License-Identifier: Apache-2.0
// Under which conditions a time was measured, and by what a winner was chosen: only what agrees in them is
// compared.
#pragma once

#include <string>
#include <string_view>

#include "generator/device_facts.h"

namespace tunesmith {

/// What the second-level cache holds when a kernel is launched: what the launch before left, or nothing that
/// it reads.
enum class Caches { warm, cold };
/// Of a sample: each between ordinary kernels, as in an application (isolated), or back to back with the same
/// variant.
enum class Launches { apart, chained };
/// What makes a winner the best: a launch's time, its energy, or the product of both.
enum class Objective { time, energy, edp };

/// As the database, files and the command line spell them.
std::string_view to_text(Caches caches);
std::string_view to_text(Launches launches);
std::string_view to_text(Objective objective);
/// The inverse. Throw UsageError naming what is allowed.
Caches caches_of(std::string_view word);
Launches launches_of(std::string_view word);
Objective objective_of(std::string_view word);

struct Conditions {
  Caches caches = Caches::warm;
  Launches launches = Launches::apart;
  Objective objective = Objective::time;  ///< of a winner; a time alone has none
  bool operator==(const Conditions&) const = default;
};

/// "warm apart time".
std::string to_text(const Conditions& conditions);

/// Of a row with the texts caches, launches and objective.
template <typename Row>
Conditions conditions_of(const Row& row) {
  return {caches_of(row.caches), launches_of(row.launches), objective_of(row.objective)};
}

/// As they are on such a device: on the host launches apart and chained are the same, and called apart.
Conditions on_device(DeviceKind kind, Conditions conditions);

}  // namespace tunesmith
