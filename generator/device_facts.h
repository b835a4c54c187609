// SPDX-License-Identifier: Apache-2.0
// What is known of a device, and which of its limits a work breaks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "generator/work.h"

namespace tunesmith {

enum class DeviceKind { unknown, cuda, host };
/// "cuda", "host"; empty: unknown.
std::string_view to_text(DeviceKind kind);
/// The inverse; any other word is unknown.
DeviceKind device_kind_of(std::string_view word);

/// Bytes of shared memory that each block may have on every GPU; beyond them a kernel asks for dynamic ones.
inline constexpr std::int64_t static_shared_limit = std::int64_t{48} * 1024;

/// What a device allows and is; the model facts that a database row carries. Never an ordinal.
struct DeviceFacts {
  DeviceKind kind = DeviceKind::unknown;
  std::string name;            ///< as the driver or /proc/cpuinfo spells it
  std::string target;          ///< "sm_90a", "host"
  int compute_capability = 0;  ///< 90 for 9.0; 0 on the host
  int multiprocessors = 0;     ///< on the host: processors online
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;  ///< 0: not known; likewise below
  std::int64_t shared_bytes_per_multiprocessor = 0;
  int max_threads_per_multiprocessor = 0;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_shared_bytes_per_block = static_shared_limit;  ///< static + dynamic, after opting in
  Extent max_block = {1024, 1024, 64};
  Extent max_grid = {2147483647, 65535, 65535};
};

/// A GPU of which only the compute capability is known (0: not even that), with the limits that CUDA states
/// for it; it has no name.
DeviceFacts facts_of_capability(int compute_capability);

/// What grids and tiles scale with: a CUDA device's multiprocessors. Where none are known, and on the host,
/// which emulates a GPU, an H200's 132.
int multiprocessors_to_fill(const DeviceFacts& device);

/// Which limit of the device the work breaks, as a sentence, or nothing. `static_shared_bytes` comes from the
/// binary.
std::optional<std::string> exceeds(const Work& work, const DeviceFacts& device,
                                   std::int64_t static_shared_bytes = 0);

}  // namespace tunesmith
