// SPDX-License-Identifier: Apache-2.0
#include "cuda.h"

#include <stdexcept>
#include <string>

#ifdef TUNESMITH_HAS_CUDA
#include <cuda_runtime.h>
#endif

namespace tunesmith::python {

#ifdef TUNESMITH_HAS_CUDA
namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next call would report it again
  throw std::runtime_error(std::string(what) + " failed: " + cudaGetErrorString(error) + ".");
}

}  // namespace

std::string built_with_cuda() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

int device_of(const void* pointer) {
  if (pointer == nullptr) return 0;
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "Asking CUDA for the device of an array");
  return attributes.device;
}

CurrentDevice::CurrentDevice(int ordinal) {
  int now = -1;
  check(cudaGetDevice(&now), "Asking for the current CUDA device");
  if (now == ordinal) return;
  check(cudaSetDevice(ordinal), "Selecting a CUDA device");
  before_ = now;
}

CurrentDevice::~CurrentDevice() {
  if (before_ >= 0) cudaSetDevice(before_);
}

DeviceMemory::DeviceMemory(std::int64_t bytes) : bytes_(bytes) {
  if (bytes > 0) check(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "Allocating memory of the GPU");
}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

void DeviceMemory::fill_from(const void* host) {
  if (bytes_ > 0)
    check(cudaMemcpy(data_, host, static_cast<std::size_t>(bytes_), cudaMemcpyHostToDevice),
          "Copying to the GPU");
}

void DeviceMemory::copy_to(void* host) const {
  if (bytes_ > 0)
    check(cudaMemcpy(host, data_, static_cast<std::size_t>(bytes_), cudaMemcpyDeviceToHost),
          "Copying from the GPU");
}

void synchronize() { check(cudaDeviceSynchronize(), "Waiting for the GPU"); }
#else
namespace {
[[noreturn]] void refuse() {
  throw std::runtime_error("This build of Tunesmith has no CUDA; build it where the CUDA toolkit is.");
}
}  // namespace

std::string built_with_cuda() { return ""; }
int device_of(const void* /*pointer*/) { refuse(); }
CurrentDevice::CurrentDevice(int /*ordinal*/) { refuse(); }
CurrentDevice::~CurrentDevice() = default;
DeviceMemory::DeviceMemory(std::int64_t bytes) : bytes_(bytes) { refuse(); }
DeviceMemory::~DeviceMemory() = default;
void DeviceMemory::fill_from(const void* /*host*/) { refuse(); }
void DeviceMemory::copy_to(void* /*host*/) const { refuse(); }
void synchronize() { refuse(); }
#endif

}  // namespace tunesmith::python
