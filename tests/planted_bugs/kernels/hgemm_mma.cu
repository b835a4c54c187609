// SPDX-License-Identifier: Apache-2.0
// A product of matrices of halves on tensor cores, as fast kernels have it: cp.async in stages, ldmatrix and
// mma.sync.
/* tunesmith
tolerance = 1e-4
alignment_bytes = 16
[problem]
m = [1, 4096]
n = [8, 4096]
k = [8, 4096]
[arrays]
a = ["m", "k"]
b = ["k", "n"]
c = { extents = ["m", "n"], role = "output" }
[axes]
WARPS_M = [2, 1]
WARPS_N = [1, 2]
DEPTH = [32, 16]
STAGES = [3, 2]
[rules]
problem = "n % 8 == 0 && k % 8 == 0"
[launch]
grid = ["ceil_div(n, 32 * WARPS_N)", "ceil_div(m, 32 * WARPS_M)"]
block = "32 * WARPS_M * WARPS_N"
[reference]
kernel = "hgemm_plain"
*/
#include <cuda_fp16.h>
#define WARPS_M 2
#define WARPS_N 1
#define DEPTH 32
#define STAGES 3
#define CP_ASYNC_CG(dst, src, bytes, read) \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;\n" ::"r"(dst), "l"(src), "n"(bytes), "r"(read))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))
#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                             \
  asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n"   \
               : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                               \
               : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr)                                                   \
  asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n"     \
               : "=r"(R0), "=r"(R1)                                                   \
               : "r"(addr))
#define HMMA16816F32(RD0, RD1, RD2, RD3, RA0, RA1, RA2, RA3, RB0, RB1)                                  \
  asm volatile(                                                                                         \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "     \
      "%9}, {%0, %1, %2, %3};\n"                                                                        \
      : "+f"(RD0), "+f"(RD1), "+f"(RD2), "+f"(RD3)                                                      \
      : "r"(RA0), "r"(RA1), "r"(RA2), "r"(RA3), "r"(RB0), "r"(RB1))

constexpr int BM = 32 * WARPS_M, BN = 32 * WARPS_N, PAD = 8, THREADS = 32 * WARPS_M * WARPS_N;

__global__ void __launch_bounds__(THREADS)
    hgemm_mma(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) half as[STAGES][BM][DEPTH + PAD];
  __shared__ __align__(16) half bs[STAGES][DEPTH][BN + PAD];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, t = threadIdx.x;
  const int lane = t % 32, warp_m = t / 32 % WARPS_M, warp_n = t / 32 / WARPS_M;
  const int tiles = (k + DEPTH - 1) / DEPTH;

  auto fetch = [&](int tile) {
    const int stage = tile % STAGES, k0 = tile * DEPTH;
    for (int i = t; i < BM * DEPTH / 8; i += THREADS) {
      const int r = i / (DEPTH / 8), d = i % (DEPTH / 8) * 8;
      const bool inside = row0 + r < m && k0 + d < k;
      const unsigned to = (unsigned)__cvta_generic_to_shared(&as[stage][r][d]);
      CP_ASYNC_CG(to, inside ? a + (size_t)(row0 + r) * k + k0 + d : a, 16, inside ? 16 : 0);
    }
    for (int i = t; i < DEPTH * BN / 8; i += THREADS) {
      const int d = i / (BN / 8), x = i % (BN / 8) * 8;
      const bool inside = k0 + d < k && col0 + x < n;
      const unsigned to = (unsigned)__cvta_generic_to_shared(&bs[stage][d][x]);
      CP_ASYNC_CG(to, inside ? b + (size_t)(k0 + d) * n + col0 + x : b, 16, inside ? 16 : 0);
    }
    CP_ASYNC_COMMIT_GROUP();
  };

  float acc[2][4][4] = {};
  for (int tile = 0; tile < STAGES - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    CP_ASYNC_WAIT_GROUP(STAGES - 2);
    __syncthreads();
    fetch(tile + STAGES - 1);
    const int stage = tile % STAGES;
    for (int kk = 0; kk < DEPTH; kk += 16) {
      unsigned fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i) {
        const half* from = &as[stage][warp_m * 32 + i * 16 + lane % 16][kk + lane / 16 * 8];
        LDMATRIX_X4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], (unsigned)__cvta_generic_to_shared(from));
      }
      for (int j = 0; j < 4; ++j) {
        const half* from = &bs[stage][kk + lane % 16][warp_n * 32 + j * 8];
        LDMATRIX_X2_T(fb[j][0], fb[j][1], (unsigned)__cvta_generic_to_shared(from));
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          HMMA16816F32(acc[i][j][0], acc[i][j][1], acc[i][j][2], acc[i][j][3], fa[i][0], fa[i][1], fa[i][2],
                       fa[i][3], fb[j][0], fb[j][1]);
    }
  }
  const int group = lane / 4, pair = lane % 4 * 2;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int col = col0 + warp_n * 32 + j * 8 + pair;
      for (int h = 0; h < 2; ++h) {
        const int row = row0 + warp_m * 32 + i * 16 + group + 8 * h;
        if (row < m && col < n)
          *reinterpret_cast<float2*>(&c[(size_t)row * n + col]) =
              make_float2(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
      }
    }
  }
}
__global__ void hgemm_plain(const half* a, const half* b, float* c, int m, int n, int k) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= (long long)m * n) return;
  double sum = 0;
  for (int l = 0; l < k; ++l)
    sum += (double)__half2float(a[i / n * k + l]) * __half2float(b[(size_t)l * n + i % n]);
  c[i] = (float)sum;
}
