// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tunesmith {
namespace {

// Constants from nvml.h, which is not needed to build.
constexpr int nvml_clock_sm = 1;
struct Reason {
  std::uint64_t bit;
  std::string_view words;
  bool passes;  // it comes and goes, whatever the variant is
};
constexpr std::array<Reason, 6> reasons_that_throttle = {{{0x04, "power cap", false},
                                                          {0x08, "hw slowdown", true},
                                                          {0x10, "sync boost", false},
                                                          {0x20, "thermal", true},
                                                          {0x40, "hw thermal", true},
                                                          {0x80, "hw power brake", true}}};

/// A larger drop below the clock of a busy GPU without a reason is a disturbance; GPUs step their clock by
/// less than 1 %.
constexpr double most_clock_drop = 0.05;

template <typename Function>
bool find(Function& function, void* library, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Nvml::Nvml(const std::string& pci_bus_id, const char* library) {
  void* const opened = ::dlopen(library, RTLD_NOW);
  if (opened == nullptr) return;
  library_ = {opened, [](void* handle) { ::dlclose(handle); }};
  int (*init)() = nullptr;
  int (*by_bus)(const char*, Handle*) = nullptr;
  if (!find(init, opened, "nvmlInit_v2") || !find(by_bus, opened, "nvmlDeviceGetHandleByPciBusId_v2")) return;
  if (init() != 0 || by_bus(pci_bus_id.c_str(), &device_) != 0) {
    device_ = nullptr;
    return;
  }
  find(clock_, opened, "nvmlDeviceGetClockInfo");
  // Drivers before 535 have it under its old name.
  if (!find(reasons_, opened, "nvmlDeviceGetCurrentClocksEventReasons"))
    find(reasons_, opened, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(energy_, opened, "nvmlDeviceGetTotalEnergyConsumption");
  if (!find(processes_, opened, "nvmlDeviceGetComputeRunningProcesses_v3"))
    find(processes_, opened, "nvmlDeviceGetComputeRunningProcesses_v2");
}

std::optional<Nvml::State> Nvml::state() const {
  if (device_ == nullptr || clock_ == nullptr || reasons_ == nullptr) return std::nullopt;
  unsigned mhz = 0;
  unsigned long long reasons = 0;
  if (clock_(device_, nvml_clock_sm, &mhz) != 0 || reasons_(device_, &reasons) != 0) return std::nullopt;
  return State{static_cast<int>(mhz), reasons};
}

std::optional<double> Nvml::energy_mj() const {
  if (device_ == nullptr || energy_ == nullptr) return std::nullopt;
  unsigned long long millijoules = 0;
  if (energy_(device_, &millijoules) != 0) return std::nullopt;
  return static_cast<double>(millijoules);
}

std::vector<std::int32_t> Nvml::processes() const {
  struct Process {  // nvmlProcessInfo_t of both versions
    unsigned id = 0;
    unsigned long long memory_bytes = 0;
    unsigned instance = 0, compute_instance = 0;
  };
  static_assert(sizeof(Process) == 24);
  std::array<Process, 128> found = {};
  unsigned count = found.size();
  if (device_ == nullptr || processes_ == nullptr || processes_(device_, &count, found.data()) != 0)
    return {};
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, found.size()); ++i)
    ids.push_back(static_cast<std::int32_t>(found[i].id));
  return ids;
}

Disturbance disturbance(const Nvml::State& state, int settled_mhz) {
  Disturbance found;
  for (const Reason& reason : reasons_that_throttle) {
    if ((state.reasons & reason.bit) == 0) continue;
    found.words += (found.words.empty() ? "" : ", ") + std::string(reason.words);
    found.passes = found.passes || reason.passes;
  }
  if (found.words.empty() && state.clock_mhz < (1 - most_clock_drop) * settled_mhz)
    found = {.words = "low clock", .passes = true};
  return found;
}

}  // namespace tunesmith
