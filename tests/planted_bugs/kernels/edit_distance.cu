// SPDX-License-Identifier: Apache-2.0
/* tunesmith
kernel = "edit_distance"

[problem]
pairs = [1, 5000]
la = { minimum = 1, maximum = 256, usual = [1, 200], default = 40 }
lb = { minimum = 1, maximum = 256, usual = [1, 200], default = 50 }

[arrays]
a = { extents = ["pairs", "la"], dtype = "i8", values = ["uniform(0, 3)", "equal(1)"] }
b = { extents = ["pairs", "lb"], dtype = "i8", values = ["uniform(0, 3)", "equal(1)"] }
distance = { extents = ["pairs"], dtype = "i16", role = "output" }

[axes]
THREADS = [64, 32, 128]
PACK = [0, 1]

[launch]
grid = "pairs"
block = "THREADS"

[reference]
kernel = "edit_plain"
grid = "pairs"
block = 1
*/
// Three diagonals of the table in shared memory; a block per pair of strings.
__global__ void edit_distance(const char* __restrict__ a, const char* __restrict__ b, short* distance, int la, int lb) {
  __shared__ short diagonal[3][257 + PACK];
  __shared__ char first[256];
  a += blockIdx.x * la;
  b += blockIdx.x * lb;
  for (int i = threadIdx.x; i < la; i += THREADS) first[i] = a[i];
  __syncthreads();
  for (int d = 0; d <= la + lb; ++d) {
    short* now = diagonal[d % 3];
    const short *last = diagonal[(d + 2) % 3], *older = diagonal[(d + 1) % 3];
    const int low = max(0, d - lb), high = min(d, la);
    for (int i = low + threadIdx.x; i <= high; i += THREADS) {
      const int j = d - i;
      short best;
      if (i == 0 || j == 0) {
        best = i + j;
      } else {
        best = older[i - 1] + (first[i - 1] != b[j - 1]);
        best = min(best, (short)(last[i - 1] + 1));
        best = min(best, (short)(last[i] + 1));
      }
      now[i] = best;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) distance[blockIdx.x] = diagonal[(la + lb) % 3][la];
}

__global__ void edit_plain(const char* a, const char* b, short* distance, int la, int lb) {
  a += blockIdx.x * la;
  b += blockIdx.x * lb;
  int row[257];
  for (int j = 0; j <= lb; ++j) row[j] = j;
  for (int i = 1; i <= la; ++i) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= lb; ++j) {
      int best = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  distance[blockIdx.x] = row[lb];
}
