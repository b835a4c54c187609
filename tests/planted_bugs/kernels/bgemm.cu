// SPDX-License-Identifier: Apache-2.0
// C[b] = A[b] B[b] for a batch of row-major matrices of half, sums in float, the result in half.
/* tunesmith
kernel = "bgemm"
what = "C[b] = A[b] B[b], half in, half out, float sums"
flops = "2 * batch * m * n * k"
alignment_bytes = 4

[problem]
batch = [1, 64]
m = [1, 4096]
n = [2, 4096]
k = [2, 4096]

[arrays]
A = ["batch", "m", "k"]
B = ["batch", "k", "n"]
C = { extents = ["batch", "m", "n"], role = "output" }

[axes]
TILE_M = [32, 16, 64, 128]
TILE_N = [32, 64, 128]
TILE_K = [16, 8, 32]
PER_M = [2, 1, 4, 8]
PER_N = [2, 4, 8]
STAGES = [1, 2]

[rules]
problem = [{ rule = "n % 2 == 0 && k % 2 == 0", why = "Rows start at pairs." }]
must = ["TILE_M % PER_M == 0 && TILE_N % PER_N == 0",
        "(TILE_M / PER_M) * (TILE_N / PER_N) <= 1024"]
worth = "(TILE_M / PER_M) * (TILE_N / PER_N) >= 64 && PER_M * PER_N <= 32"

[launch]
grid = ["ceil_div(n, TILE_N)", "ceil_div(m, TILE_M)", "batch"]
block = ["TILE_N / PER_N", "TILE_M / PER_M"]

[reference]
kernel = "bgemm_plain"
*/
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define TILE_M 32
#define TILE_N 32
#define TILE_K 16
#define PER_M 2
#define PER_N 2
#define STAGES 1

constexpr int TX = TILE_N / PER_N, TY = TILE_M / PER_M, THREADS = TX * TY;

__global__ void bgemm(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C, int m, int n,
                      int k) {
  __shared__ __align__(16) __half a[STAGES][TILE_M][TILE_K];
  __shared__ __align__(16) __half b[STAGES][TILE_K][TILE_N];
  A += (size_t)blockIdx.z * m * k;
  B += (size_t)blockIdx.z * k * n;
  C += (size_t)blockIdx.z * m * n;
  const int thread = threadIdx.y * TX + threadIdx.x;
  const int top = blockIdx.y * TILE_M, left = blockIdx.x * TILE_N;
  const __half2 zero = __float2half2_rn(0.0f);

  auto load = [&](int stage, int first) {
    for (int i = thread; i < TILE_M * TILE_K / 2; i += THREADS) {
      const int r = i / (TILE_K / 2), c = i % (TILE_K / 2) * 2;
      if (top + r < m && first + c < k)
        __pipeline_memcpy_async(&a[stage][r][c], &A[(size_t)(top + r) * k + first + c], 4);
      else
        *reinterpret_cast<__half2*>(&a[stage][r][c]) = zero;
    }
    for (int i = thread; i < TILE_K * TILE_N / 2; i += THREADS) {
      const int r = i / (TILE_N / 2), c = i % (TILE_N / 2) * 2;
      if (first + r < k && left + c < n)
        __pipeline_memcpy_async(&b[stage][r][c], &B[(size_t)(first + r) * n + left + c], 4);
      else
        *reinterpret_cast<__half2*>(&b[stage][r][c]) = zero;
    }
    __pipeline_commit();
  };

  float sum[PER_M][PER_N] = {};
  if (STAGES == 2) load(0, 0);
  int stage = 0;
  for (int first = 0; first < k; first += TILE_K) {
    if (STAGES == 1) {
      load(0, first);
      __pipeline_wait_prior(0);
    } else {
      if (first + TILE_K < k) {
        load(stage ^ 1, first + TILE_K);
        __pipeline_wait_prior(1);
      } else {
        __pipeline_wait_prior(0);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
      float right[PER_N];
#pragma unroll
      for (int q = 0; q < PER_N / 2; ++q) {
        const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&b[stage][i][2 * (threadIdx.x + q * TX)]));
        right[2 * q] = f.x;
        right[2 * q + 1] = f.y;
      }
#pragma unroll
      for (int p = 0; p < PER_M; ++p) {
        const float l = __half2float(a[stage][threadIdx.y + p * TY][i]);
#pragma unroll
        for (int q = 0; q < PER_N; ++q) sum[p][q] = fmaf(l, right[q], sum[p][q]);
      }
    }
    __syncthreads();
    if (STAGES == 2) stage ^= 1;
  }
#pragma unroll
  for (int p = 0; p < PER_M; ++p) {
    const int r = top + threadIdx.y + p * TY;
    if (r >= m) continue;
#pragma unroll
    for (int q = 0; q < PER_N / 2; ++q) {
      const int c = left + 2 * (threadIdx.x + q * TX);
      if (c < n) *reinterpret_cast<__half2*>(&C[(size_t)r * n + c]) = __floats2half2_rn(sum[p][2 * q], sum[p][2 * q + 1]);
    }
  }
}

__global__ void bgemm_plain(const __half* A, const __half* B, __half* C, int batch, int m, int n, int k) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)batch * m * n) return;
  const size_t matrix = i / ((size_t)m * n), r = i / n % m, c = i % n;
  double sum = 0;
  for (int j = 0; j < k; ++j)
    sum += (double)__half2float(A[(matrix * m + r) * k + j]) * (double)__half2float(B[(matrix * k + j) * n + c]);
  C[i] = __float2half((float)sum);
}
