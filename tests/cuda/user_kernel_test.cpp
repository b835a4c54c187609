// SPDX-License-Identifier: Apache-2.0
// Compiles users' own kernels for GPUs.
#include "kernel_file/user_kernel.h"

#include "generator/ops.h"
#include "kernel_file/add.h"
#include "kernel_file/read.h"
#include "nvrtc.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

class UserKernelNvrtc : public Nvrtc {
 protected:
  // Some configs and the reference compile.
  void expect_compiles(const UserKernel& own, const std::string& given) {
    const Problem problem = complete_problem(own.op, Problem::parse(given));
    const Template& tmpl = own.op.templates.front();
    const Space space = tmpl.space(problem);
    for (const Config& config : space.sample(2, 1)) expect_compiles(own, tmpl, problem, config);
    expect_compiles(own, own.reference, problem, space.complete({}));
  }

 private:
  void expect_compiles(const UserKernel& own, const Template& tmpl, const Problem& problem,
                       const Config& config) {
    const Source source = render(own.op, tmpl, problem, config, "sm_90a");
    const Compilation compiled = toolchain_->compile(source);
    ASSERT_TRUE(compiled.ok) << problem.text() << " " << config.text() << "\n" << compiled.log;
    EXPECT_EQ(missing_symbols(tmpl, tmpl.work(problem, config), source, compiled.bytes), "");
  }
};

TEST_F(UserKernelNvrtc, TheExamplesCompile) {
  for (const char* name : {"convolution", "softmax_rows", "stencil", "tiled_matmul", "vector_add"}) {
    const UserKernel& own = add_user_kernel(
        read_kernel_file(source_folder + std::string("/examples/user_kernels/") + name + ".cu"));
    expect_compiles(own, own.op.examples.front());
  }
}

TEST_F(UserKernelNvrtc, HeadersOfTheToolkitAndOfC) {
  const UserKernel& own = add_user_kernel(KernelFile{.path = "twice.cu",
                                                     .cu = R"cu(/* tunesmith
type = "T"
dtype = ["f16", "bf16", "f32"]
[problem]
n = [1, 100000]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
[axes]
BLOCK = [64, 32]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
*/
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <math_constants.h>
#include <mma.h>

#include <cstdint>

__global__ void twice(const T* x, T* y, int n) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  const int64_t j = i;
  assert(j >= 0 && INFINITY > FLT_MAX && CUDART_INF_F > 0 && INT_MAX > 0);
  if (i < n) y[i] = x[i] + x[i];
  cooperative_groups::this_thread_block().sync();
}
)cu",
                                                     .description = {}});
  for (const char* dtype : {"f16", "bf16", "f32"}) expect_compiles(own, std::string("n=10 dtype=") + dtype);
}

// NVRTC cannot compile <cub/cub.cuh>, and has no std::.
TEST_F(UserKernelNvrtc, TheLibraryOfCppGroupsCubAndAStruct) {
  const UserKernel& own = add_user_kernel(KernelFile{.path = "collected.cu",
                                                     .cu = R"cu(/* tunesmith
[problem]
n = [1, 100000]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
[axes]
BLOCK = [64, 32]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
arguments = ["x", "y", { n = "n", weights = [1, 0.5], big = 7 }, { x = "n", y = 1 }]
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <algorithm>
#include <iostream>
#include <limits>
#include <type_traits>

namespace cg = cooperative_groups;
struct Parts {
  int n;
  float weights[2];
  long long big;
};
__global__ void collected(const float* x, float* y, Parts parts, int2 two) {
  using Sum = cub::BlockReduce<float, BLOCK>;
  __shared__ typename Sum::TempStorage storage;
  __shared__ alignas(16) float all[1];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  const int i = std::min<int>(blockIdx.x * BLOCK + threadIdx.x, parts.n - 1);
  const std::conditional_t<(BLOCK > 32), float, double> own = std::max(x[i], -std::numeric_limits<float>::max());
  const float sum = Sum(storage).Sum(std::abs((float)own));
  if (threadIdx.x == 0) all[0] = sum;
  bar.arrive_and_wait();
  y[i] = cg::reduce(cg::tiled_partition<16>(block), all[0], cg::plus<float>()) * parts.weights[1] + two.x;
}
)cu",
                                                     .description = {}});
  expect_compiles(own, "n=10");
}

// The kernel and the variables have the names by which they are found.
TEST_F(UserKernelNvrtc, TemplatesAndSymbols) {
  const UserKernel& own = add_user_kernel(KernelFile{.path = "weighted.cu",
                                                     .cu = R"cu(/* tunesmith
name = "weighted"
instantiate = "weigh<T, BLOCK, FAST>"
symbols = { weights = "w" }
zeroed = ["blocks"]
type = "T"
dtype = ["f64", "f32"]
[problem]
n = [1, 100000]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
w = { extents = ["8"], role = "constant", dtype = "f32" }
[axes]
BLOCK = [64, 32]
FAST = [true, false]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
kernel = "plain"
instantiate = "plain<T>"
*/
namespace own {
namespace {
static __constant__ float weights[8], others[2];
__device__ unsigned blocks;
template <typename T, int BLOCK, bool FAST = true>
__global__ void __launch_bounds__(BLOCK) weigh(const T* x, T* y, const __grid_constant__ int n);
template <typename T, int BLOCK, bool FAST>
__global__ void __launch_bounds__(BLOCK) weigh(const T* x, T* y, const __grid_constant__ int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (threadIdx.x == 0) atomicAdd(&blocks, 1u);
  if (i < n) y[i] = T(weights[FAST ? i & 7 : i % 8]) * x[i];
}
template <typename T> __global__ void weigh(T* y) {}
template <> __global__ void weigh<int>(int* y) {}
template __global__ void weigh<float, 16>(const float* x, float* y, const int n);
}
template <typename T> __global__ void plain(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = T(weights[i & 7]) * x[i];
}
}
)cu",
                                                     .description = {}});
  for (const char* dtype : {"f64", "f32"}) expect_compiles(own, std::string("n=10 dtype=") + dtype);
}

}  // namespace
}  // namespace tunesmith
