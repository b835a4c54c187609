// SPDX-License-Identifier: Apache-2.0
// A variant loaded on a device, ready to launch. The tuner times and dispatch runs this same object.
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
  enum class Kind {
    refused,    ///< another architecture, damaged bytes, or a kernel, symbol or parameter that is not there
    resources,  ///< more threads, registers or shared memory than the device has
    busy,       ///< memory or file numbers that others have now: it may load later
  };
  explicit LoadError(const std::string& sentence, Kind kind_ = Kind::refused)
      : Error(sentence), kind(kind_) {}

  Kind kind;
};

/// The maximum over the variant's kernels, as the loaded binary reports it.
struct BinaryFacts {
  int registers = 0;                     ///< per thread; 0 on the host
  std::int64_t static_shared_bytes = 0;  ///< a block
  std::int64_t local_bytes = 0;          ///< a thread: spills and indexed arrays; 0 is what a kernel wants
};

/// Throws LoadError where the work breaks a limit of the device. `static_shared_bytes` comes from the binary.
inline void require_limits(const Work& work, const DeviceFacts& device,
                           std::int64_t static_shared_bytes = 0) {
  if (const auto why = exceeds(work, device, static_shared_bytes)) {
    throw LoadError(*why, LoadError::Kind::resources);
  }
}

/// Of one kernel; so that a launch needs no allocation.
inline constexpr std::size_t max_parameters = 192;

inline void* pointer_to(const std::variant<ArgumentPointer, WorkspacePointer>& what, void* const* arguments,
                        void* workspace) {
  if (const auto* of_op = std::get_if<ArgumentPointer>(&what)) return arguments[of_op->argument];
  return static_cast<char*>(workspace) + std::get_if<WorkspacePointer>(&what)->offset_bytes;
}

/// Where the value of an argument that is a number, or numbers, lies for this launch. The place is one that
/// place_mismatch() allows.
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

/// What shared memory holds before a block on the host. A maximum swallows NaN and what is small, a minimum
/// what is large, so one alone hides a missing barrier; two alternate every 16 bytes. The large and the small
/// numbers are finite in every floating-point type, halves too.
enum class Poison { nan, large, large_and_small, small_and_large };

/// The four runs of a check: both orders of the threads, and other numbers in each of them; `other` are the
/// two on other inputs.
inline constexpr Poison poison_of(bool reverse, bool other) {
  if (other) return reverse ? Poison::small_and_large : Poison::large_and_small;
  return reverse ? Poison::large : Poison::nan;
}

/// Its first byte, for memory that holds one only.
inline constexpr unsigned char byte_of(Poison poison) {
  if (poison == Poison::nan) return 0xff;
  return poison == Poison::small_and_large ? 0xfb : 0x7b;
}

class Executable {
 public:
  virtual ~Executable() = default;

  virtual BinaryFacts facts() const = 0;

  /// The same loaded binary, set up for another work of the same template. Throws LoadError, as load_cuda()
  /// and load_host() do: what the device allows is checked with what the binary asks for.
  virtual std::unique_ptr<Executable> with(const Work& work) const = 0;

  /// Enqueues every step on `stream` (a cudaStream_t; ignored on the host, which runs the work before it
  /// returns). `arguments` are the op's device pointers in its order. Answers 0 or the runtime's error code.
  /// Takes no lock, allocates nothing, compiles nothing, and may be captured into a CUDA graph. Without a
  /// workspace where one is needed it makes one for this launch, in the stream's order. `numbers` are read
  /// before it returns.
  virtual int launch(void* const* arguments, void* workspace, void* stream,
                     const LaunchNumbers* numbers = nullptr) noexcept = 0;
  /// Whether it can make one; else it must be given.
  virtual bool makes_workspaces() const noexcept = 0;

  /// Whether a stream may still run what was launched, or a graph launch it again: nobody can know. Then the
  /// binary should be unloaded only with all that uses it.
  virtual bool may_be_running() const { return false; }

  /// Whether a launch was captured into a graph.
  virtual bool was_captured() const { return false; }

  /// The error code as words.
  virtual std::string describe(int error) const = 0;

  /// Host only, to bring missing barriers to light: the order in which a block's threads run, and its poison.
  virtual void emulate(bool /*reverse*/, Poison) {}
  void reverse_threads(bool reverse) { emulate(reverse, poison_of(reverse, false)); }
};

/// `suffix` is Source::suffix. Throws LoadError. The first needs a build with CUDA (else throws Error saying
/// so); `ordinal` counts as cudaSetDevice does. A guarded binary is unloaded only when its launches have
/// ended, and never if a graph has captured it.
std::unique_ptr<Executable> load_cuda(const std::string& binary, const std::string& suffix, const Work& work,
                                      int ordinal, bool guarded = false);
std::unique_ptr<Executable> load_host(const std::string& binary, const std::string& suffix, const Work& work);

/// A symbol of what the host's compiler made of a text that is no variant; it stays loaded. Throws LoadError.
void* load_symbol(const std::string& binary, const char* name);

/// Whether the `bytes` from `first` on begin and end in memory that this device's kernels can reach: what
/// CUDA allocated for it, managed or pinned; on the host memory of this process.
bool is_cuda_memory(const void* first, std::size_t bytes, int ordinal) noexcept;
bool is_host_memory(const void* first, std::size_t bytes) noexcept;

/// What launch() answers on the host when a kernel wrote past its dynamic shared memory, and where it
/// accessed memory that is not there, in a process that has called catch_host_faults().
inline constexpr int host_shared_overrun = 2, host_fault = 7;

/// From now on such an access ends its launch instead of this process.
void catch_host_faults();
/// The address of this thread's last.
const void* host_fault_address();

/// The CUDA devices that the driver shows, in its order; empty with `why_none` set to a sentence when there
/// is none (no driver, built without CUDA, …). Never throws.
std::vector<DeviceFacts> cuda_devices(std::string& why_none);
std::string cuda_driver();  ///< "580.159.04 (CUDA 13.0)", or empty

DeviceFacts host_facts();

}  // namespace tunesmith
