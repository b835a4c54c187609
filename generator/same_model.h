// SPDX-License-Identifier: Apache-2.0
// Whether two devices are one model: what was measured on one holds for the other.
#pragma once

#include "generator/device_facts.h"

namespace tunesmith {

/// Kind, name, target, and on CUDA the number of multiprocessors. Not the memory: drivers report other sizes
/// of the same GPU. The database's index device_model says the same of its rows.
inline bool same_model(const DeviceFacts& a, const DeviceFacts& b) {
  return a.kind == b.kind && a.name == b.name && a.target == b.target &&
         (a.kind == DeviceKind::host || a.multiprocessors == b.multiprocessors);
}

}  // namespace tunesmith
