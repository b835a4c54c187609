// SPDX-License-Identifier: Apache-2.0
// Tests the descriptions that are written of kernels' files, in tests/golden/described.txt
// (TUNESMITH_UPDATE_GOLDEN=1 writes it anew). Those without question marks must be accepted as they stand.
#include "kernel_file/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/described_op.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string described_text(const std::string& cu, const std::string& kernel = "") {
  return described({.path = "own.cu", .cu = cu, .description = {}}, kernel,
                   [](const std::string& name) { return name == "transpose"; });
}

// An author's program around a kernel.
const std::string vector_add =
    "#include <iostream>\n#define N (1 << 20)\n"
    "__global__ void add(const float* a, const float* b, float* c, int n, float factor) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) c[i] = a[i] + factor * b[i];\n}\n"
    "int main() {\n  float *d_a, *d_b, *d_c;\n  size_t bytes = N * sizeof(float);\n  cudaMalloc(&d_a, "
    "bytes);\n"
    "  cudaMalloc((void**)&d_b, bytes);\n  cudaMalloc(&d_c, N * sizeof(float));\n  int threads = 256;\n"
    "  int blocks = (N + threads - 1) / threads;\n  add<<<blocks, threads>>>(d_a, d_b, d_c, N, 0.5f);\n}\n";

const std::string product =
    "#define TILE 16\ntemplate <typename T, int WORK>\n"
    "__global__ void product(const T* A, const T* B, T* C, int m, int n, int k) {\n"
    "  __shared__ T tile[TILE][TILE];\n  int row = blockIdx.y * TILE + threadIdx.y, unused = WORK;\n"
    "  int col = blockIdx.x * TILE + threadIdx.x;\n  if (row < m && col < n) {\n    T sum = 0;\n"
    "    for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];\n    C[row * n + col] = sum;\n  "
    "}\n}\n"
    "static int up(int a, int b) { return (a + b - 1) / b; }\n"
    "void launch(const double* A, const double* B, double* C, int M, int N, int K) {\n  dim3 block(TILE, "
    "TILE);\n"
    "  dim3 grid(up(N, block.x), up(M, block.y));\n  product<double, 4><<<grid, block>>>(A, B, C, M, N, "
    "K);\n}\n"
    "int main() {\n  double *a, *b, *c;\n  int m = 100, n = 200, k = 300;\n  cudaMalloc(&a, m * k * "
    "sizeof(double));\n"
    "  cudaMalloc(&b, k * n * sizeof(double));\n  cudaMalloc(&c, m * n * sizeof(double));\n"
    "  launch(a, b, c, m, n, k);\n}\n";

// Tuners have kernels so: constants from outside, no host code.
const std::string of_tuner =
    "__constant__ float weights[5];\n#if use_cache == 1\n#define LOAD(x) __ldg(&(x))\n#else\n#define LOAD(x) "
    "x\n#endif\n"
    "__global__ void blur(float* out, const float* in, int height, int width) {\n"
    "  int x = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;\n"
    "  int y = blockIdx.y * block_size_y + threadIdx.y;\n  if (y >= height) return;\n#pragma unroll\n"
    "  for (int t = 0; t < tile_size_x; ++t, x += block_size_x)\n"
    "    if (x < width) out[y * width + x] = weights[2] * LOAD(in[y * width + x]);\n}\n";

const std::string open =
    "struct Item { int key; float value; };\nextern __shared__ float buffer[];\n__device__ int counter;\n"
    "__global__ void sort(Item* items, int* order, int stride, int first, bool up) {\n"
    "  int at = order[threadIdx.x + first] + counter;\n  buffer[threadIdx.x] = items[at * stride].value;\n"
    "  items[at].key = up ? 1 : 2;\n  atomicAdd(&order[0], 1);\n}\n";

const std::string unguarded =
    "__global__ void twice(const float4* x, float4* y) {\n  int block = blockIdx.x;\n"
    "  int i = block * blockDim.x + threadIdx.x;\n  y[i] = make_float4(x[i].x, x[i].y, x[i].z, x[i].w);\n}\n";

