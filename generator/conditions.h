// SPDX-License-Identifier: Apache-2.0
// The conditions under which a time was measured, and the objective by which a winner was chosen. Only times
// under equal conditions are compared.
#pragma once

#include <string>
#include <string_view>

#include "generator/device_facts.h"

namespace tunesmith {

/// The content of the second-level cache when a kernel is launched: warm, whatever the previous launch left;
/// cold, nothing that the launch reads.
enum class Caches { warm, cold };
/// How a sample's launches are timed: apart, each between ordinary kernels as in an application; chained,
/// back to back with the same variant.
enum class Launches { apart, chained };
/// The quantity that a winner minimises: a launch's time, its energy, or the product of both.
enum class Objective { time, energy, edp };

/// The word that the database, files and the command line use.
std::string_view to_text(Caches caches);
std::string_view to_text(Launches launches);
std::string_view to_text(Objective objective);
/// The inverse functions. They throw UsageError that names the allowed words.
Caches caches_of(std::string_view word);
Launches launches_of(std::string_view word);
Objective objective_of(std::string_view word);

struct Conditions {
  Caches caches = Caches::warm;
  Launches launches = Launches::apart;
  Objective objective = Objective::time;  ///< a winner's objective; a time alone has none
  bool operator==(const Conditions&) const = default;
};

/// "warm apart time".
std::string to_text(const Conditions& conditions);

/// The conditions of a row with the text fields caches, launches and objective.
template <typename Row>
Conditions conditions_of(const Row& row) {
  return {caches_of(row.caches), launches_of(row.launches), objective_of(row.objective)};
}

/// The conditions as such a device distinguishes them: on the host launches apart and chained are the same,
/// and called apart.
Conditions on_device(DeviceKind kind, Conditions conditions);

}  // namespace tunesmith
