// SPDX-License-Identifier: Apache-2.0
// Dot products of rows in 96 bits, by instructions with carries. The warps of a block meet at a barrier with a number,
// and the last block of a row adds what the others have left.
/* tunesmith
zeroed = ["done"]
[problem]
rows = [1, 100000]
cols = [1, 1000000]

[arrays]
a = ["rows", "cols"]
b = ["rows", "cols"]
parts = { extents = ["rows", "SPLIT"], role = "workspace" }
done = { extents = ["rows"], role = "workspace" }
sums = { extents = ["rows"], role = "output" }

[axes]
WARPS = [2, 4]
SPLIT = [1, 3]

[launch]
grid = ["SPLIT", "min(rows, 65535)"]
block = "32 * WARPS"

[reference]
kernel = "wide_plain"
*/
#define WARPS 2
#define SPLIT 1
struct Wide {
  unsigned word[3];
};
__device__ void multiply_add(Wide& sum, unsigned a, unsigned b) {
  asm("{\n  mad.lo.cc.u32 %0, %3, %4, %0;\n  madc.hi.cc.u32 %1, %3, %4, %1;\n  addc.u32 %2, %2, 0;\n}"
      : "+r"(sum.word[0]), "+r"(sum.word[1]), "+r"(sum.word[2])
      : "r"(a), "r"(b));
}
__device__ void add(Wide& sum, const Wide& one) {
  asm("add.cc.u32 %0, %0, %3;\n\taddc.cc.u32 %1, %1, %4;\n\taddc.u32 %2, %2, %5;"
      : "+r"(sum.word[0]), "+r"(sum.word[1]), "+r"(sum.word[2])
      : "r"(one.word[0]), "r"(one.word[1]), "r"(one.word[2]));
}
__device__ unsigned from_lane_below(unsigned x, int by) {
  unsigned made;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(made) : "r"(x), "r"(by));
  return made;
}

__global__ void wide_dot(const unsigned* __restrict__ a, const unsigned* __restrict__ b, Wide* parts, unsigned* done,
                         Wide* sums, int rows, int cols) {
  __shared__ Wide of_warp[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const size_t begin = (size_t)row * cols;
    Wide sum = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cols; i += SPLIT * blockDim.x)
      multiply_add(sum, a[begin + i], b[begin + i]);
    for (int by = 16; by > 0; by /= 2) {
      Wide other;
      for (int k = 0; k < 3; ++k) other.word[k] = from_lane_below(sum.word[k], by);
      add(sum, other);
    }
    if (lane == 0) of_warp[warp] = sum;
    if (warp > 0) {
      asm volatile("bar.arrive 1, %0;" ::"n"(32 * WARPS) : "memory");
    } else {
      asm volatile("bar.sync 1, %0;" ::"n"(32 * WARPS) : "memory");
    }
    if (threadIdx.x == 0) {
      Wide all = of_warp[0];
      for (int w = 1; w < WARPS; ++w) add(all, of_warp[w]);
      parts[(size_t)row * SPLIT + blockIdx.x] = all;
      asm volatile("membar.gl;" ::: "memory");
      unsigned before;
      asm volatile("atom.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(done + row), "n"(SPLIT - 1) : "memory");
      asm volatile("membar.gl;" ::: "memory");
      if (before == SPLIT - 1) {
        Wide whole = {};
        for (int s = 0; s < SPLIT; ++s) {
          Wide one;
          for (int k = 0; k < 3; ++k)
            asm volatile("ld.volatile.global.u32 %0, [%1];"
                         : "=r"(one.word[k])
                         : "l"(&parts[(size_t)row * SPLIT + s].word[k]));
          add(whole, one);
        }
        sums[row] = whole;
      }
    }
    __syncthreads();
  }
}
__global__ void wide_plain(const unsigned* a, const unsigned* b, Wide* sums, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  unsigned long long low = 0, high = 0;  // of 32 and of 64 bits
  for (int i = 0; i < cols; ++i) {
    const unsigned long long product = (unsigned long long)a[(size_t)row * cols + i] * b[(size_t)row * cols + i];
    low += product & 0xffffffffu;
    high += (product >> 32) + (low >> 32);
    low &= 0xffffffffu;
  }
  sums[row] = {{(unsigned)low, (unsigned)high, (unsigned)(high >> 32)}};
}