const std::string several =
    "#define WARP_SIZE 32\n__global__ void rows(float* y, const float* x, int R, int C) {\n"
    "  int row = blockIdx.x * blockDim.y + threadIdx.y;\n  if (row >= R) return;\n"
    "  for (int i = threadIdx.x; i < C; i += WARP_SIZE) y[row * C + i] += x[row * C + i];\n}\n"
    "__global__ void transpose(float* y, const float* x, int n) { y[threadIdx.x] = x[n]; }\n"
    "void run(float* y, const float* x, int B, int T, int C, int block_size) {\n  const int R = B * T;\n"
    "  int block_y = block_size / WARP_SIZE;\n  const int grid = (R - 1) / block_y + 1;\n"
    "  rows << < grid, dim3(WARP_SIZE, block_y) >> > (y, x, R, C);\n}\n"
    "int main() { float *y, *x; int B = 8, T = 16, C = 32; cudaMalloc(&y, B * T * C * sizeof(float));\n"
    "  cudaMalloc(&x, B * T * C * sizeof(float)); run(y, x, B, T, C, 128); transpose<<<1, 64>>>(y, x, 5); "
    "}\n";

const std::string whole_blocks =
    "#define BLOCK_SIZE 128\n__global__ void step(int n, const float* v, float* out) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i] = v[i] + v[i + 2 * n];\n}\n"
    "void run(int n, const float* v, float* out) {\n  dim3 grid(n / BLOCK_SIZE), block(BLOCK_SIZE);\n"
    "  step<<<grid, block>>>(n, v, out);\n}\n";

const std::string per_block =
    "__global__ void sum(const int* v, int* sums) {\n  __shared__ int part[256];\n"
    "  int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;\n  part[threadIdx.x] = v[i] + v[i + "
    "blockDim.x];\n"
    "  __syncthreads();\n  for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n"
    "    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];\n    __syncthreads();\n  }\n"
    "  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];\n}\n"
    "int main() {\n  const int n = 1 << 16, SIZE = 256;\n  int *v, *sums;\n  cudaMalloc(&v, n * "
    "sizeof(int));\n"
    "  cudaMalloc(&sums, n * sizeof(int));\n  sum<<<n / SIZE / 2, SIZE>>>(v, sums);\n}\n";

const std::string border =
    "__global__ void smooth(const float* in, float* out, int rows, int cols) {\n"
    "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  const float* row = in + y * cols;\n"
    "  if (x >= 1 && x < cols - 1 && y < rows) out[y * cols + x] = row[x - 1] + row[x + 1];\n}\n";

const std::string by_value =
    "struct Params { int count; float gain; float weights[2]; bool up; };\n"
    "__global__ void scale(float* y, const float* x, Params p, int2 dims) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < p.count) y[i * dims.x] = x[i] * p.gain * p.weights[p.up] + dims.y;\n}\n"
    "void run(float* y, float* x, int n) {\n  Params params;\n  params.count = n;\n  params.gain = 0.5f;\n"
    "  scale<<<(n + 255) / 256, 256>>>(y, x, params, make_int2(1, 2));\n}\n";

const std::string fixed_block =
    "__global__ void twice(const int* x, int* y, int n) {\n  int i = blockIdx.x * 64 + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i];\n}\n";

const std::string host_arrays =
    "#define DIMS 3\n__global__ void each(float* y, unsigned n) {\n"
    "  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "    y[threadIdx.y * n + i] = i;\n}\n"
    "int main() {\n  unsigned n = 1000;\n  size_t local[2] = {64, DIMS}, global[2] = {128 * 64, DIMS};\n"
    "  float* y;\n  cudaMalloc((void**)&y, sizeof(float) * DIMS * n);\n"
    "  dim3 grid(global[0] / local[0], global[1] / local[1]);\n  dim3 block(local[0], local[1]);\n"
    "  each<<<grid, block>>>(y, n);\n}\n";

const std::string one_block =
    "__global__ void reverse(int* d, int n) {\n  __shared__ int s[64];\n  int t = threadIdx.x;\n  s[t] = "
    "d[t];\n"
    "  __syncthreads();\n  d[t] = s[n - t - 1];\n}\n"
    "int main() { const int n = 64; int* d; cudaMalloc(&d, n * sizeof(int)); reverse<<<1, n>>>(d, n); }\n";

