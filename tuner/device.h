// Where variants are checked and timed: memory with guards, comparison, timing. Used in the worker process
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"

namespace tunesmith {

struct Comparison {
  std::int64_t wrong = 0;  ///< elements whose error exceeds what is permitted, NaN against a number included
  std::int64_t first_wrong = -1;  ///< flat index
  double got = 0;                 ///< there
  double expected = 0;            ///< there
  /// The largest |error| / permitted over all elements; infinity where no error is permitted.
  double max_error = 0;
};

struct Timing {
  int samples = 11;               ///< medians are taken over these
  double sample_target_us = 300;  ///< launches are repeated inside one sample until it lasts about this long
  /// Above 0: stop after the first sample if one launch takes longer (it cannot win).
  double give_up_above_us = 0;
  bool cold_caches = false;  ///< each sample is one launch, after the second-level cache was overwritten
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceFacts& facts() const = 0;
  virtual std::string driver() const = 0;

  virtual std::unique_ptr<Executable> load(const std::string& binary, const std::string& suffix,
                                           const Work& work) = 0;

  /// Device memory aligned to 256 bytes with at least 4 KiB of patterned guard bytes before and directly
  /// after it. Throws Error when there is not enough.
  virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual bool guards_intact(const void* memory) = 0;  ///< of one allocation; both sides

  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;  ///< both on the device
  virtual void fill(void* to, unsigned char byte, std::int64_t bytes) = 0;
  virtual bool equal(const void* a, const void* b, std::int64_t bytes) = 0;

  /// `expected` and `permitted` are device arrays of double with `elements` entries. NaN expects NaN,
  /// infinity itself.
  virtual Comparison compare(const void* output, DType dtype, const double* expected, const double* permitted,
                             std::int64_t elements) = 0;

  /// Waits; throws Error with the runtime's message if a launch failed. A CUDA context may be unusable
  /// afterwards.
  virtual void synchronize() = 0;

  /// Microseconds per launch, one entry per sample. On CUDA: replays of a graph of launches between two
  /// events, after a warm-up, or with cold caches one launch between two events, which includes some
  /// microseconds of the events themselves; on the host: the wall clock, and a UsageError where cold caches
  /// are asked for.
  virtual std::vector<double> time_us(Executable& executable, void* const* arguments, void* workspace,
                                      const Timing& timing) = 0;
};

std::unique_ptr<Device> make_device(const ChosenDevice& chosen);

/// Throws UsageError naming the devices there are.
std::unique_ptr<Device> make_cuda_device(int ordinal);
std::unique_ptr<Device> make_host_device();

}  // namespace tunesmith
