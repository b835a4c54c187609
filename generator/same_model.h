// SPDX-License-Identifier: Apache-2.0
// Compares device models: measurements on one device hold for another of the same model.
#pragma once

#include "generator/device_facts.h"

namespace tunesmith {

/// True if kind, name, target, and on CUDA the number of multiprocessors are equal. Memory is ignored:
/// drivers report different sizes for the same GPU. The database's index device_model uses the same fields.
inline bool same_model(const DeviceFacts& a, const DeviceFacts& b) {
  return a.kind == b.kind && a.name == b.name && a.target == b.target &&
         (a.kind == DeviceKind::host || a.multiprocessors == b.multiprocessors);
}

}  // namespace tunesmith