const std::string by_groups =
    "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    "__global__ void rows(float* y, const float* x, int N, int T) {\n"
    "  cg::thread_block block = cg::this_thread_block();\n  auto warp = cg::tiled_partition<32>(block);\n"
    "  int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();\n  if (row >= N) return;\n"
    "  const float* from = x + blockIdx.y * N * T + row * T;\n"
    "  for (int i = warp.thread_rank(); i < T; i += warp.size()) y[row * T + i] += from[i];\n}\n"
    "void run(float* y, const float* x, int N, int T, int many, int block_size) {\n"
    "  rows<<<dim3(32 * N / block_size, many), block_size>>>(y, x, N, T);\n}\n";

const std::string square_blocks =
    "const int M = 1024, N = 512;\n__global__ void product(const float* a, const float* b, float* c) {\n"
    "  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  float sum = 0;\n  for (int k = 0; k < N; ++k) sum += a[row * N + k] * b[k * M + col];\n  c[row * M + "
    "col] = "
    "sum;\n}\n"
    "int main() {\n  float *a, *b, *c;\n  cudaMalloc(&a, M * N * 4);\n  cudaMalloc(&b, M * N * 4);\n"
    "  cudaMalloc(&c, M * M * sizeof(float));\n  int threads = 32;\n"
    "  product<<<dim3(M / threads, M / threads), dim3(threads, threads)>>>(a, b, c);\n}\n";

struct Sample {
  const char* title;
  const std::string& cu;
  const char* kernel;
};
const Sample samples[] = {{"a program", vector_add, ""},
                          {"a template", product, ""},
                          {"constants from outside", of_tuner, ""},
                          {"open keys", open, ""},
                          {"no guard", unguarded, ""},
                          {"several kernels, and a size of others", several, "rows"},
                          {"a name that is taken", several, "transpose"},
                          {"whole blocks, and an offset of sizes", whole_blocks, ""},
                          {"an element per block", per_block, ""},
                          {"a border, by a pointer into the array", border, ""},
                          {"structs by value", by_value, ""},
                          {"a block that the index says", fixed_block, ""},
                          {"sizes in arrays of the host", host_arrays, ""},
                          {"a block as large as the problem", one_block, ""},
                          {"cooperative groups", by_groups, ""},
                          {"one size for both sides of a block", square_blocks, ""}};

TEST(Describe, Golden) {
  std::string all;
  for (const Sample& one : samples)
    all += "==== " + std::string(one.title) + "\n" + described_text(one.cu, one.kernel) + "\n";
  const std::string path = source_folder + std::string("/tests/golden/described.txt");
  if (std::getenv("TUNESMITH_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << all;
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(all, std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(Describe, WhatHasNoQuestionMarkIsAccepted) {
  int accepted = 0;
  for (const Sample& one : samples) {
    const std::string text = described_text(one.cu, one.kernel);
    const KernelFile file{.path = "own.cu", .cu = one.cu, .description = text};
    if (text.find("\"?\"") != std::string::npos) {
      try {
        described_op(file, {});
        FAIL() << text;
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("leaves open "));
      }
      continue;
    }
    ++accepted;
    EXPECT_NO_THROW(described_op(file, {})) << one.title << "\n" << text;
  }
  EXPECT_EQ(accepted, 15);
}

TEST(Describe, OpenKeysAreNamed) {
  const std::string text =
      "[problem]\nn = \"?\"\n[arrays]\ny = { extents = [\"n\", \"?\"], role = \"output\" }\n";
  try {
    described_op({.path = "own.cu", .cu = unguarded, .description = text}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("leaves open arrays.y.extents (line 4), problem.n (line 2): a person"));
  }
}

TEST(Describe, WhatCannotBeDescribedIsSaid) {
  for (const auto& [cu, kernel, says] :
       std::initializer_list<std::tuple<std::string, const char*, const char*>>{
           {"int main() {}", "", "has no __global__ function"},
           {several, "", "has several kernels (rows, transpose); choose one by --kernel NAME."},
           {several, "nobody",
            "There is no kernel nobody in own.cu; its __global__ functions are rows, transpose."},
           {"__global__ void k(float** x) { x[0] = 0; }", "", "is a pointer to pointers"},
           {"template <typename... T> __global__ void k(T... x) {}", "", "is a pack"},
           {"__global__ void k(float*, int n) {}", "", "a pointer without a name"},
           {"__global__ void k(float* x);", "", "has no body"}}) {
    try {
      ADD_FAILURE() << described_text(cu, kernel);
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
  }
}

// Pieces are lost, doubled and moved: a description or a sentence, nothing else.
TEST(Describe, AnyTextIsAnswered) {
  Random random(7);
  int written = 0;
  for (int round = 0; round < 200; ++round) {
    std::string text = samples[random.below(std::size(samples))].cu;
    for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      const std::size_t size = std::min<std::size_t>(1 + random.below(16), text.size() - at);
      const std::string piece = text.substr(at, size);
      if (random.below(2) == 0) text.erase(at, size);
      if (random.below(2) == 0) text.insert(random.below(text.size() + 1), piece);
    }
    try {
      written += described_text(text, "").empty() ? 0 : 1;
    } catch (const UsageError&) {
    }
  }
  EXPECT_GT(written, 25);
}

TEST(Describe, AConstantThatFollowsAnAxisIsNone) {
  const std::string text = described_text(
      "#define BLOCK_X 32\n#define BLOCK_SIZE (4 * BLOCK_X)\n"
      "__global__ void twice(const float* x, float* y, int n) {\n  int i = blockIdx.x * BLOCK_SIZE + "
      "threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n"
      "void run(float* x, float* y, int n) { twice<<<(n + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(x, y, "
      "n); }\n");
  EXPECT_THAT(text, HasSubstr("BLOCK_X = [32, 16, 64"));
  EXPECT_THAT(text, Not(HasSubstr("BLOCK_SIZE = [")));
  EXPECT_THAT(text, HasSubstr("4 * BLOCK_X"));
}

TEST(Describe, ATemplateArgumentThatFollowsAnotherIsNoAxis) {
  const std::string text = described_text(
      "template <typename T, int block_size, int warps>\n__global__ void sums(const T* x, T* y, int n) {\n"
      "  __shared__ T part[warps];\n  int i = blockIdx.x * block_size + threadIdx.x;\n"
      "  part[threadIdx.x / 32] = 0;\n  if (i < n) y[i] = x[i];\n}\n"
      "template <typename T> void run(T* x, T* y, int n) {\n  constexpr int BLOCK = 256, WARPS = BLOCK / "
      "32;\n"
      "  sums<T, BLOCK, WARPS><<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, n);\n}\n"
      "int main() { run<double>(nullptr, nullptr, 100); }\n");
  EXPECT_THAT(text, HasSubstr("instantiate = \"sums<T, block_size, block_size / 32>\""));
  EXPECT_THAT(text, HasSubstr("dtype = \"f64\"\n")) << "the call's template argument says it";
  EXPECT_THAT(text, HasSubstr("block_size = [256, 128"));
  EXPECT_THAT(text, Not(HasSubstr("warps = [")));
  EXPECT_THAT(text, HasSubstr("block = [\"block_size\"]"));
}

TEST(Describe, SizesThatALaunchGivesTwiceAreOne) {
  const std::string text = described_text(
      "__global__ void turn(const float* x, float* y, int rows, int cols) {\n"
      "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < rows && j < cols) y[j * rows + i] = x[i * cols + j];\n}\n"
      "#define N 512\nint main() { float *x, *y; turn<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(x, y, N, N); "
      "}\n");
  EXPECT_THAT(text, HasSubstr("rows = [1, 512]"));
  EXPECT_THAT(text, Not(HasSubstr("cols = [")));
  EXPECT_THAT(text, HasSubstr("x = [\"rows\", \"rows\"]"));
}

// The launch's sizes are assigned again and again: the last ones before it count.
TEST(Describe, TheLastAssignmentBeforeALaunchCounts) {
  const auto of = [](const std::string& before, const std::string& behind) {
    return described_text(
        "__global__ void one(float* x, int n) { x[n] = 0; }\n__global__ void twice(float* x, int n) {\n"
        "  int i = blockIdx.x * 64 + threadIdx.x;\n  if (i < n) x[i] *= 2;\n}\n"
        "void run(float* x, int n, bool b) {\n  dim3 threads;\n  threads = dim3(32);\n  one<<<1, "
        "threads>>>(x, "
        "n);\n" +
            before + "  twice<<<(n + 63) / 64, threads>>>(x, n);\n" + behind + "}\n",
        "twice");
  };
  EXPECT_THAT(of("threads = dim3(64);\n", ""), HasSubstr("block = [64]\n"));
  EXPECT_THAT(of("if (b) { threads = dim3(64); }\n", ""), Not(HasSubstr("block = [64]\n")))
      << "it may be assigned";
  EXPECT_THAT(of("threads = dim3(64);\nwhile (b) {\n", "threads = dim3(128);\n}\n"),
              Not(HasSubstr("block = [64]\n")))
      << "a loop brings another one back";
  EXPECT_THAT(of("while (b) {\nthreads = dim3(64);\n", "threads = dim3(128);\n}\n"),
              HasSubstr("block = [64]\n"));
}

TEST(Describe, ALoopAroundALaunchBoundsItsVariable) {
  const std::string text = described_text(
      "#define TILE 16\n__global__ void diagonal(float* m, int n, int offset) {\n"
      "  m[offset * n + offset + threadIdx.x] = threadIdx.x + TILE;\n}\n"
      "void run(float* m, int n) {\n  cudaMalloc(&m, n * n * sizeof(float));\n"
      "  for (int i = 0; i < n - TILE; i += TILE) diagonal<<<1, TILE>>>(m, n, i);\n}\n");
  EXPECT_THAT(text, HasSubstr("offset = { minimum = 0, default = 0 }"));
  EXPECT_THAT(text, HasSubstr("\nn = [1, 4096]\n")) << "its array has n * n elements";
  EXPECT_THAT(text, HasSubstr("problem = [\"offset < n - 64\"]")) << "for each value of the axis";
}

TEST(Describe, CastsToVectorsCountTheArraysElements) {
  const auto of = [](const std::string& body) {
    return described_text(
        "__global__ void twice(const float* x, float* y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        body + "}\n");
  };
  for (const char* body :
       {"if (i < n) reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];\n",
        "if (i < n) ((float4*)y)[i] = ((const float4*)x)[i];\n",
        "const float4* from = (const float4*)x; float4* to = reinterpret_cast<float4*>(y);\n"
        "if (i < n) to[i] = from[i];\n"}) {
    const std::string text = of(body);
    EXPECT_THAT(text, HasSubstr("x = [\"n\", 4]")) << body;
    EXPECT_THAT(text, HasSubstr("y = { extents = [\"n\", 4], role = ")) << body;
    EXPECT_THAT(text, HasSubstr("alignment_bytes = \"16\"")) << body;
  }
  EXPECT_THAT(of("if (i < n) y[i] = ((const int*)x)[i];\n"), HasSubstr("x = [\"n\"]"));
}

TEST(Describe, RemaindersAndQuotientsBoundIndices) {
  const std::string text = described_text(
      "__global__ void fold(const float* x, float* rows, float* table, int width, int height, int capacity) "
      "{\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < height * width) {\n"
      "    int place = i * 7919;\n    place = place % capacity;\n    table[place] = 1;\n"
      "    rows[i / width] = x[i];\n  }\n}\n");
  EXPECT_THAT(text, HasSubstr("table = { extents = [\"capacity\"]"));
  EXPECT_THAT(text, HasSubstr("rows = { extents = [\"height\"]"));
}

TEST(Describe, ArraysWithinAKernelLimitSizes) {
  const std::string text = described_text(
      "#define STATES 16\n__global__ void scan(const float* x, float* y, int n, int states) {\n"
      "  float h[STATES];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  for (int s = 0; s < states; ++s) h[s] = 0;\n"
      "  if (i < n) for (int s = 0; s < states; ++s) y[i * states + s] = h[s] + x[i * states + s];\n}\n");
  EXPECT_THAT(text, HasSubstr("states = [1, 16]"));
}

TEST(Describe, WithoutAGuardEachThreadHasAnElement) {
  const std::string text = described_text(
      "__global__ void sums(float* y, const float* x, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float sum = 0;\n"
      "  for (int at = i; at < n; at += gridDim.x * blockDim.x) sum += x[at];\n  y[i] = sum;\n}\n"
      "void run(float* y, float* x, int n) { sums<<<32, 256>>>(y, x, n); }\n");
  EXPECT_THAT(text, HasSubstr("y = { extents = [8192], role = \"output\" }  # an element per thread"));
  EXPECT_THAT(text, HasSubstr("GRID = [32]  # one value"));
}

TEST(Describe, QuotientsOfALaunchWithoutAGuardAreWhole) {
  const std::string text = described_text(
      "#define NX 16\n#define NY 8\n__global__ void wrap(float* out, const float* in, int w, int h) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int x = i % w, y = i / w;\n"
      "  out[y * w + x] = in[((y + 1) % h) * w + x];\n}\n"
      "void run(float* out, float* in, int w, int h) { wrap<<<w / NX * h / NY, NX * NY>>>(out, in, w, h); "
      "}\n");
  EXPECT_THAT(text, HasSubstr("\"w % NX == 0\""));
  EXPECT_THAT(text, HasSubstr("\"w / NX * h % NY == 0\""));
}

TEST(Describe, ABlockThatTheHostComputesIsAnAxisInTheGridToo) {
  const std::string text = described_text(
      "__global__ void twice(float* x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) x[i] *= 2;\n}\n"
      "void run(float* x, int n) {\n  int threads = n < 1024 ? n : 1024;\n"
      "  twice<<<(n + threads - 1) / threads, threads>>>(x, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(n, BLOCK)\"]"));
}

TEST(Describe, ConstantsOfClassesAreRead) {
  const std::string text = described_text(
      "template <class Element>\nstruct alignas(16) Packed {\n"
      "  static constexpr const int size = sizeof(int4) / sizeof(Element);\n  Element all[size];\n};\n"
      "typedef Packed<float> wide;\n"
      "__global__ void twice(float* x, int n) {\n"
      "  int i = (blockIdx.x * blockDim.x + threadIdx.x) * wide::size;\n  if (i < n) x[i] *= 2;\n}\n"
      "void run(float* x, int n, const int block_size) {\n"
      "  const int grid = (n + block_size * wide::size - 1) / (block_size * wide::size);\n"
      "  twice<<<grid, block_size>>>(x, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(n, BLOCK * 4)\"]"));
}

TEST(Describe, DeviceFunctionsUseTheArraysThatTheyTake) {
  const std::string text = described_text(
      "__device__ void store(float* to, const float* from, int at, int most) {\n  int last = most - 1;\n"
      "  if (at < most) to[at] = from[at] + last;\n}\n"
      "__device__ float other(float x) { return x; }\n"
      "__global__ void turn(float* y, const float* x, int rows, int cols) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x, last = 0;\n"
      "  store(y + rows * cols, x, i, cols);\n  y[last] = other(1);\n}\n");
  EXPECT_THAT(text, HasSubstr("x = [\"cols\"]"));
  EXPECT_THAT(text, HasSubstr("y = { extents = [\"cols + rows * cols\"]"));
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(cols, BLOCK)\"]"));
}

