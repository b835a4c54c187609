// SPDX-License-Identifier: Apache-2.0
// Counts different keys in a table with open addresses.
/* tunesmith
[problem]
n = [1, 1000000]
[arrays]
keys = { extents = ["n"], values = ["uniform(0, 1000)", "uniform(-100, 100)", "few(-1, 1)"] }
slots = { extents = ["4 * n"], role = "workspace" }
distinct = { extents = [1], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[[launch]]
kernel = "clear"
arguments = ["slots", "distinct", "4 * n"]
grid = "ceil_div(4 * n, BLOCK)"
block = "BLOCK"
[[launch]]
kernel = "insert"
arguments = ["keys", "slots", "distinct", "n", "4 * n"]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "distinct_host"
*/
#include <algorithm>
#include <vector>
#define BLOCK 128
#define EMPTY 0x80000000
__global__ void clear(int* slots, int* distinct, int capacity) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < capacity) slots[i] = EMPTY;
  if (i == 0) *distinct = 0;
}
__global__ void insert(const int* keys, int* slots, int* distinct, int n, int capacity) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  int key = keys[i];
  unsigned at = ((unsigned)key * 2654435761u) % capacity;
  while (true) {
    int old = atomicCAS(&slots[at], (int)EMPTY, key);
    if (old == (int)EMPTY) { atomicAdd(distinct, 1); return; }
    if (old == key) return;
    at = (at + 1) % capacity;
  }
}
void distinct_host(const int* keys, int* distinct, int n) {
  std::vector<int> all(keys, keys + n);
  std::sort(all.begin(), all.end());
  *distinct = std::unique(all.begin(), all.end()) - all.begin();
}
