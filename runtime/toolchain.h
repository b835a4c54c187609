// SPDX-License-Identifier: Apache-2.0
// Source -> binary. Used by the tuner for every variant, and by dispatch for what nobody tuned.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "generator/render.h"

namespace tunesmith {

struct Compilation {
  bool ok = false;
  std::string bytes;               ///< a cubin, or a shared object for the host
  std::string log;                 ///< the compiler's words; the reason when !ok
  double milliseconds = 0;         ///< wall time
  bool is_unknown_target = false;  ///< to this compiler: nothing is wrong with the source
};

/// When a compilation is given up. NVRTC is asked between its passes, from CUDA 12.8 on; an older one ends by
/// itself.
struct Patience {
  std::chrono::milliseconds limit = std::chrono::milliseconds::max();
  std::stop_token stop = {};

  bool is_over_since(std::chrono::steady_clock::time_point start) const {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start) > limit;
  }
};

class Toolchain {
 public:
  virtual ~Toolchain() = default;

  /// "NVRTC 13.0", "g++ (Debian 12.2.0-14) 12.2.0 -O2": stored with every measurement.
  virtual std::string identity() const = 0;

  /// Thread-safe. A source that does not compile is an answer, not an exception.
  virtual Compilation compile(const Source& source, const Patience& patience = {}) const = 0;
};

/// Loads libnvrtc at run time; no GPU or driver is needed. Throws Error saying why it is not available and
/// what to install.
std::unique_ptr<Toolchain> make_nvrtc_toolchain();

/// Gives up NVRTC's compilations in all threads and waits until they have ended; later ones fail. For the end
/// of a process, which does it itself, but after handlers that NVRTC may have registered since.
void end_nvrtc();

/// The system's C++ compiler ($TUNESMITH_CXX, else c++, g++, clang++). Throws Error if there is none. A
/// variant that takes it longer than `limit` does not compile.
std::unique_ptr<Toolchain> make_host_toolchain(std::chrono::milliseconds limit = std::chrono::seconds(60));

/// The one that compiles for `target` ("host", "sm_90a", …).
std::unique_ptr<Toolchain> make_toolchain(std::string_view target);

}  // namespace tunesmith
