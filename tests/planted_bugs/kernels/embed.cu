// SPDX-License-Identifier: Apache-2.0
// The gradient of an embedding: rows are added where their tokens say.
/* tunesmith
zeroed = ["grad"]
[problem]
tokens = [1, 100000]
vocab = [1, 5000000]
dim = [1, 4096]
[arrays]
token = { extents = ["tokens"], values = "index(vocab)" }
out_grad = ["tokens", "dim"]
grad = { extents = ["vocab", "dim"], role = "output" }
[axes]
BX = [32, 64, 16]
BY = [4, 8, 2]
[launch]
grid = ["ceil_div(tokens, BY)"]
block = ["BX", "BY"]
[reference]
function = "embed_host"
*/
#define BX 32
#define BY 4
__global__ void embed(const int* token, const float* out_grad, float* grad, int tokens, int dim) {
  int t = blockIdx.x * BY + threadIdx.y;
  if (t >= tokens) return;
  const float* from = out_grad + (size_t)t * dim;
  float* to = grad + (size_t)token[t] * dim;
  for (int d = threadIdx.x; d < dim; d += BX) atomicAdd(&to[d], from[d]);
}
#include <vector>
void embed_host(const int* token, const float* out_grad, float* grad, int tokens, int vocab, int dim) {
  std::vector<double> s((size_t)vocab * dim);
  for (long t = 0; t < tokens; ++t)
    for (long d = 0; d < dim; ++d) s[token[t] * (long)dim + d] += out_grad[t * dim + d];
  for (size_t i = 0; i < s.size(); ++i) grad[i] = s[i];
}
