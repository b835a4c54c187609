// SPDX-License-Identifier: Apache-2.0
#include "generator/conditions.h"

#include "generator/error.h"

namespace tunesmith {

std::string_view to_text(Caches caches) { return caches == Caches::cold ? "cold" : "warm"; }

std::string_view to_text(Launches launches) { return launches == Launches::chained ? "chained" : "apart"; }

std::string_view to_text(Objective objective) {
  return objective == Objective::time ? "time" : objective == Objective::energy ? "energy" : "edp";
}

Caches caches_of(std::string_view word) {
  for (const Caches each : {Caches::warm, Caches::cold})
    if (to_text(each) == word) return each;
  throw UsageError("The caches " + std::string(word) + " are not known; give warm or cold.");
}

Launches launches_of(std::string_view word) {
  for (const Launches each : {Launches::apart, Launches::chained})
    if (to_text(each) == word) return each;
  throw UsageError("The launches " + std::string(word) + " are not known; give apart or chained.");
}

Objective objective_of(std::string_view word) {
  for (const Objective each : {Objective::time, Objective::energy, Objective::edp})
    if (to_text(each) == word) return each;
  throw UsageError("The objective " + std::string(word) +
                   " is not known; give time, energy, or edp (the product of both).");
}

std::string to_text(const Conditions& conditions) {
  return std::string(to_text(conditions.caches)) + " " + std::string(to_text(conditions.launches)) + " " +
         std::string(to_text(conditions.objective));
}

Conditions on_device(DeviceKind kind, Conditions conditions) {
  if (kind == DeviceKind::host) conditions.launches = Launches::apart;
  return conditions;
}

}  // namespace tunesmith
