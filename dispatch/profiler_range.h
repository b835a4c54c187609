// SPDX-License-Identifier: Apache-2.0
// A named range in the timeline of a profiler such as Nsight Systems (NVTX), if TUNESMITH_NVTX=on asks for
// ranges and this library was built where the CUDA toolkit has NVTX's header; else nothing.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#ifdef TUNESMITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace tunesmith {

inline constexpr const char* nvtx_variable = "TUNESMITH_NVTX";

class ProfilerRange {
 public:
  /// A launch is named by its op alone, so that no memory is needed.
  explicit ProfilerRange(const std::string& op) noexcept : open_(is_on()) {
    if (open_) push(op.c_str());
  }
  ProfilerRange(const char* stage, const std::string& op) : open_(is_on()) {
    if (open_) push((std::string(stage) + " " + op).c_str());
  }
  ~ProfilerRange() {
    if (open_) pop();
  }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

  /// The variable is read once in a process.
  static bool is_on() noexcept {
#ifdef TUNESMITH_NVTX
    static const bool on = [] {
      const char* given = std::getenv(nvtx_variable);
      return given != nullptr && std::string_view(given) == "on";
    }();
    return on;
#else
    return false;
#endif
  }

 private:
#ifdef TUNESMITH_NVTX
  static void push(const char* name) noexcept { nvtxRangePushA(name); }
  static void pop() noexcept { nvtxRangePop(); }
#else
  static void push(const char*) noexcept {}
  static void pop() noexcept {}
#endif
  bool open_;
};

}  // namespace tunesmith
