// SPDX-License-Identifier: Apache-2.0
// An image at another size, between its four neighbours; rows staged in shared memory by asynchronous copies.
/* tunesmith
kernel = "resample"
tolerance = { relative = 1e-5, absolute = 1e-4 }
alignment_bytes = "4 * VEC"

[problem]
height = [1, 4096]
width = [1, 2048]
rows = [1, 8192]
cols = [1, 8192]

[arrays]
x = ["height", "width"]
y = { extents = ["rows", "cols"], role = "output" }

[axes]
BLOCK = [128, 64, 256]
VEC = [1, 2, 4]

[rules]
must = ["VEC == 1 || cols % VEC == 0"]

[launch]
grid = ["rows"]
block = "BLOCK"
shared_bytes = "8 * width"

[reference]
function = "resample_host"
*/
#include <cuda_pipeline.h>
#define BLOCK 128
#define VEC 1

struct Place {
  int at;
  float part;
};
__device__ Place place(int to, int many, int few) {
  float f = (to + 0.5f) * few / many - 0.5f;
  if (f < 0) f = 0;
  if (f > few - 1) f = few - 1;
  int at = (int)f;
  if (at > few - 2) at = few > 1 ? few - 2 : 0;
  return {at, f - at};
}
#if VEC == 4
typedef float4 Many;
#elif VEC == 2
typedef float2 Many;
#else
typedef float Many;
#endif

__global__ void resample(const float* __restrict__ x, float* __restrict__ y, int height, int width, int rows, int cols) {
  extern __shared__ float lines[];
  const int r = blockIdx.x;
  const Place v = place(r, rows, height);
  const float* upper = x + (size_t)v.at * width;
  const float* lower = height > 1 ? upper + width : upper;
  for (int i = threadIdx.x; i < width; i += BLOCK) {
    __pipeline_memcpy_async(lines + i, upper + i, 4);
    __pipeline_memcpy_async(lines + width + i, lower + i, 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int c = threadIdx.x * VEC; c < cols; c += BLOCK * VEC) {
    Many many;
    float* out = (float*)&many;
    for (int k = 0; k < VEC; ++k) {
      const Place h = place(c + k, cols, width);
      const int next = width > 1 ? h.at + 1 : h.at;
      const float a = lines[h.at] * (1 - h.part) + lines[next] * h.part;
      const float b = lines[width + h.at] * (1 - h.part) + lines[width + next] * h.part;
      out[k] = a * (1 - v.part) + b * v.part;
    }
    *reinterpret_cast<Many*>(y + (size_t)r * cols + c) = many;
  }
}

#ifndef __CUDACC__
#include <cmath>
void resample_host(const float* x, float* y, int height, int width, int rows, int cols) {
  const auto place_of = [](int to, int many, int few, int& at, double& part) {
    float f = (to + 0.5f) * few / many - 0.5f;
    if (f < 0) f = 0;
    if (f > few - 1) f = few - 1;
    at = (int)f;
    if (at > few - 2) at = few > 1 ? few - 2 : 0;
    part = f - at;
  };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) {
      int i, j;
      double p, q;
      place_of(r, rows, height, i, p);
      place_of(c, cols, width, j, q);
      const int i1 = height > 1 ? i + 1 : i, j1 = width > 1 ? j + 1 : j;
      const double a = x[(size_t)i * width + j] * (1 - q) + x[(size_t)i * width + j1] * q;
      const double b = x[(size_t)i1 * width + j] * (1 - q) + x[(size_t)i1 * width + j1] * q;
      y[(size_t)r * cols + c] = a * (1 - p) + b * p;
    }
}
#endif
