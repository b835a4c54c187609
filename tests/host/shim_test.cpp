// The execution model: small kernels, compiled and run as any variant is.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "dispatch/toolchain.h"
#include "templates/ops.h"
#include "tuner/device.h"

namespace tunesmith {
namespace {

Source source_of(const std::string& body, const std::string& kernel = "kernel") {
  Source source;
  source.text = template_files().at("common/host_shim.h") + "\n#define ENTRY(name) name##_test\n" + body +
                "\nTUNESMITH_HOST_ENTRY(" + kernel + "_test)\n";
  source.suffix = "_test";
  source.target = "host";
  return source;
}

struct Loaded {
  std::unique_ptr<Executable> executable;
  int run(std::vector<void*> arguments) { return executable->launch(arguments.data(), nullptr, nullptr); }
};

// One launch whose parameters are the first `pointers` arguments, then `extra`.
Loaded load(const std::string& body, Extent grid, Extent block, int pointers = 1,
            std::int64_t dynamic_bytes = 0, std::vector<KernelArgument> extra = {}) {
  static const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  const Source source = source_of(body);
  const Compiled compiled = toolchain->compile(source);
  EXPECT_TRUE(compiled.ok) << compiled.log;
  Launch launch{.kernel = "kernel", .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_bytes};
  for (int n = 0; n < pointers; ++n) launch.arguments.push_back(ArgumentPointer{n});
  launch.arguments.insert(launch.arguments.end(), extra.begin(), extra.end());
  return {load_host(compiled.bytes, source.suffix, Work{.steps = {launch}})};
}

TEST(Shim, IndicesAndDimsAreThoseOfTheLaunch) {
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out, int scale, long long offset) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = static_cast<int>(offset) + scale * (block * 1000 + thread);
})",
                       {3, 2, 2}, {4, 3, 2}, 1, 0, {std::int32_t{2}, std::int64_t{7}});
  for (const bool reverse : {false, true}) {
    std::vector<int> out(12 * 24, -1);
    kernel.executable->reverse_threads(reverse);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    for (int n = 0; n < 12 * 24; ++n)
      ASSERT_EQ(out[static_cast<std::size_t>(n)], 7 + 2 * (n / 24 * 1000 + n % 24));
  }
}

constexpr const char* neighbour_sum = R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  __shared__ float shared[64];
  const int t = threadIdx.x;
  shared[t] = t;
  BARRIER
  out[blockIdx.x * 64 + t] = shared[t] + shared[63 - t];
})";

std::vector<float> neighbours(const std::string& barrier, bool reverse) {
  std::string body = neighbour_sum;
  body.replace(body.find("BARRIER"), 7, barrier);
  Loaded kernel = load(body, {2, 1, 1}, {64, 1, 1});
  kernel.executable->reverse_threads(reverse);
  std::vector<float> out(128, -1);
  EXPECT_EQ(kernel.run({out.data()}), 0);
  EXPECT_EQ(kernel.executable->facts().static_shared_bytes, 256);
  return out;
}

TEST(Shim, ABarrierMakesSharedMemoryVisible) {
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(neighbours("__syncthreads();", reverse), std::vector<float>(128, 63.0f));
  }
}

TEST(Shim, AMissingBarrierReadsPoisonInEveryBlock) {
  for (const bool reverse : {false, true}) {
    const std::vector<float> out = neighbours("", reverse);
    for (const std::size_t block : {0u, 64u}) {
      bool poisoned = false;
      for (std::size_t t = 0; t < 64; ++t) poisoned = poisoned || out[block + t] != out[block + t];
      EXPECT_TRUE(poisoned) << "block " << block / 64 << " must not see the block before it";
    }
  }
}

