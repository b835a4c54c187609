// SPDX-License-Identifier: Apache-2.0
#include "generator/device_facts.h"

#include <array>
#include <string_view>
#include <variant>

namespace tunesmith {
namespace {

std::optional<std::string> beyond(std::string_view what, std::int64_t value, std::int64_t limit,
                                  const DeviceFacts& device) {
  if (value <= limit) return std::nullopt;
  return std::string(what) + " is " + std::to_string(value) + ", but " + device.name + " allows " +
         std::to_string(limit) + ".";
}

}  // namespace

std::string_view to_text(DeviceKind kind) {
  return kind == DeviceKind::cuda ? "cuda" : kind == DeviceKind::host ? "host" : "";
}

DeviceKind device_kind_of(std::string_view word) {
  return word == "cuda" ? DeviceKind::cuda : word == "host" ? DeviceKind::host : DeviceKind::unknown;
}

// CUDA C++ Programming Guide 13.0, appendix Compute Capabilities, "Technical Specifications"; the same in
// CCCL's cuda/__device/arch_traits.h.
DeviceFacts facts_of_capability(int compute_capability) {
  struct Limits {
    int capability, threads, shared_kib, shared_kib_per_block;  // threads and shared_kib: per multiprocessor
  };
  static constexpr Limits all[] = {{75, 1024, 64, 64},    {80, 2048, 164, 163},  {86, 1536, 100, 99},
                                   {87, 1536, 164, 163},  {88, 1536, 100, 99},   {89, 1536, 100, 99},
                                   {90, 2048, 228, 227},  {100, 2048, 228, 227}, {103, 2048, 228, 227},
                                   {110, 1536, 228, 227}, {120, 1536, 100, 99},  {121, 1536, 100, 99}};
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  device.compute_capability = compute_capability;
  for (const Limits& limits : all) {
    if (limits.capability != compute_capability) continue;
    device.max_threads_per_multiprocessor = limits.threads;
    device.shared_bytes_per_multiprocessor = std::int64_t{1024} * limits.shared_kib;
    device.max_shared_bytes_per_block = std::int64_t{1024} * limits.shared_kib_per_block;
  }
  return device;
}

int multiprocessors_to_fill(const DeviceFacts& device) {
  constexpr int of_an_h200 = 132;
  return device.kind == DeviceKind::cuda && device.multiprocessors > 0 ? device.multiprocessors : of_an_h200;
}

std::optional<std::string> exceeds(const Work& work, const DeviceFacts& device,
                                   std::int64_t static_shared_bytes) {
  for (const Step& step : work.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    const Extent& block = launch->block;
    const Extent& grid = launch->grid;
    const std::array<std::optional<std::string>, 8> broken = {
        beyond("The number of threads per block", block.x * block.y * block.z, device.max_threads_per_block,
               device),
        beyond("The block's x", block.x, device.max_block.x, device),
        beyond("The block's y", block.y, device.max_block.y, device),
        beyond("The block's z", block.z, device.max_block.z, device),
        beyond("The grid's x", grid.x, device.max_grid.x, device),
        beyond("The grid's y", grid.y, device.max_grid.y, device),
        beyond("The grid's z", grid.z, device.max_grid.z, device),
        beyond("The shared memory per block, in bytes,", launch->dynamic_shared_bytes + static_shared_bytes,
               device.max_shared_bytes_per_block, device)};
    if (launch->is_cooperative) {
      const std::int64_t most = device.kind == DeviceKind::host ? most_host_threads_together
                                                                : std::int64_t{device.multiprocessors} *
                                                                      device.max_threads_per_multiprocessor;
      if (most > 0 && threads_of(*launch) > static_cast<double>(most))
        return "The kernel " + launch->kernel +
               " waits for its whole grid (grid.sync()), so all of its threads must run at the same time, "
               "but " +
               device.name + " runs at most " + std::to_string(most) +
               "; launch fewer blocks, of which each does more.";
    }
    for (const auto& sentence : broken) {
      if (sentence) return sentence;
    }
    if (const std::int64_t bytes = parameter_bytes(*launch); bytes > most_parameter_bytes)
      return "The parameters of the kernel " + launch->kernel + " are " + std::to_string(bytes) +
             " bytes, but CUDA grants every kernel " + std::to_string(most_parameter_bytes) +
             "; give what is more in an array in memory.";
  }
  return std::nullopt;
}

}  // namespace tunesmith
