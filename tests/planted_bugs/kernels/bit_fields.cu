// SPDX-License-Identifier: Apache-2.0
// Fields of bits of each row, mixed, added in 64 bits and counted by the lanes of a warp: instructions on bits by inline PTX.
/* tunesmith
[problem]
rows = [1, 3000]
words = [1, 4096]
[arrays]
x = ["rows", "words"]
mixed = { extents = ["rows", "words"], role = "output" }
sum = { extents = ["rows"], role = "output", dtype = "u64" }
odd = { extents = ["rows"], role = "output" }
[axes]
ROWS = [4, 1, 8]
UNROLL = [1, 2]
[launch]
grid = "ceil_div(rows, ROWS)"
block = [32, "ROWS"]
[reference]
function = "bits_host"
*/
#define ROWS 4
#define UNROLL 1
__device__ __forceinline__ unsigned field(unsigned x, unsigned from, unsigned bits) {
  unsigned made;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(made) : "r"(x), "r"(from), "r"(bits));
  return made;
}
__device__ __forceinline__ unsigned swapped(unsigned x) {
  unsigned made;
  asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(made) : "r"(x));
  return made;
}
__device__ __forceinline__ unsigned exclusive(unsigned a, unsigned b, unsigned c) {
  unsigned made;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(made) : "r"(a), "r"(b), "r"(c));
  return made;
}
__device__ __forceinline__ void add_product(unsigned long long& sum, unsigned a, unsigned b) {
  asm("mad.wide.u32 %0, %1, %2, %0;" : "+l"(sum) : "r"(a), "r"(b));
}
__device__ __forceinline__ unsigned of_lane(unsigned x, int by) {
  unsigned made;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(made) : "r"(x), "r"(by));
  return made;
}
__global__ void bit_fields(const unsigned* x, unsigned* mixed, unsigned long long* sum, unsigned* odd, int rows,
                           int words) {
  const int row = blockIdx.x * ROWS + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const unsigned* from = x + (size_t)row * words;
  unsigned* to = mixed + (size_t)row * words;
  unsigned long long all = 0;
  unsigned bits = 0;
#pragma unroll UNROLL
  for (int i = lane; i < words; i += 32) {
    unsigned one;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(one) : "l"(from + i));
    const unsigned made = exclusive(one, swapped(one), field(one, 5, 11));
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to + i), "r"(made) : "memory");
    add_product(all, made, field(one, 16, 16));
    unsigned count;
    asm("popc.b32 %0, %1;" : "=r"(count) : "r"(made));
    bits += count;
  }
  for (int by = 16; by > 0; by /= 2) {
    const unsigned low = of_lane((unsigned)all, by), high = of_lane((unsigned)(all >> 32), by);
    all += ((unsigned long long)high << 32) | low;
    bits += of_lane(bits, by);
  }
  if (lane == 0) {
    sum[row] = all;
    odd[row] = bits & 1;
  }
}
void bits_host(const unsigned* x, unsigned* mixed, unsigned long long* sum, unsigned* odd, int rows, int words) {
  for (int row = 0; row < rows; ++row) {
    sum[row] = 0;
    odd[row] = 0;
    for (int i = 0; i < words; ++i) {
      const unsigned one = x[(size_t)row * words + i];
      const unsigned turned = (one >> 24) | ((one >> 8) & 0xff00u) | ((one << 8) & 0xff0000u) | (one << 24);
      const unsigned made = one ^ turned ^ ((one >> 5) & 0x7ffu);
      mixed[(size_t)row * words + i] = made;
      sum[row] += (unsigned long long)made * (one >> 16);
      for (int bit = 0; bit < 32; ++bit) odd[row] ^= (made >> bit) & 1;
    }
  }
}