TEST(Shim, AMissingSecondBarrierShowsInOneOfTheOrders) {
  const char* body = R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __shared__ int shared[32];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    shared[t] = round;
    __syncthreads();
    sum += shared[31 - t];  // the next round may overwrite what others still read
  }
  out[t] = sum;
})";
  Loaded kernel = load(body, {}, {32, 1, 1});
  int wrong = 0;
  for (const bool reverse : {false, true}) {
    std::vector<int> out(32);
    kernel.executable->reverse_threads(reverse);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    for (const int value : out) wrong += value != 3;
  }
  EXPECT_GT(wrong, 0);
}

TEST(Shim, ThreadsMayReturnBeforeOthersMeet) {
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  if (threadIdx.x % 2 == 1) return;
  const int even = __syncthreads_count(threadIdx.x % 4 == 0);
  const int any = __syncthreads_or(threadIdx.x == 2);
  const int none = __syncthreads_or(0);
  const int all = __syncthreads_and(1);
  const int not_all = __syncthreads_and(threadIdx.x != 4);
  out[threadIdx.x] = even + 100 * any + 1000 * none + 10000 * all + 100000 * not_all;
})",
                       {}, {16, 1, 1});
  std::vector<int> out(16, -1);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  for (std::size_t t = 0; t < 16; ++t) EXPECT_EQ(out[t], t % 2 == 1 ? -1 : 10104);
}

TEST(Shim, DynamicSharedMemoryHasTheLaunchsSizeAndAGuard) {
  const char* body = R"(
extern "C" __global__ void ENTRY(kernel)(double* out, int beyond) {
  DYNAMIC_SHARED(double, shared);
  shared[threadIdx.x] = threadIdx.x;
  if (beyond && threadIdx.x == 0) shared[8] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[7 - threadIdx.x];
})";
  std::vector<double> out(8);
  Loaded good = load(body, {}, {8, 1, 1}, 1, 64, {std::int32_t{0}});
  ASSERT_EQ(good.run({out.data()}), 0);
  EXPECT_EQ(out, (std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0}));
#if !defined(__SANITIZE_ADDRESS__)  // which would find it first
  Loaded bad = load(body, {}, {8, 1, 1}, 1, 64, {std::int32_t{1}});
  const int code = bad.run({out.data()});
  EXPECT_EQ(bad.executable->describe(code), "the kernel wrote past the end of its dynamic shared memory");
#endif
}

TEST(Shim, AtomicsAndVectorsAndMaths) {
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* count, float* sum, float4* vector) {
  atomicAdd(count, 1);
  atomicMax(count + 1, static_cast<int>(threadIdx.x));
  atomicAdd(sum, 0.5f);
  if (threadIdx.x == 0) *vector = make_float4(min(1.0f, 2.0f), max(3, 4), fmaf(2.0f, 3.0f, 1.0f), __ldg(sum));
})",
                       {4, 1, 1}, {1024, 1, 1}, 3);
  int count[2] = {0, 0};
  float sum = 0;
  alignas(16) float vector[4] = {};
  ASSERT_EQ(kernel.run({count, &sum, vector}), 0);
  EXPECT_EQ(count[0], 4096);
  EXPECT_EQ(count[1], 1023);
  EXPECT_EQ(sum, 2048.0f);
  EXPECT_EQ(vector[0], 1.0f);
  EXPECT_EQ(vector[1], 4.0f);
  EXPECT_EQ(vector[2], 7.0f);
}

TEST(Shim, AConstantSymbolIsFilledByItsStep) {
  const Source source = source_of(R"(
__constant__ float ENTRY(table)[4];
extern "C" __global__ void ENTRY(kernel)(float* out) { out[threadIdx.x] = 2 * ENTRY(table)[threadIdx.x]; }
)");
  const Compiled compiled = make_host_toolchain()->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  Launch launch{.kernel = "kernel", .block = {4, 1, 1}, .arguments = {ArgumentPointer{0}}};
  const Work work{.steps = {ConstantCopy{.symbol = "table", .argument = 1, .bytes = 16}, launch}};
  EXPECT_FALSE(reentrant(work));
  const auto executable = load_host(compiled.bytes, source.suffix, work);
  std::vector<float> out(4), table = {1, 2, 3, 4};
  void* arguments[] = {out.data(), table.data()};
  ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 8}));
}

