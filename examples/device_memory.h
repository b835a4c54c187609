// SPDX-License-Identifier: Apache-2.0
// An array in memory that the dispatcher's kernels can access: ordinary memory on the host, else a GPU's.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "tunesmith/dispatcher.h"

template <typename T>
class DeviceArray {
 public:
  DeviceArray(const tunesmith::Dispatcher& dispatcher, std::size_t count)
      : count_(count), on_host_(dispatcher.on_host()) {
    if (on_host_) {
      host_.resize(count);
      return;
    }
#ifdef WITH_CUDA
    check(cudaSetDevice(dispatcher.cuda_ordinal()));
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)));
    cuda_.reset(static_cast<T*>(memory));
#endif
  }

  DeviceArray(const tunesmith::Dispatcher& dispatcher, const std::vector<T>& from)
      : DeviceArray(dispatcher, from.size()) {
    upload(from);
  }

  T* data() { return on_host_ ? host_.data() : cuda_.get(); }

  void upload(const std::vector<T>& from) {
    if (on_host_) {
      host_ = from;
      return;
    }
#ifdef WITH_CUDA
    check(cudaMemcpy(data(), from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
#endif
  }

  /// Waits for the kernels that were launched before.
  std::vector<T> download() {
    if (on_host_) return host_;
    std::vector<T> to(count_);
#ifdef WITH_CUDA
    check(cudaMemcpy(to.data(), data(), count_ * sizeof(T), cudaMemcpyDeviceToHost));
#endif
    return to;
  }

 private:
  struct Free {
    void operator()([[maybe_unused]] T* memory) const {
#ifdef WITH_CUDA
      cudaFree(memory);
#endif
    }
  };
#ifdef WITH_CUDA
  static void check(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error("CUDA: " + std::string(cudaGetErrorString(code)) + ".");
  }
#endif

  std::size_t count_;
  bool on_host_;
  std::vector<T> host_;
  std::unique_ptr<T, Free> cuda_;
};

/// Waits until the device has finished all launches; on the host a launch ends when its call returns.
inline void wait_for(const tunesmith::Dispatcher& dispatcher) {
#ifdef WITH_CUDA
  if (dispatcher.on_host()) return;
  if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess) {
    throw std::runtime_error("CUDA: " + std::string(cudaGetErrorString(code)) + ".");
  }
#else
  static_cast<void>(dispatcher);
#endif
}