TEST(Describe, TheKernelsIndicesCountMoreThanALaunchForSquares) {
  const std::string text = described_text(
      "#define BOUND(x, y) x\n#define N_ROWS BOUND(rows, 1)\n"
      "__global__ void twice(float* y, int rows, int cols) {\n"
      "  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (i < N_ROWS && j < cols) y[i * cols + j] *= 2;\n}\n"
      "void run(float* y, int n, int m) {\n  dim3 block(32, 8);\n"
      "  twice<<<dim3((n + 31) / 32, (m + 7) / 8), block>>>(y, n, m);\n}\n");
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(cols, BLOCK_X)\", \"ceil_div(rows, BLOCK_Y)\"]"));
  EXPECT_THAT(text, HasSubstr("fits only where its sizes are equal"));
}

// A variable of dim3 has the components that it is given last, each by itself or all together.
TEST(Describe, ComponentsOfALaunchMayBeAssigned) {
  const auto launched = [](const std::string& launch) {
    return described_text(
        "__global__ void add(int* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  y[i] += 1;\n}\nvoid run(int* y, int n) {\n" +
        launch + "  add<<<blocks, threads>>>(y, n);\n  blocks.x = 7;\n}\n");
  };
  const std::string together =
      launched("  dim3 threads, blocks;\n  threads = dim3(512, 1);\n  blocks = dim3(n / threads.x, 1);\n");
  EXPECT_THAT(together, HasSubstr("grid = [\"n / BLOCK\"]"));
  EXPECT_THAT(together, HasSubstr("BLOCK = [512,"));
  EXPECT_THAT(together, HasSubstr("must = [\"BLOCK <= 1024\", \"n % BLOCK == 0\"]"));
  EXPECT_THAT(together, Not(HasSubstr("threads_x")));
  const std::string alone = launched(
      "  dim3 threads(128, 1), blocks(1, 1, 1);\n  blocks.x = 3;\n  blocks.x = (n + threads.x - 1) / "
      "threads.x;\n");
  EXPECT_THAT(alone, HasSubstr("grid = [\"n / BLOCK\"]"));
  EXPECT_THAT(alone, HasSubstr("BLOCK = [128,"));
}

