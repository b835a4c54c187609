// SPDX-License-Identifier: Apache-2.0
// Sorts small arrays of keys with their values in shared memory.
/* tunesmith
compiled_in = ["size"]
[problem]
arrays = [1, 65536]
size = { minimum = 2, maximum = 512, usual = [2, 512], default = 128 }
[arrays]
key = { extents = ["arrays", "size"], dtype = "u32" }
value = { extents = ["arrays", "size"], dtype = "u32" }
sorted_key = { extents = ["arrays", "size"], role = "output" }
sorted_value = { extents = ["arrays", "size"], role = "output" }
[axes]
PER = [1, 2, 4]
[launch]
grid = "ceil_div(arrays, PER)"
block = ["size / 2", "PER"]
[rules]
problem = "size == 2 || size == 4 || size == 8 || size == 64 || size == 128 || size == 256 || size == 512"
must = "size / 2 * PER <= 1024"
[reference]
function = "sort_host"
*/
constexpr int size = 128;
#define PER 1
__device__ void order(unsigned& ka, unsigned& va, unsigned& kb, unsigned& vb, bool up) {
  if ((ka > kb || (ka == kb && va > vb)) == up) {
    unsigned t = ka; ka = kb; kb = t;
    t = va; va = vb; vb = t;
  }
}
__global__ void bitonic(const unsigned* key, const unsigned* value, unsigned* sorted_key, unsigned* sorted_value, int arrays) {
  __shared__ unsigned k[PER][size], v[PER][size];
  const int a = blockIdx.x * PER + threadIdx.y, t = threadIdx.x;
  const size_t at = (size_t)a * size;
  for (int i = t; i < size; i += size / 2) {
    k[threadIdx.y][i] = a < arrays ? key[at + i] : 0;
    v[threadIdx.y][i] = a < arrays ? value[at + i] : 0;
  }
  for (int s = 2; s <= size; s <<= 1) {
    const bool up = (t & (s / 2)) == 0 || s == size;
    for (int stride = s / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      const int pos = 2 * t - (t & (stride - 1));
      order(k[threadIdx.y][pos], v[threadIdx.y][pos], k[threadIdx.y][pos + stride], v[threadIdx.y][pos + stride], up);
    }
  }
  __syncthreads();
  if (a < arrays)
    for (int i = t; i < size; i += size / 2) {
      sorted_key[at + i] = k[threadIdx.y][i];
      sorted_value[at + i] = v[threadIdx.y][i];
    }
}
#include <algorithm>
#include <utility>
#include <vector>
void sort_host(const unsigned* key, const unsigned* value, unsigned* sorted_key, unsigned* sorted_value, int arrays, int size) {
  for (long a = 0; a < arrays; ++a) {
    std::vector<std::pair<unsigned, unsigned>> all;
    for (int i = 0; i < size; ++i) all.emplace_back(key[a * size + i], value[a * size + i]);
    std::sort(all.begin(), all.end());
    for (int i = 0; i < size; ++i) { sorted_key[a * size + i] = all[i].first; sorted_value[a * size + i] = all[i].second; }
  }
}
