// SPDX-License-Identifier: Apache-2.0
// Counts of 16-bit keys by their upper bits: a block counts its part in shared memory, two bins of 16 bits in a word; the
// block that ends last finds the fullest bin.
/* tunesmith
kernel = "hist16"

[problem]
n = [1, 100000000]

[arrays]
keys = { extents = ["n"], values = ["uniform(0, 65535)", "equal(777)", "few(0, 65535)", "sorted(0, 65535)"] }
bins = { extents = ["256"], role = "inout", values = "equal(0)" }
done = { extents = ["1"], role = "inout", values = "equal(0)" }
fullest = { extents = ["1"], role = "output" }

[axes]
BLOCK = [256, 128, 512]
PER = [8, 1, 32, 120]
VEC = [1, 2, 4]

[rules]
must = ["PER % VEC == 0 || PER == 1", "VEC == 1 || PER > 1"]

[launch]
grid = "ceil_div(n, BLOCK * PER)"
block = "BLOCK"

[reference]
function = "hist_host"
*/
#define BLOCK 256
#define PER 8
#define VEC 1

__device__ void count(unsigned* s, unsigned short key) {
  const int bin = key >> 8;
  atomicAdd(&s[bin / 2], bin % 2 ? 0x10000u : 1u);
}

__global__ void hist16(const unsigned short* keys, unsigned* bins, unsigned* done, unsigned* fullest, int n) {
  __shared__ unsigned s[128];
  __shared__ bool last;
  __shared__ unsigned best[BLOCK];
  for (int i = threadIdx.x; i < 128; i += BLOCK) s[i] = 0;
  __syncthreads();
  const long long first = (long long)blockIdx.x * (BLOCK * PER);
#if VEC == 1
  for (int k = 0; k < PER; ++k) {
    const long long i = first + k * BLOCK + threadIdx.x;
    if (i < n) count(s, keys[i]);
  }
#else
  for (int k = 0; k < PER; k += VEC) {
    const long long i = first + k * BLOCK + threadIdx.x * VEC;
    for (int v = 0; v < VEC; ++v)
      if (i + v < n) count(s, keys[i + v]);
  }
#endif
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += BLOCK) {
    if (s[i] & 0xffff) atomicAdd(&bins[2 * i], s[i] & 0xffff);
    if (s[i] >> 16) atomicAdd(&bins[2 * i + 1], s[i] >> 16);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  unsigned most = 0, which = 0;
  for (unsigned i = threadIdx.x; i < 256; i += BLOCK) {
    const unsigned c = ((volatile unsigned*)bins)[i];
    if (c > most) {
      most = c;
      which = i;
    }
  }
  best[threadIdx.x] = most;
  if (threadIdx.x == 0) *fullest = 255;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half && best[threadIdx.x + half] > best[threadIdx.x]) best[threadIdx.x] = best[threadIdx.x + half];
    __syncthreads();
  }
  if (most == best[0]) atomicMin(fullest, which);
  if (threadIdx.x == 0) *done = 0;
}

#ifndef __CUDACC__
void hist_host(const unsigned short* keys, unsigned* bins, unsigned* done, unsigned* fullest, int n) {
  for (int i = 0; i < n; ++i) ++bins[keys[i] >> 8];
  *fullest = 0;
  for (unsigned i = 1; i < 256; ++i)
    if (bins[i] > bins[*fullest]) *fullest = i;
  *done = 0;
}
#endif
