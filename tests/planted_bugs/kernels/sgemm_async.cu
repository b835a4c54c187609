// SPDX-License-Identifier: Apache-2.0
// A product of matrices whose next tiles are copied by cp.async while one is multiplied.
/* tunesmith
[problem]
m = [1, 4096]
n = [4, 4096]
k = [1, 4096]
[arrays]
a = ["m", "k"]
b = ["k", "n"]
c = { extents = ["m", "n"], role = "output" }
[axes]
TILE = [32, 64]
DEPTH = [8, 16]
STAGES = [2, 3]
[rules]
problem = "n % 4 == 0"
[launch]
grid = ["ceil_div(n, TILE)", "ceil_div(m, TILE)"]
block = "TILE * TILE / 16"
[reference]
function = "gemm_host"
*/
#define TILE 32
#define DEPTH 8
#define STAGES 2
constexpr int threads = TILE * TILE / 16;

__device__ __forceinline__ unsigned shared_address(const void* at) {
  unsigned address;
  asm("{\n"
      "  .reg .u64 wide;\n"
      "  cvta.to.shared.u64 wide, %1;\n"
      "  cvt.u32.u64 %0, wide;\n"
      "}\n"
      : "=r"(address)
      : "l"(at));
  return address;
}
// Four bytes, or zeros.
__device__ __forceinline__ void copy_one(float* to, const float* from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(shared_address(to)), "l"(from),
               "r"(inside ? 4 : 0));
}
// Sixteen bytes, or zeros.
__device__ __forceinline__ void copy_four(float* to, const float* from, bool inside) {
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  setp.ne.b32 p, %0, 0;\n"
      "  @p cp.async.cg.shared.global.L2::128B [%1], [%2], 16;\n"
      "  @!p st.shared.v4.f32 [%1], {%3, %3, %3, %3};\n"
      "}\n" ::"r"((int)inside),
      "r"(shared_address(to)), "l"(from), "f"(0.0f));
}

__global__ void __launch_bounds__(threads)
    sgemm_async(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float as[STAGES][DEPTH][TILE];
  __shared__ __align__(16) float bs[STAGES][DEPTH][TILE];
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, t = threadIdx.x;
  const int tiles = (k + DEPTH - 1) / DEPTH;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      const int stage = tile % STAGES, k0 = tile * DEPTH;
      for (int i = t; i < DEPTH * TILE; i += threads) {
        const int r = i / DEPTH, d = i % DEPTH;
        const bool inside = row0 + r < m && k0 + d < k;
        copy_one(&as[stage][d][r], inside ? a + (size_t)(row0 + r) * k + k0 + d : a, inside);
      }
      for (int i = t; i < DEPTH * TILE / 4; i += threads) {
        const int d = i / (TILE / 4), x = i % (TILE / 4) * 4;
        const bool inside = k0 + d < k && col0 + x < n;
        copy_four(&bs[stage][d][x], b + (size_t)(k0 + d) * n + col0 + x, inside);
      }
    }
    asm volatile("cp.async.commit_group;\n" ::);
  };
  float sum[4][4] = {};
  const int y = t / (TILE / 4) * 4, x = t % (TILE / 4) * 4;
  for (int tile = 0; tile < STAGES - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2));
    __syncthreads();
    fetch(tile + STAGES - 1);
    const int stage = tile % STAGES;
    for (int d = 0; d < DEPTH; ++d) {
      float4 av, bv;
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(av.x), "=f"(av.y), "=f"(av.z), "=f"(av.w)
                   : "r"(shared_address(&as[stage][d][y])));
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(bv.x), "=f"(bv.y), "=f"(bv.z), "=f"(bv.w)
                   : "r"(shared_address(&bs[stage][d][x])));
      const float ar[4] = {av.x, av.y, av.z, av.w}, br[4] = {bv.x, bv.y, bv.z, bv.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum[i][j]) : "f"(ar[i]), "f"(br[j]));
    }
  }
  for (int i = 0; i < 4; ++i)
    if (row0 + y + i < m && col0 + x < n)
      asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(c + (size_t)(row0 + y + i) * n + col0 + x),
                   "f"(sum[i][0]), "f"(sum[i][1]), "f"(sum[i][2]), "f"(sum[i][3])
                   : "memory");
}
void gemm_host(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int l = 0; l < k; ++l) s += (double)a[(size_t)i * k + l] * b[(size_t)l * n + j];
      c[(size_t)i * n + j] = (float)s;
    }
  }
}
