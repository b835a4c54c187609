// SPDX-License-Identifier: Apache-2.0
// Throws a CUDA error as an Error.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "generator/error.h"

namespace tunesmith {

inline void check(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, unless it is sticky
  throw Error("CUDA could not " + what + ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code) +
              ".");
}

}  // namespace tunesmith
