// SPDX-License-Identifier: Apache-2.0
// Scopes for calls of the CUDA runtime: the current device, and protection of the application's captures; the
// text of an error code, and functions of the driver.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace tunesmith {

/// True if a call was refused because a stream is being captured into a graph.
inline bool is_of_capture(cudaError_t code) {
  return code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
}

inline std::string to_string(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code) +
         (is_of_capture(code)
              ? "; a stream is being captured: make the plan before the capture, with prepare() "
                "or wait_until_ready()"
              : "");
}

/// Makes `ordinal` the calling thread's device, and restores the previous one at the end. If it is already
/// the current one, as usual, that costs one read of a thread-local.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal) {
    error_ = cudaGetDevice(&before_);
    if (error_ == cudaSuccess && before_ != ordinal) {
      error_ = cudaSetDevice(ordinal);
      changed_ = error_ == cudaSuccess;
    }
  }
  ~DeviceScope() {
    // A failure could not be reported from here, and is unlikely: this device was the current one before.
    if (changed_) static_cast<void>(cudaSetDevice(before_));
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  cudaError_t error() const { return error_; }

 private:
  int before_ = 0;
  cudaError_t error_ = cudaSuccess;
  bool changed_ = false;
};

/// While an object lives, this thread's calls do not end a stream's capture, whoever began it.
class OutsideCaptures {
 public:
  OutsideCaptures() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~OutsideCaptures() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Returns a function of the driver since CUDA 12.0; null if the driver does not have it.
template <typename Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  constexpr unsigned since = 12000;
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &found);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
  return code == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(function)
                                                                     : nullptr;
}

}  // namespace tunesmith
