// SPDX-License-Identifier: Apache-2.0
// A linear recurrence y[i] = a * y[i - 1] + x[i] in whole numbers: blocks take tickets, and each hands its last number to
// the next by a word of cuda::atomic.
/* tunesmith
zeroed = ["ticket", "ready"]
[problem]
n = [1, 300000]
a = [2, 7]
[arrays]
x = ["n"]
ticket = { extents = [1], role = "workspace" }
ready = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
last = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
y = { extents = ["n"], role = "output" }
[axes]
BLOCK = [64, 32, 128]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "relay_host"
*/
#include <cuda/atomic>
#define BLOCK 64
__global__ void relay(const unsigned* x, unsigned* ticket, unsigned* ready, unsigned* last, unsigned* y, int n,
                      unsigned a) {
  __shared__ unsigned tile[BLOCK], power[BLOCK], number, before;
  const int t = threadIdx.x;
  if (t == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned mine = number;
  const int i = mine * BLOCK + t;
  tile[t] = i < n ? x[i] : 0;
  power[t] = a;
  __syncthreads();
  for (int by = 1; by < BLOCK; by *= 2) {
    const unsigned v = tile[t], p = power[t];
    const unsigned other = t >= by ? tile[t - by] : 0, times = t >= by ? power[t - by] : 1;
    __syncthreads();
    tile[t] = v + p * other;
    power[t] = p * times;
    __syncthreads();
  }
  if (t == BLOCK - 1) {
    unsigned carry = 0;
    if (mine > 0) {
      cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(ready[mine - 1]);
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
      carry = last[mine - 1];
    }
    before = carry;
    last[mine] = tile[t] + power[t] * carry;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> own(ready[mine]);
    own.store(1, cuda::memory_order_release);
  }
  __syncthreads();
  if (i < n) y[i] = tile[t] + power[t] * before;
}
void relay_host(const unsigned* x, unsigned* y, int n, unsigned a) {
  unsigned v = 0;
  for (int i = 0; i < n; ++i) y[i] = v = a * v + x[i];
}
