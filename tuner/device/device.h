// SPDX-License-Identifier: Apache-2.0
// The interface of a device on which variants are checked and timed: memory with guards, comparison, timing.
// Only the worker process uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "tuner/device/timing.h"

namespace tunesmith {

/// Where the numbers of an output lie: groups of `count`, `stride` bytes apart, the first at `offset`.
/// Without a stride all lie one behind the other.
struct Spacing {
  std::int64_t offset = 0, stride = 0, count = 1;
};

struct Comparison {
  /// Elements whose error exceeds the permitted one, or that are NaN instead of a number.
  std::int64_t wrong = 0;
  std::int64_t first_wrong = -1;  ///< flat index
  double got = 0;                 ///< at that index
  double expected = 0;            ///< at that index
  /// The largest |error| / permitted over all elements; infinity for an error where none is permitted.
  double max_error = 0;
};

/// The times of one load of a binary.
struct TimeSamples {
  std::vector<double> samples_us;  ///< per launch
  int clock_mhz = 0;               ///< the lowest seen; 0: not known
  std::string throttled{};         ///< what held the clock down, in words; empty: nothing known
};

/// A late write of a kernel: `bytes` from `from`, or of the value `byte` if `from` is null.
struct LateWrite {
  void* to = nullptr;
  const void* from = nullptr;
  unsigned char byte = 0;
  std::int64_t bytes = 0;
};

/// The distance in bytes from the start, or the end, of memory to the farthest byte that was written outside.
struct Outside {
  std::int64_t before = 0, after = 0;
  bool operator==(const Outside&) const = default;
};

/// The changes of the guard bytes before and after memory, which all were `byte`.
inline Outside changed_guards(std::string_view before, std::string_view after, char byte) {
  const std::size_t first = before.find_first_not_of(byte), last = after.find_last_not_of(byte);
  return {.before = first == before.npos ? 0 : static_cast<std::int64_t>(before.size() - first),
          .after = last == after.npos ? 0 : static_cast<std::int64_t>(last + 1)};
}

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceFacts& facts() const = 0;
  virtual std::string driver() const = 0;
  virtual std::string uuid() const { return ""; }  ///< tells GPUs of one model apart; empty: not known

  virtual bool tells_energy() const { return false; }  ///< true if energy_uj() works
  /// The numbers of the processes that had a context on the device when this was made, as far as is known.
  virtual std::vector<std::int32_t> other_processes() const { return {}; }

  virtual std::unique_ptr<Executable> load(const std::string& binary, const std::string& suffix,
                                           const Work& work) = 0;

  /// Allocates device memory, aligned to at least `alignment`, with at least 4 KiB of patterned guard bytes
  /// before it. On CUDA as many follow it. On the host its size is rounded up to the alignment with guard
  /// bytes, and memory behind them cannot be read or written. Throws Error when there is not enough.
  virtual void* allocate(std::int64_t bytes, std::int64_t alignment) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// The distances up to which guard bytes of one allocation were changed; the host repairs them.
  virtual Outside written_outside(const void* memory) = 0;
  bool guards_intact(const void* memory) { return written_outside(memory) == Outside(); }
  /// True if the address is among the guard bytes, or in the memory behind them that cannot be read.
  virtual bool guards(const void* /*memory*/, const void* /*address*/) const { return false; }

  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;  ///< both on the device
  virtual void fill(void* to, unsigned char byte, std::int64_t bytes) = 0;
  virtual bool equal(const void* a, const void* b, std::int64_t bytes) = 0;

  /// `expected`, doubles, and `permitted`, as pack_permitted() (check_data.h) writes them, are device arrays
  /// with `elements` entries. NaN expects NaN, infinity itself. If the dtype is b64, the output and
  /// `expected` hold integers of 64 bits: they are compared with all their digits, and `got` and `expected`
  /// of the result are the nearest doubles.
  virtual Comparison compare(const void* output, DType dtype, const double* expected, const void* permitted,
                             std::int64_t elements, const Spacing& spacing = {}) = 0;

  /// Launches behind a kernel that lets the next one start at once and makes these writes only 0.1 ms later:
  /// a launch that does not wait for the kernel before it finds the old data. Returns the same as
  /// Executable::launch(). On the host nothing overlaps.
  virtual int launch_behind(std::span<const LateWrite> writes, Executable& executable, void* const* arguments,
                            void* workspace) = 0;

  /// Waits for the device; throws Error with the runtime's message if a launch failed. A CUDA context may be
  /// unusable afterwards.
  virtual void synchronize() = 0;

  /// Times launches: on CUDA by differences of graphs, as docs/measuring.md defines them; on the host by the
  /// wall clock, where launches apart and chained are the same, and cold caches are a UsageError. Effects
  /// that differ from load to load have one value in an executable that is loaded once: more samples do not
  /// show them.
  virtual TimeSamples time_us(Executable& executable, std::span<void* const> arguments, void* workspace,
                              const Timing& timing) = 0;

  /// Microjoules of the whole device per launch, including its idle power, while launches follow each other
  /// for a second and more on the same buffers; nothing if there is no counter.
  virtual std::optional<double> energy_uj(Executable& executable, std::span<void* const> arguments,
                                          void* workspace) = 0;
};

std::unique_ptr<Device> make_device(const ChosenDevice& chosen);

/// Throws UsageError naming the devices there are.
std::unique_ptr<Device> make_cuda_device(int ordinal);
std::unique_ptr<Device> make_host_device();

}  // namespace tunesmith
