// SPDX-License-Identifier: Apache-2.0
// The facts of a device, and the check of a work against its limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "generator/work.h"

namespace tunesmith {

enum class DeviceKind { unknown, cuda, host };
/// "cuda" or "host"; empty if the kind is unknown.
std::string_view to_text(DeviceKind kind);
/// The inverse; returns unknown for any other word.
DeviceKind device_kind_of(std::string_view word);

/// Bytes of shared memory that a block may have on every GPU; a kernel that needs more uses dynamic shared
/// memory.
inline constexpr std::int64_t static_shared_limit = std::int64_t{48} * 1024;

/// The properties and limits of a device model, as a database row stores them. It never holds a device
/// number.
struct DeviceFacts {
  DeviceKind kind = DeviceKind::unknown;
  std::string name;            ///< as the driver or /proc/cpuinfo spells it
  std::string target;          ///< "sm_90a", "host"
  int compute_capability = 0;  ///< 90 for 9.0; 0 on the host
  int multiprocessors = 0;     ///< on the host: processors online
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;  ///< 0: not known; the same in the fields below
  std::int64_t shared_bytes_per_multiprocessor = 0;
  int max_threads_per_multiprocessor = 0;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_shared_bytes_per_block = static_shared_limit;  ///< static + dynamic, after opting in
  Extent max_block = {1024, 1024, 64};
  Extent max_grid = {2147483647, 65535, 65535};
};

/// The threads of a cooperative launch that the host runs at the same time.
inline constexpr std::int64_t most_host_threads_together = 1 << 14;

/// A nameless GPU for which only the compute capability is known (0: not even that), with the limits that
/// CUDA states for it.
DeviceFacts facts_of_capability(int compute_capability);

/// The number of multiprocessors that grids and tiles scale with. If a GPU's number is unknown, and on the
/// host, which emulates a GPU, it is 132, that of an H200.
int multiprocessors_to_fill(const DeviceFacts& device);

/// Returns a sentence on the limit of the device that the work breaks, or nothing. `static_shared_bytes`
/// comes from the binary.
std::optional<std::string> exceeds(const Work& work, const DeviceFacts& device,
                                   std::int64_t static_shared_bytes = 0);

}  // namespace tunesmith
