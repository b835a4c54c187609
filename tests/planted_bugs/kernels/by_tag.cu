// SPDX-License-Identifier: Apache-2.0
// Sorts points by their tags in three launches, and marks those that equal the one before.
/* tunesmith
[problem]
n = [1, 10000000]

[arrays]
points = { extents = ["n"], values = { tag = [0, 15] } }
counts = { extents = ["ceil_div(n, BLOCK)", 16], role = "workspace" }
starts = { extents = ["ceil_div(n, BLOCK)", 16], role = "workspace" }
sorted = { extents = ["n"], role = "output" }
repeats = { extents = ["n"], role = "output" }

[axes]
BLOCK = [64, 32, 128]

[[launch]]
kernel = "count"
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"

[[launch]]
kernel = "scan"
grid = 1
block = 16
arguments = ["counts", "starts", "ceil_div(n, BLOCK)"]

[[launch]]
kernel = "scatter"
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"

[reference]
kernel = "sort_plain"
grid = 1
block = 16
*/
#define BLOCK 64
struct Point {
  unsigned char tag;
  float x, y;
};
__global__ void count(const Point* points, int* counts, int n) {
  __shared__ int all[16];
  if (threadIdx.x < 16) all[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) atomicAdd(&all[points[i].tag], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[blockIdx.x * 16 + threadIdx.x] = all[threadIdx.x];
}
// Where the points of a block with a tag begin.
__global__ void scan(const int* counts, int* starts, int blocks) {
  int own = 0;
  for (int b = 0; b < blocks; ++b) own += counts[b * 16 + threadIdx.x];
  int at = 0;
  for (int tag = 0; tag < 16; ++tag) {
    const int of_tag = __shfl_sync(0xffffu, own, tag, 16);
    if (tag < threadIdx.x) at += of_tag;
  }
  for (int b = 0; b < blocks; ++b) {
    starts[b * 16 + threadIdx.x] = at;
    at += counts[b * 16 + threadIdx.x];
  }
}
__device__ bool is_equal(const Point& a, const Point& b) { return a.tag == b.tag && a.x == b.x && a.y == b.y; }
__global__ void scatter(const Point* points, const int* starts, Point* sorted, int* repeats, int n) {
  __shared__ unsigned char tags[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  Point own = {};
  if (i < n) own = points[i];
  tags[threadIdx.x] = i < n ? own.tag : 255;
  __syncthreads();
  if (i >= n) return;
  int rank = 0;
  for (int t = 0; t < threadIdx.x; ++t) rank += tags[t] == own.tag;
  sorted[starts[blockIdx.x * 16 + own.tag] + rank] = own;
  repeats[i] = i > 0 && is_equal(own, points[i - 1]);
}
__global__ void sort_plain(const Point* points, Point* sorted, int* repeats, int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) at += points[i].tag < threadIdx.x;
  for (int i = 0; i < n; ++i)
    if (points[i].tag == threadIdx.x) {
      sorted[at++] = points[i];
      repeats[i] = i > 0 && points[i].tag == points[i - 1].tag && points[i].x == points[i - 1].x &&
                   points[i].y == points[i - 1].y;
    }
}
