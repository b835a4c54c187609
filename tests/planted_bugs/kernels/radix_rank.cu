// SPDX-License-Identifier: Apache-2.0
/* tunesmith
kernel = "radix_rank"

[problem]
blocks = [1, 300]
bit = { minimum = 0, maximum = 28, usual = [0, 28], default = 4 }

[arrays]
keys = ["blocks", 512]
sorted = { extents = ["blocks", 512], role = "output" }
digits = { extents = ["blocks", 16], role = "output", dtype = "u16" }

[axes]
THREADS = [128, 64, 256]
PAD = [1, 0]

[launch]
grid = "blocks"
block = "THREADS"

[reference]
kernel = "rank_plain"
grid = "blocks"
block = 1
*/
// A stable sort of 512 keys by four of their bits: counters per thread and digit, two in a word, and a scan of all.
constexpr int ITEMS = 512 / THREADS;
__global__ void radix_rank(const unsigned* __restrict__ keys, unsigned* __restrict__ sorted, unsigned short* digits,
                           int bit) {
  __shared__ unsigned short counter[16][THREADS + 2 * PAD];
  __shared__ unsigned short start[16];
  const int t = threadIdx.x;
  keys += blockIdx.x * 512;
  sorted += blockIdx.x * 512;
  for (int d = 0; d < 16; ++d) counter[d][t] = 0;
  unsigned key[ITEMS];
  unsigned short rank[ITEMS];
  for (int j = 0; j < ITEMS; ++j) {
    key[j] = keys[t * ITEMS + j];
    rank[j] = counter[key[j] >> bit & 15][t]++;
  }
  __syncthreads();
  if (t < 16) {
    unsigned short sum = 0;
    for (int i = 0; i < THREADS; ++i) {
      unsigned short c = counter[t][i];
      counter[t][i] = sum;
      sum += c;
    }
    digits[blockIdx.x * 16 + t] = sum;
    unsigned v = sum;
    for (int o = 1; o < 16; o <<= 1) {
      unsigned w = __shfl_up_sync(0xffffu, v, o, 16);
      if (t >= o) v += w;
    }
    start[t] = v - sum;
  }
  __syncthreads();
  for (int j = 0; j < ITEMS; ++j) {
    int d = key[j] >> bit & 15;
    sorted[start[d] + counter[d][t] + rank[j]] = key[j];
  }
}

__global__ void rank_plain(const unsigned* keys, unsigned* sorted, unsigned short* digits, int bit) {
  keys += blockIdx.x * 512;
  sorted += blockIdx.x * 512;
  int at = 0;
  for (unsigned d = 0; d < 16; ++d) {
    int first = at;
    for (int i = 0; i < 512; ++i)
      if ((keys[i] >> bit & 15) == d) sorted[at++] = keys[i];
    digits[blockIdx.x * 16 + d] = at - first;
  }
}