TEST(Describe, AnOffsetLeavesTheFirstElements) {
  const std::string text = described_text(
      "__global__ void one(float* y, int n, int first) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x + first;\n  if (i < n) y[i] = 1;\n}\n");
  EXPECT_THAT(text, HasSubstr("y = { extents = [\"n\"], role = \"inout\" }"));
}

TEST(Describe, SumsInSixteenBitsHaveATolerance) {
  const std::string text = described_text(
      "#include <cuda_fp16.h>\n__global__ void dot(const half2* a, const half2* b, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { half2 c = __hmul2(a[i], b[i]); atomicAdd(y, __low2float(c) + __high2float(c)); }\n}\n");
  EXPECT_THAT(text, HasSubstr("tolerance = 0.02"));
  EXPECT_THAT(text, HasSubstr("a = { extents = [\"n\"], values = \"uniform(-1, 1)\" }"));
}

TEST(Describe, RowsThatAnArrayNamesAreIndices) {
  const std::string text = described_text(
      "__global__ void embed(float* out, const int* tokens, const float* table, int n, int vocabulary, int "
      "width) "
      "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    int row = tokens[i];\n"
      "    const float* from = table + row * width;\n"
      "    for (int c = 0; c < width; ++c) out[i * width + c] = from[c] / vocabulary;\n  }\n}\n"
      "void run(float* out, int* tokens, float* table, int n, int v, int w) {\n"
      "  cudaMalloc(&table, v * w * sizeof(float));\n"
      "  embed<<<(n + 255) / 256, 256>>>(out, tokens, table, n, v, w);\n}\n");
  EXPECT_THAT(text, HasSubstr("tokens = { extents = [\"n\"], values = \"index(vocabulary)\" }"));
}

