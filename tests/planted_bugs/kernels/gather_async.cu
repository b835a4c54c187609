// SPDX-License-Identifier: Apache-2.0
// Rows that an index array names, brought to shared memory by copies of 16 bytes two stages ahead, scaled and added.
/* tunesmith
alignment_bytes = "16"
[problem]
picked = [1, 3000]
rows = [1, 2000]
cols = [4, 512]
[arrays]
table = ["rows", "cols"]
which = { extents = ["picked"], values = "index(rows)", dtype = "i32" }
weight = ["picked"]
y = { extents = ["ceil_div(picked, 8)", "cols"], role = "output" }
[axes]
BLOCK = [64, 32, 128]
STAGES = [2, 3]
[rules]
problem = "cols % 4 == 0"
[launch]
grid = "ceil_div(picked, 8)"
block = "BLOCK"
shared_bytes = "STAGES * cols * 4"
[reference]
function = "gather_host"
*/
#define BLOCK 64
#define STAGES 2
__device__ __forceinline__ void copy(float* to, const float* from, int bytes) {
  const unsigned at = __cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}
__global__ void gather_async(const float* table, const int* which, const float* weight, float* y, int picked, int rows,
                             int cols) {
  extern __shared__ float4 stages[];
  float* const tile = reinterpret_cast<float*>(stages);
  const int first = blockIdx.x * 8;
  const auto fetch = [&](int k) {
    const bool is_inside = first + k < picked;
    const float* row = table + (is_inside ? (size_t)which[first + k] * cols : 0);
    for (int i = threadIdx.x * 4; i < cols; i += BLOCK * 4)
      copy(tile + k % STAGES * cols + i, row + i, is_inside ? 16 : 0);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int k = 0; k < STAGES - 1; ++k) fetch(k);
  for (int k = 0; k < 8; ++k) {
    if (k + STAGES - 1 < 8)
      fetch(k + STAGES - 1);
    else
      asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    __syncthreads();
    const float times = first + k < picked ? weight[first + k] : 0;
    for (int i = threadIdx.x; i < cols; i += BLOCK) {
      float* const to = y + (size_t)blockIdx.x * cols + i;
      const float before = k == 0 ? 0 : *to;
      *to = before + times * tile[k % STAGES * cols + i];
    }
    __syncthreads();
  }
}
void gather_host(const float* table, const int* which, const float* weight, float* y, int picked, int rows, int cols) {
  for (int b = 0; b < (picked + 7) / 8; ++b)
    for (int i = 0; i < cols; ++i) {
      float sum = 0;
      for (int k = 0; k < 8 && b * 8 + k < picked; ++k)
        sum += weight[b * 8 + k] * table[(size_t)which[b * 8 + k] * cols + i];
      y[(size_t)b * cols + i] = sum;
    }
}
