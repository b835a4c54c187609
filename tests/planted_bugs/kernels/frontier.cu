// SPDX-License-Identifier: Apache-2.0
// Counts the nodes that edges lead to, each once, as a search does level by level.
/* tunesmith
[problem]
nodes = [1, 1000000]
edges = [1, 10000000]
[arrays]
target = { extents = ["edges"], values = "index(nodes)" }
seen = { extents = ["nodes"], role = "inout", values = "equal(0)" }
count = { extents = [1], role = "inout", values = "equal(0)" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(edges, BLOCK)"
block = "BLOCK"
[reference]
function = "count_host"
*/
#define BLOCK 128
__global__ void frontier(const int* target, int* seen, int* count, int edges) {
  int e = blockIdx.x * BLOCK + threadIdx.x;
  if (e >= edges) return;
  int v = target[e];
  if (atomicExch(&seen[v], 1) == 0) atomicAdd(count, 1);
}
void count_host(const int* target, int* seen, int* count, int edges) {
  for (int e = 0; e < edges; ++e) if (!seen[target[e]]) { seen[target[e]] = 1; ++*count; }
}
