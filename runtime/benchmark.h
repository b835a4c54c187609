// SPDX-License-Identifier: Apache-2.0
// Memory and a clock of a device, to time executables in the process of an application without touching or
// waiting for the application's own data and streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/executable.h"

namespace tunesmith {

/// Use a Benchmark from one thread. Its destructor frees its memory.
class Benchmark {
 public:
  virtual ~Benchmark() = default;

  /// The bytes that may be taken from others for a moment: a quarter of the free memory.
  virtual std::int64_t spare_bytes() const = 0;

  /// Allocates memory aligned to 256 bytes and fills it with repetitions of the pattern, or with zeros if
  /// that is empty. Throws LoadError.
  virtual void* allocate(std::int64_t bytes, std::span<const std::byte> pattern) = 0;

  /// Returns microseconds per launch, the mean of `launches` launches that do not overlap. Throws Error if
  /// one fails.
  virtual double time_us(Executable& executable, void* const* arguments, int launches) = 0;
};

std::unique_ptr<Benchmark> make_host_benchmark();
/// Makes a benchmark on its own stream of lowest priority. `ordinal` counts as cudaSetDevice does. Throws
/// LoadError, also if the device has no memory pools or this build has no CUDA.
std::unique_ptr<Benchmark> make_cuda_benchmark(int ordinal);

}  // namespace tunesmith
