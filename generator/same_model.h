// SPDX-License-Identifier: Apache-2.0
// Compares device models: measurements on one device hold for another of the same model.
#pragma once

#include <cmath>

#include "generator/device_facts.h"

namespace tunesmith {

/// True if kind, name, target, and on CUDA the number of multiprocessors are equal. Memory is ignored:
/// drivers report different sizes for the same GPU. The database's index device_model uses the same fields.
inline bool same_model(const DeviceFacts& a, const DeviceFacts& b) {
  return a.kind == b.kind && a.name == b.name && a.target == b.target &&
         (a.kind == DeviceKind::host || a.multiprocessors == b.multiprocessors);
}

/// How much times of one model of device are trusted less on another: a logarithm, a guess, which only orders
/// devices.
inline double unlikeness(const DeviceFacts& theirs, const DeviceFacts& ours) {
  const double size =
      theirs.multiprocessors > 0 && ours.multiprocessors > 0
          ? std::abs(std::log2(static_cast<double>(theirs.multiprocessors) / ours.multiprocessors))
          : 1;
  return 0.1 * (theirs.target != ours.target ? 1 : 0) + 0.1 * size;
}

}  // namespace tunesmith
