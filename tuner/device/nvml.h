// SPDX-License-Identifier: Apache-2.0
// A GPU's clock, the reasons that hold it down, and its energy counter, from the driver's management library.
// The library is loaded if it exists; without it nothing is known and everything else works.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tunesmith {

class Nvml {
 public:
  /// `pci_bus_id` as cudaDeviceGetPCIBusId() writes it.
  explicit Nvml(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");

  struct State {
    int clock_mhz = 0;          ///< of the multiprocessors
    std::uint64_t reasons = 0;  ///< bits of nvmlClocksEventReasons
  };
  std::optional<State> state() const;

  /// The energy used since the driver was loaded; updated some ten times a second.
  std::optional<double> energy_mj() const;

  /// The processes that have a context on the GPU, the caller's included; empty if not known.
  std::vector<std::int32_t> processes() const;

 private:
  using Handle = void*;
  std::shared_ptr<void> library_;
  Handle device_ = nullptr;
  int (*clock_)(Handle, int, unsigned*) = nullptr;
  int (*reasons_)(Handle, unsigned long long*) = nullptr;
  int (*energy_)(Handle, unsigned long long*) = nullptr;
  int (*processes_)(Handle, unsigned*, void*) = nullptr;
};

/// The effect of a state on the samples that were taken in it.
struct Disturbance {
  std::string words;    ///< what held the clock down: "power cap, thermal"; empty: nothing
  bool passes = false;  ///< it comes and goes whatever the variant is: samples are worth taking again
};

/// Heat, a failing supply, or a clock well below `settled_mhz` without a reason passes. A power cap does not:
/// a variant that draws that much power meets it in an application too.
Disturbance disturbance(const Nvml::State& state, int settled_mhz);

}  // namespace tunesmith
