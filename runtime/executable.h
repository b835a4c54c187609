// SPDX-License-Identifier: Apache-2.0
// A variant loaded on a device, ready to launch. The tuner times this object, and dispatch runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "generator/error.h"
#include "generator/op.h"

namespace tunesmith {

/// A variant that cannot be loaded on its device.
struct LoadError : Error {
  enum class Cause {
    refused,    ///< another architecture, damaged bytes, or a missing kernel, symbol or parameter
    resources,  ///< more threads, registers or shared memory than the device has
    busy,       ///< memory or file numbers that others use now: it may load later
  };
  explicit LoadError(const std::string& sentence, Cause cause_ = Cause::refused)
      : Error(sentence), cause(cause_) {}

  Cause cause;
};

/// The maximum over the variant's kernels, as the loaded binary reports it.
struct BinaryFacts {
  int registers = 0;                     ///< per thread; 0 on the host
  std::int64_t static_shared_bytes = 0;  ///< per block
  std::int64_t local_bytes = 0;          ///< per thread: spills and indexed arrays; 0 is best
};

/// Throws LoadError if the work breaks a limit of the device. `static_shared_bytes` comes from the binary.
inline void require_limits(const Work& work, const DeviceFacts& device,
                           std::int64_t static_shared_bytes = 0) {
  if (const auto why = exceeds(work, device, static_shared_bytes)) {
    throw LoadError(*why, LoadError::Cause::resources);
  }
}

/// The most parameters of one kernel; the fixed limit lets a launch work without an allocation.
inline constexpr std::size_t max_parameters = 192;

inline void* pointer_to(const ArrayPointer& what, void* const* arguments, void* workspace) {
  if (const auto* of_op = std::get_if<ArgumentPointer>(&what)) return arguments[of_op->argument];
  return static_cast<char*>(workspace) + std::get_if<WorkspacePointer>(&what)->offset_bytes;
}

/// Returns the first element's address.
inline char* first_of(const BoxedArray& boxed, void* const* arguments, void* workspace) {
  return static_cast<char*>(pointer_to(boxed.array, arguments, workspace)) +
         boxed.start * boxed.element_bytes;
}

/// Returns the address of a scalar or array argument's value for this launch. place_mismatch() must allow the
/// place.
inline const void* scalar_of(const KernelArgument& argument, int place, const LaunchNumbers* numbers) {
  const auto at = static_cast<std::size_t>(place);
  if (numbers != nullptr && place >= 0 && std::holds_alternative<double>(argument))
    return &numbers->doubles[at];
  if (numbers != nullptr && place >= 0 && std::holds_alternative<std::int32_t>(argument))
    return &numbers->integers[at];
  return std::visit(
      []<typename Type>(const Type& value) -> const void* {
        if constexpr (is_array<Type>) {
          return value.data();
        } else {
          return &value;
        }
      },
      argument);
}
inline int place_of(const Launch& launch, std::size_t argument) {
  return argument < launch.numbers.size() ? launch.numbers[argument] : -1;
}

/// The content of shared memory before a block on the host. A maximum ignores NaN and small values, a minimum
/// ignores large values, so one content alone hides a missing barrier; large and small ones alternate every
/// 16 bytes. These numbers are finite in every floating-point type, including halves.
enum class Poison { nan, large, large_and_small, small_and_large };

/// The poison of each of a check's four runs: both orders of the threads, each with different poison; `other`
/// selects the two runs on other inputs.
inline constexpr Poison poison_of(bool reverse, bool other) {
  if (other) return reverse ? Poison::small_and_large : Poison::large_and_small;
  return reverse ? Poison::large : Poison::nan;
}

/// The poison's first byte, for memory that holds a single byte value.
inline constexpr unsigned char byte_of(Poison poison) {
  if (poison == Poison::nan) return 0xff;
  return poison == Poison::small_and_large ? 0xfb : 0x7b;
}

class Executable {
 public:
  virtual ~Executable() = default;

  virtual BinaryFacts facts() const = 0;

  /// Returns the same loaded binary, set up for another work of the same template. Throws LoadError, as
  /// load_cuda() and load_host() do: the binary's needs are checked against the device's limits.
  virtual std::unique_ptr<Executable> with(const Work& work) const = 0;

  /// Enqueues every step on `stream` (a cudaStream_t; ignored on the host, which runs the work before it
  /// returns). `arguments` are the op's device pointers in its order. Returns 0 or the runtime's error code.
  /// Compiles nothing, and may be captured into a CUDA graph. If no workspace is needed, or one is given, it
  /// takes no lock and allocates nothing; otherwise it lends one that other launches of the stream or the
  /// graph use too, in their order. `numbers` are read before it returns.
  virtual int launch(void* const* arguments, void* workspace, void* stream,
                     const LaunchNumbers* numbers = nullptr) noexcept = 0;
  /// True if launch() can make a workspace; otherwise the caller must give one.
  virtual bool makes_workspaces() const noexcept = 0;

  /// True if a stream may still run a launch, or a graph may launch it again, which cannot be known. Then the
  /// binary should be unloaded only together with everything that uses it.
  virtual bool may_be_running() const { return false; }

  /// True if a launch was captured into a graph.
  virtual bool was_captured() const { return false; }

  /// Returns the text of an error code.
  virtual std::string describe(int error) const = 0;

  /// Host only: sets the order in which a block's threads run and the poison, to reveal missing barriers.
  virtual void emulate(bool /*reverse*/, Poison) {}
  void reverse_threads(bool reverse) { emulate(reverse, poison_of(reverse, false)); }
};

/// Loads a binary. `suffix` is Source::suffix. Throws LoadError. load_cuda() throws Error if this build has
/// no CUDA; `ordinal` counts as cudaSetDevice does. A guarded binary is unloaded only when its launches have
/// ended, and never if a graph has captured it.
std::unique_ptr<Executable> load_cuda(const std::string& binary, const std::string& suffix, const Work& work,
                                      int ordinal, bool guarded = false);
std::unique_ptr<Executable> load_host(const std::string& binary, const std::string& suffix, const Work& work);

/// Loads a binary that the host's compiler made of a text that is no variant, and returns the symbol; the
/// binary stays loaded. Throws LoadError.
void* load_symbol(const std::string& binary, const char* name);

/// True if the `bytes` from `first` on begin and end in memory that this device's kernels can reach: for
/// CUDA, memory allocated for it, managed or pinned; on the host, memory of this process.
bool is_cuda_memory(const void* first, std::size_t bytes, int ordinal) noexcept;
bool is_host_memory(const void* first, std::size_t bytes) noexcept;

/// Results of launch() on the host: a kernel wrote past its dynamic shared memory, or, in a process that has
/// called catch_host_faults(), accessed memory that does not exist.
inline constexpr int host_shared_overrun = 2, host_fault = 7, host_waits_for_ever = 14;

/// After this call such an access ends its launch instead of this process.
void catch_host_faults();
/// The address of this thread's last such access.
const void* host_fault_address();

/// Returns the CUDA devices that the driver shows, in its order. If there is none (no driver, built without
/// CUDA, …), the list is empty and `why_none` a sentence. Never throws.
std::vector<DeviceFacts> cuda_devices(std::string& why_none);
std::string cuda_driver();  ///< "580.159.04 (CUDA 13.0)", or empty

DeviceFacts host_facts();

}  // namespace tunesmith