TEST(Describe, IntegersThatAreIndicesHoldIndices) {
  const std::string text = described_text(
      "__global__ void spmv(int rows, const int* row_ptr, const int* cols, const float* vals, const float* "
      "x, "
      "float* y) {\n  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row < rows) {\n    float sum = "
      "0;\n    int begin = row_ptr[row], end = row_ptr[row + 1];\n    for (int j = begin; j < end; ++j) sum "
      "+= "
      "vals[j] * x[cols[j]];\n    y[row] = sum;\n  }\n}\n"
      "int main() {\n  int rows = 1000, nnz = 5000, n = 800; int *row_ptr, *cols; float *vals, *x, *y;\n"
      "  cudaMalloc(&row_ptr, (rows + 1) * sizeof(int)); cudaMalloc(&cols, nnz * sizeof(int));\n"
      "  cudaMalloc(&vals, nnz * sizeof(float)); cudaMalloc(&x, n * sizeof(float));\n"
      "  cudaMalloc(&y, rows * sizeof(float));\n"
      "  spmv<<<(rows + 255) / 256, 256>>>(rows, row_ptr, cols, vals, x, y);\n}\n");
  EXPECT_THAT(text, HasSubstr("row_ptr = { extents = [\"rows + 1\"], values = \"offsets(nnz)\" }"));
  EXPECT_THAT(text, HasSubstr("cols = { extents = [\"nnz\"], values = \"index(n)\" }"));
  EXPECT_THAT(text, HasSubstr("vals = [\"nnz\"]"));
}

