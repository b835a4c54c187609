// SPDX-License-Identifier: Apache-2.0
// Kernels, and a CUDA device to load and launch them on. A test is skipped with the reason if there is no
// device.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "generator/error.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tuner/device/device_memory.h"

namespace tunesmith {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

inline constexpr const char* kernels = R"cuda(
extern "C" __global__ void empty() {}
extern "C" __global__ void add_one(int* counter) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  if (blockIdx.x == 0 && threadIdx.x == 0) *counter += 1;  // no atomic: launches that overlapped would lose counts
}
// MODE 0: waits first; 1: never waits; 2: waits after its stores, of what it does not read.
template <int MODE>
__device__ void copy_or_fill(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (MODE == 2 && i < n) out[i] = i;
#if __CUDA_ARCH__ >= 900
  if (MODE != 1) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (MODE != 2 && i < n) out[i] = in[i];
}
extern "C" __global__ void copy_after_wait(const int* in, int* out, int n) { copy_or_fill<0>(in, out, n); }
extern "C" __global__ void copy_without_wait(const int* in, int* out, int n) { copy_or_fill<1>(in, out, n); }
extern "C" __global__ void fill_before_wait(const int* in, int* out, int n) { copy_or_fill<2>(in, out, n); }
extern "C" __global__ void set(int* counter, int value, long long more, float and_float, double and_double) {
  *counter = value + (int)more + (int)and_float + (int)and_double;
}
struct Wide { long long of[3]; };
struct Narrow { int first, others[2]; };
struct Single { long long of; };
extern "C" __global__ void set_arrays(long long* out, int first, const __grid_constant__ Wide wide, Narrow narrow,
                                      double number, const Single last) {
  const int at = threadIdx.x;
  if (at == 0) out[at] = first;
  if (at > 0 && at < 4) out[at] = wide.of[at - 1];
  if (at == 4) out[at] = narrow.first;
  if (at > 4 && at < 7) out[at] = narrow.others[at - 5];
  if (at == 7) out[at] = (long long)number;
  if (at == 8) out[at] = last.of;
}
__constant__ float table[4];
extern "C" __global__ void read_table(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
__device__ unsigned launches;
extern "C" __global__ void read_table_late(float* out, long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {}
  out[threadIdx.x] = table[threadIdx.x] + 100 * (atomicAdd(&launches, 1u) / blockDim.x);
}
extern "C" __global__ void reverse(const int* in, int* out, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
}
extern "C" __global__ void __launch_bounds__(64) small_block() {}
extern "C" __global__ void some_shared() {
  __shared__ volatile int table_of_block[256];
  table_of_block[threadIdx.x] = 1;
}
extern "C" __global__ void burn(float* out, int rounds) {
  float a = threadIdx.x;
  for (int i = 0; i < rounds; ++i) a = a * 0.999f + 1.0f;
  if (a < 0) *out = a;
}
extern "C" __global__ void read_all(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  if (sum == 1.5f) *out = sum;  // it is not, but the compiler cannot know
}
extern "C" __global__ void clocks(long long count) {
  const long long begin = clock64();
  while (clock64() - begin < count) {}
}
extern "C" __global__ void overlapping_clocks(long long count) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  const long long begin = clock64();
  while (clock64() - begin < count) {}
}
// Demands that in[i] is i and that the workspace is zero, and leaves it so.
extern "C" __global__ void demand(const int* in, int n, int* out, unsigned* counter, int* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] != i) atomicAdd(wrong, 1);
  if (i < n) out[i] = in[i];
  if (threadIdx.x == 0 && atomicAdd(counter, 1) == gridDim.x - 1 && atomicExch(counter, 0) != gridDim.x) atomicAdd(wrong, 1);
}
extern "C" __global__ void scatter_bits(unsigned* out, long long n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    unsigned bits = (unsigned)i * 2654435761u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    out[i] = (bits ^ bits >> 13) & 0x3fffffffu;  // floats from 0 to 2
  }
}
extern "C" __global__ void copy(const float4* in, float4* out, long long n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    out[i] = in[i];
}
extern "C" __global__ void bad_write(float* out) { out[1ll << 44] = 1; }
)cuda";

inline const std::string& binary(const Device& device) {
  static const std::string bytes = [&] {
    const Compilation compiled = make_nvrtc_toolchain()->compile(
        {.text = kernels, .hash = "", .suffix = "", .kernels = {}, .target = device.facts().target});
    if (!compiled.ok) throw Error(compiled.log);
    return compiled.bytes;
  }();
  return bytes;
}

inline std::unique_ptr<Executable> load(Device& device, std::vector<Step> steps) {
  return device.load(binary(device), "", {.steps = std::move(steps)});
}

class CudaDevice : public GpuTest {
 protected:
  // Device memory with these contents.
  template <typename T>
  T* put(const std::vector<T>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    owned_.emplace_back(device(), bytes);
    device().upload(owned_.back().get(), values.data(), bytes);
    return owned_.back().as<T>();
  }
  template <typename T>
  std::vector<T> get(const T* memory, std::size_t count) {
    std::vector<T> values(count);
    device().download(values.data(), memory, static_cast<std::int64_t>(count * sizeof(T)));
    return values;
  }

 private:
  std::vector<DeviceMemory> owned_;
};

}  // namespace tunesmith
