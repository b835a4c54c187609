// An array of floats where the dispatcher's kernels can reach it: ordinary memory on the host, else the
// GPU's.
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

class DeviceArray {
 public:
  DeviceArray(const tunesmith::Dispatcher& dispatcher, std::size_t count) : count_(count) {
    if (dispatcher.on_host()) {
      host_.resize(count);
      return;
    }
#ifdef WITH_CUDA
    check(cudaSetDevice(dispatcher.cuda_ordinal()));
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(float)));
    cuda_.reset(static_cast<float*>(memory));
#endif
  }

  float* data() { return host_.empty() ? cuda_.get() : host_.data(); }

  void upload(const std::vector<float>& from) {
    if (!host_.empty()) {
      host_ = from;
      return;
    }
#ifdef WITH_CUDA
    check(cudaMemcpy(data(), from.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
#endif
  }

  /// Waits for the kernels before it.
  std::vector<float> download() {
    if (!host_.empty()) return host_;
    std::vector<float> to(count_);
#ifdef WITH_CUDA
    check(cudaMemcpy(to.data(), data(), count_ * sizeof(float), cudaMemcpyDeviceToHost));
#endif
    return to;
  }

 private:
  struct Free {
    void operator()([[maybe_unused]] float* memory) const {
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
  std::vector<float> host_;
  std::unique_ptr<float, Free> cuda_;
};

/// Until the device has done all that was asked of it; on the host that is so already.
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