TEST(Describe, ARealTypeThatIsDefinedElsewhereIsGuessed) {
  const auto of = [](const std::string& before, const std::string& type) {
    return described_text(before + "__global__ void twice(const " + type + "* x, " + type + "* y, " + type +
                          " a, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] "
                          "= a * x[i];\n}\n");
  };
  const std::string text = of("#include \"precision.h\"\n", "realtype");
  EXPECT_THAT(text, HasSubstr("defines = { realtype = \"float\" }"));
  EXPECT_THAT(text, HasSubstr("realtype is defined in no file here: a guess"));
  EXPECT_THAT(text, Not(HasSubstr("\"?\"")));
  EXPECT_THAT(of("", "Particle"), HasSubstr("\"?\"")) << "it is no number";
}

TEST(Describe, WhatTheRangesOfRowsCountIsASizeOfItsOwn) {
  const std::string kernel =
      "__global__ void spmv(int rows, int width, const int* row_ptr, const int* cols, const float* vals, "
      "const "
      "float* x, float* y) {\n  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row < rows) {\n"
      "    float sum = 0;\n    for (int j = row_ptr[row], end = row_ptr[row + 1]; j < end; ++j)\n"
      "      sum += vals[j] * x[cols[j]];\n    y[row * width] = sum;\n  }\n}\n";
  const std::string text = described_text(kernel);
  EXPECT_THAT(text, HasSubstr("row_ptr = { extents = [\"rows + 1\"], values = \"offsets(nnz)\" }"));
  EXPECT_THAT(text, HasSubstr("cols = { extents = [\"nnz\"], values = \"index(x_size)\" }"));
  EXPECT_THAT(text, HasSubstr("vals = [\"nnz\"]"));
  EXPECT_THAT(text, HasSubstr("nnz = [1, 512]"));
}

