// SPDX-License-Identifier: Apache-2.0
// CUB, and a kernel that runs at the peak rate of FFMAs, behind a C interface for contenders.py. Each
// function returns a cudaError_t. Those with temporary storage follow CUB: if it is null, they only write the
// number of bytes needed.
#include <cstddef>
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>
#include <cuda/std/tuple>

namespace {

// Adds its inputs, which is almost no arithmetic: the least time that memory allows for a function of this
// many inputs.
struct Traffic {
  template <typename... Values>
  __device__ float operator()(Values... values) const {
    return (values + ... + 1.0F);
  }
};

struct Add {
  __device__ float operator()(float x, float y) const { return x + y; }
};

// The formulas of the original Numba kernels, as in the op elementwise.
struct Hypot {
  __device__ float operator()(float x, float y) const {
    x = fabsf(x);
    y = fabsf(y);
    const float larger = fmaxf(x, y);
    if (larger == 0) return 0;
    const float ratio = fminf(x, y) / larger;
    return larger * sqrtf(1 + ratio * ratio);
  }
};

struct GaussianPdf {
  float mean, sigma;
  __device__ float operator()(float x) const {
    const float t = (x - mean) / sigma;
    return expf(-0.5F * t * t) / (sigma * 2.5066282746F);  // sqrt(2 pi)
  }
};

struct PolarDistance {
  __device__ float operator()(float rho1, float theta1, float rho2, float theta2) const {
    float sin1, cos1, sin2, cos2;
    sincosf(theta1, &sin1, &cos1);
    sincosf(theta2, &sin2, &cos2);
    const float x = rho1 * cos1 - rho2 * cos2;
    const float y = rho1 * sin1 - rho2 * sin2;
    return sqrtf(x * x + y * y);
  }
};

constexpr int chains = 8;  // of dependent FFMAs per thread
constexpr int ffma_threads = 256;

// The values keep changing in sign and digits, as in real data.
__global__ void ffma(float* never, int steps, float factor, float offset) {
  float value[chains];
  for (int i = 0; i < chains; ++i) value[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 32
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = fmaf(value[i], factor, offset);
  }
  float sum = 0;
  for (int i = 0; i < chains; ++i) sum += value[i];
  if (sum == 1e30F) *never = sum;  // never true, which the compiler cannot know
}

}  // namespace

extern "C" {

int peers_cub_version() { return CUB_VERSION; }

int peers_traffic1(const float* x, float* out, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(x), out, n, Traffic{}, stream);
}

int peers_traffic2(const float* x, const float* y, float* out, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), out, n, Traffic{}, stream);
}

int peers_traffic4(const float* x, const float* y, const float* z, const float* w, float* out, std::int64_t n,
                   cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y, z, w), out, n, Traffic{}, stream);
}

int peers_add(const float* x, const float* y, float* out, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), out, n, Add{}, stream);
}

int peers_hypot(const float* x, const float* y, float* out, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), out, n, Hypot{}, stream);
}

int peers_gaussian_pdf(const float* x, float mean, float sigma, float* out, std::int64_t n,
                       cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(x), out, n, GaussianPdf{mean, sigma}, stream);
}

int peers_polar_distance(const float* rho1, const float* theta1, const float* rho2, const float* theta2,
                         float* out, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple(rho1, theta1, rho2, theta2), out, n,
                                         PolarDistance{}, stream);
}

int peers_sum(void* temporary, std::size_t* bytes, const float* x, float* out, std::int64_t n,
              cudaStream_t stream) {
  return cub::DeviceReduce::Sum(temporary, *bytes, x, out, n, stream);
}

int peers_max(void* temporary, std::size_t* bytes, const float* x, float* out, std::int64_t n,
              cudaStream_t stream) {
  return cub::DeviceReduce::Max(temporary, *bytes, x, out, n, stream);
}

int peers_histogram_f32(void* temporary, std::size_t* bytes, const float* x, int* counts, int bins, float low,
                        float high, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(temporary, *bytes, x, counts, bins + 1, low, high, n, stream);
}

int peers_histogram_u8(void* temporary, std::size_t* bytes, const std::uint8_t* x, int* counts, int bins,
                       int low, int high, std::int64_t n, cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(temporary, *bytes, x, counts, bins + 1, low, high, n, stream);
}

/// Computes `count` fused multiply-adds, rounded up to a multiple of the grid's number per step.
int peers_ffma(float* never, double count, int multiprocessors, cudaStream_t stream) {
  const int blocks = multiprocessors * 8;
  const double in_a_step = static_cast<double>(blocks) * ffma_threads * chains;
  const int steps = static_cast<int>(count / in_a_step) + 1;
  ffma<<<blocks, ffma_threads, 0, stream>>>(never, steps, -0.9999999F, 1.5F);
  return cudaGetLastError();
}
}