TEST(Shim, OneVariantLaunchedFromTwoThreadsWaitsForItself) {
  std::string body = neighbour_sum;
  body.replace(body.find("BARRIER"), 7, "__syncthreads();");
  Loaded kernel = load(body, {2, 1, 1}, {64, 1, 1});
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> outs(4, std::vector<float>(128));
  for (auto& out : outs) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) EXPECT_EQ(kernel.run({out.data()}), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& out : outs) EXPECT_EQ(out, std::vector<float>(128, 63.0f));
}

TEST(HostToolchain, ASourceThatDoesNotCompileIsAnAnswer) {
  const Compiled compiled = make_host_toolchain()->compile(source_of("int broken = undeclared_name;"));
  EXPECT_FALSE(compiled.ok);
  EXPECT_NE(compiled.log.find("undeclared_name"), std::string::npos);
}

TEST(HostToolchain, CompilesFromSeveralThreads) {
  const auto toolchain = make_host_toolchain();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      const Compiled compiled = toolchain->compile(source_of(
          "extern \"C\" __global__ void ENTRY(kernel)(int* out) { *out = " + std::to_string(n) + "; }"));
      ASSERT_TRUE(compiled.ok) << compiled.log;
      Launch launch{.kernel = "kernel", .arguments = {ArgumentPointer{0}}};
      int out = -1;
      void* arguments[] = {&out};
      EXPECT_EQ(
          load_host(compiled.bytes, "_test", Work{.steps = {launch}})->launch(arguments, nullptr, nullptr),
          0);
      EXPECT_EQ(out, n);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HostToolchain, SaysWhichCompilerIsMissing) {
  setenv("TUNESMITH_CXX", "/nonexistent/c++", 1);
  try {
    make_host_toolchain();
    ADD_FAILURE() << "a missing compiler was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "TUNESMITH_CXX names /nonexistent/c++, which is not a program that can be run.");
  }
  unsetenv("TUNESMITH_CXX");
}

TEST(HostExecutable, DamagedBytesAreALoadError) {
  EXPECT_THROW(load_host("not a shared object", "_test", Work{}), LoadError);
}

TEST(HostDevice, FindsWritesOutsideAnAllocation) {
  const auto device = make_host_device();
  auto* memory = static_cast<unsigned char*>(device->allocate(100));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  EXPECT_TRUE(device->guards_intact(memory));
#if !defined(__SANITIZE_ADDRESS__)
  for (const std::ptrdiff_t offset : {-1, -4096, 100, 4195}) {
    memory[offset] ^= 1;
    EXPECT_FALSE(device->guards_intact(memory)) << offset;
    EXPECT_TRUE(device->guards_intact(memory)) << "the guards are repaired once they have told";
  }
#endif
  device->release(memory);
}

TEST(HostDevice, ComparesWithThePermittedErrorAndKeepsNanAndInfinity) {
  const auto device = make_host_device();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const float got[] = {1.0f, 2.5f, static_cast<float>(nan), static_cast<float>(inf), 0.0f, 7.0f};
  const double expected[] = {1, 2, nan, inf, 0, nan};
  const double permitted[] = {0, 0.4, 0, 0, 0, 1};
  const Comparison result = device->compare(got, DType::f32, expected, permitted, 6);
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.first_wrong, 1);
  EXPECT_EQ(result.got, 2.5);
  EXPECT_EQ(result.expected, 2);
  EXPECT_TRUE(std::isinf(result.max_error));
  EXPECT_NEAR(device->compare(got, DType::f32, expected, permitted, 2).max_error, 1.25, 1e-12);
  const float poison_seen[] = {static_cast<float>(nan)};
  const double one[] = {1};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, one, 1).wrong, 1)
      << "an unwritten element is wrong";
}

}  // namespace
}  // namespace tunesmith