// A file of kernels is included by the program that launches them.
TEST(Describe, AFileBesideLaunchesTheKernel) {
  const std::string kernel =
      "__global__ void shift(const float* x, float* y, int n) {\n  __shared__ float tile[WIDE];\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  tile[threadIdx.x] = i < n ? x[i] : 0;\n"
      "  __syncthreads();\n  if (i < n) y[i] = tile[threadIdx.x];\n}\n";
  const std::string program =
      "#include \"own.cu\"\n#define WIDE 512\nvoid run(int count) {\n  float *in, *out;\n"
      "  cudaMalloc(&in, count * sizeof(float));\n  cudaMalloc(&out, count * sizeof(float));\n"
      "  shift<<<(count + 127) / 128, 128>>>(in, out, count);\n}\n";
  const auto describe = [&](const std::vector<std::string>& beside) {
    return described(
        {.path = "own.cu", .cu = kernel, .description = {}}, "", [](const std::string&) { return false; },
        beside);
  };
  EXPECT_THAT(describe({}), HasSubstr("WIDE = \"?\""));
  const std::string text = describe({"int other;\n", program});
  EXPECT_THAT(text, HasSubstr("WIDE = { default = 512 }  # from a file beside"));
  EXPECT_THAT(text, HasSubstr("BLOCK = [128, 64, 256, 32, 512]"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"?\"")));
}

TEST(Describe, AKernelIsLaunchedByAPointerOrACall) {
  const std::string kernel =
      "__global__ void twice(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n"
      "void run(float* x, float* y, int n) {\n";
  for (const char* const launch :
       {"  void (*chosen)(const float*, float*, int);\n  chosen = &twice;\n  chosen<<<(n + 63) / 64, "
        "64>>>(x, y, "
        "n);\n}\n",
        "  void* arguments[] = {&x, (void*)&y, &n};\n  cudaLaunchKernel((void*)twice, dim3((n + 63) / 64), "
        "dim3(64), arguments, 0, 0);\n}\n"}) {
    const std::string text = described_text(kernel + launch);
    EXPECT_THAT(text, HasSubstr("BLOCK = [64, 32, 128, 16, 256]")) << launch;
    EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(n, BLOCK)\"]\n")) << launch;
  }
}

// Bounds of a launch by architecture, indices of 24 bits, and names of a library.
TEST(Describe, OldAndNewFormsAreRead) {
  const std::string text = described_text(
      "#define IMUL(a, b) __mul24(a, b)\n#if __CUDA_ARCH__ >= 800\n__global__ void __launch_bounds__(256, "
      "2)\n#else\n"
      "__global__ void __launch_bounds__(256)\n#endif\n"
      "twice(const float* x, float* y, int n) {\n  int i = IMUL(IMUL(blockIdx.x, 1), blockDim.x) + "
      "threadIdx.x;\n"
      "  using Load = cub::BlockLoad<float, 128, 1, cub::BLOCK_LOAD_TRANSPOSE>;\n  if (i < n) y[i] = 2 * "
      "x[i];\n}\n");
  EXPECT_THAT(text, HasSubstr("y = { extents = [\"n\"], role = \"output\" }"));
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(n, BLOCK)\"]"));
  EXPECT_THAT(text, Not(HasSubstr("BLOCK_LOAD_TRANSPOSE")));
}

// A variable that the kernel only reads is filled by its program; one that it counts in begins with 0.
TEST(Describe, VariablesOfTheDeviceAreFilledOrZero) {
  const std::string text = described_text(
      "__device__ float scale;\n__device__ unsigned count, turn;\n"
      "__global__ void scaled(const float* x, float* y, int n) {\n  int i = blockIdx.x * 64 + threadIdx.x;\n"
      "  if (i < n) y[i] = scale * x[i];\n  if (threadIdx.x == 0) atomicAdd(&count, 1u);\n"
      "  if (threadIdx.x == 0 && atomicInc(&turn, 9999u) == gridDim.x - 1) turn = 0;\n}\n");
  EXPECT_THAT(text, HasSubstr("scale = { extents = [1], role = \"constant\" }"));
  EXPECT_THAT(text, HasSubstr("zeroed = [\"count\"]"));
}

}  // namespace
}  // namespace tunesmith
