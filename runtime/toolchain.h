// SPDX-License-Identifier: Apache-2.0
// Compiles a source to a binary. The tuner uses it for every variant, and dispatch for untuned problems.
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
  std::string bytes;        ///< a cubin, or a shared object for the host
  std::string log;          ///< the compiler's messages; the reason when !ok
  double milliseconds = 0;  ///< wall time
  bool is_late = false;     ///< true: the compiler was ended for its time, and the source may be right
  bool is_unknown_target =
      false;  ///< true: this compiler does not know the target, and the source may be right
};

/// Conditions under which a compilation is given up. NVRTC asks between its passes, from CUDA 12.8 on; an
/// older one runs to its end.
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

  /// The compiler's name and version, stored with every measurement: "NVRTC 13.0", "g++ (Debian 12.2.0-14)
  /// 12.2.0 -O2".
  virtual std::string identity() const = 0;

  /// Thread-safe. A source that does not compile gives a result, not an exception.
  virtual Compilation compile(const Source& source, const Patience& patience = {}) const = 0;
};

/// Loads libnvrtc at run time; no GPU or driver is needed. Throws Error that says why it is not available and
/// what to install.
std::unique_ptr<Toolchain> make_nvrtc_toolchain();

/// Gives up NVRTC's compilations in all threads and waits until they have ended; later ones fail. Call it at
/// the end of a process: the process's exit handler does the same, but only after exit handlers that NVRTC
/// may have registered since.
void end_nvrtc();

/// The file that NVRTC is loaded from. Throws Error if there is none.
std::string nvrtc_file();

/// Uses the system's C++ compiler ($TUNESMITH_CXX, else c++, g++, clang++). Throws Error if there is none. A
/// compiler that uses more processor time than `limit` is ended.
std::unique_ptr<Toolchain> make_host_toolchain(std::chrono::milliseconds limit = std::chrono::seconds(60));

/// Makes the toolchain for `target` ("host", "sm_90a", …).
std::unique_ptr<Toolchain> make_toolchain(std::string_view target);

}  // namespace tunesmith
