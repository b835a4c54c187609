// SPDX-License-Identifier: Apache-2.0
// Memory and a clock of a device, to time executables beside an application: nothing that is the
// application's is touched or waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/executable.h"

namespace tunesmith {

/// Use it from one thread. Its memory goes with it.
class Benchmark {
 public:
  virtual ~Benchmark() = default;

  /// As much as may be taken from others for a moment: a quarter of what is free.
  virtual std::int64_t spare_bytes() const = 0;

  /// Aligned to 256 bytes; filled with the pattern again and again, with zeros if that is empty. Throws
  /// LoadError.
  virtual void* allocate(std::int64_t bytes, std::span<const std::byte> pattern) = 0;

  /// Microseconds of a launch: the mean of so many, none of which overlaps with the one before it. Throws
  /// Error if one fails.
  virtual double time_us(Executable& executable, void* const* arguments, int launches) = 0;
};

std::unique_ptr<Benchmark> make_host_benchmark();
/// On a stream of its own with the lowest priority. `ordinal` counts as cudaSetDevice does. Throws LoadError,
/// also where the device has no pools of memory, or where this build has no CUDA.
std::unique_ptr<Benchmark> make_cuda_benchmark(int ordinal);

}  // namespace tunesmith
