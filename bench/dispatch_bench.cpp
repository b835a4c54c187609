// SPDX-License-Identifier: Apache-2.0
// Measures the cost of dispatch: look-ups by 1 to 16 threads, the first plan of a shape whose kernel is
// loaded and its memory, launches compared with the runtime's own, starts, and choosing for an H200. Google
// Benchmark's options apply; $TUNESMITH_BENCH_DEVICE is the device (default: auto).
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "bench/many_verdicts.h"
#include "dispatch/explanation.h"
#include "examples/device_memory.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tunesmith/conv2d.h"
#include "tunesmith/elementwise.h"
#include "tunesmith/histogram.h"
#include "tunesmith/reduce.h"
#include "tunesmith/transpose.h"

namespace tunesmith {
namespace {

Dispatcher open(Compile compile = Compile::now, const std::string& database = "") {
  const char* device = std::getenv("TUNESMITH_BENCH_DEVICE");
  return Dispatcher({.device = device == nullptr ? "auto" : device,
                     .database = database,
                     .compile = compile,
                     .cache_folder = ""});
}

Dispatcher& dispatcher() {
  static Dispatcher one = open();
  return one;
}

constexpr Conv2dShape image = {.height = 1000, .width = 2000, .mask_height = 3, .mask_width = 3};

// ---- look-ups

void look_up_conv2d(benchmark::State& state) {
  for ([[maybe_unused]] auto each : state) benchmark::DoNotOptimize(conv2d_plan<float>(dispatcher(), image));
}
void look_up_transpose(benchmark::State& state) {
  const TransposeShape shape{.height = 1000, .width = 1000};
  for ([[maybe_unused]] auto each : state) benchmark::DoNotOptimize(transpose_plan(dispatcher(), shape, 4));
}
void look_up_reduce(benchmark::State& state) {
  for ([[maybe_unused]] auto each : state)
    benchmark::DoNotOptimize(reduce_plan<float>(dispatcher(), {.length = 1000}, ReduceFunction::sum));
}
void look_up_histogram(benchmark::State& state) {
  for ([[maybe_unused]] auto each : state)
    benchmark::DoNotOptimize(histogram_plan<float>(dispatcher(), {.length = 1000, .bins = 256}, -0.7, 0.9));
}
void look_up_elementwise(benchmark::State& state) {
  const std::string function = "hypot";
  const std::vector<std::int64_t> shape = {1000, 1000};
  const std::vector<ElementwiseLayout> inputs(2);
  for ([[maybe_unused]] auto each : state)
    benchmark::DoNotOptimize(elementwise_plan(dispatcher(), function, ElementType::f32, shape, inputs));
}
void look_up_text(benchmark::State& state) {
  for ([[maybe_unused]] auto each : state)
    benchmark::DoNotOptimize(
        dispatcher().plan("conv2d", std::string_view("height=1000 width=2000 mask_height=3 mask_width=3")));
}
// 4096 shapes are looked up in turn.
void look_up_many(benchmark::State& state) {
  std::int64_t i = 0;
  const auto next = [&] {
    return transpose_plan(dispatcher(), {.height = 1000 + (i++ * 89 & 4095), .width = 1000}, 4);
  };
  while (i < 4096) next();
  for ([[maybe_unused]] auto each : state) benchmark::DoNotOptimize(next());
}
BENCHMARK(look_up_conv2d)->Threads(1)->Threads(4)->Threads(16);
BENCHMARK(look_up_transpose)->Threads(1)->Threads(4)->Threads(16);
BENCHMARK(look_up_reduce)->Threads(1)->Threads(4)->Threads(16);
BENCHMARK(look_up_histogram)->Threads(1)->Threads(16);
BENCHMARK(look_up_elementwise)->Threads(1)->Threads(16);
BENCHMARK(look_up_text)->Threads(1)->Threads(16);
BENCHMARK(look_up_many)->Threads(1)->Threads(16);

// ---- first plans: other sizes, the same kernels

template <typename MakePlan>
void first_plans(benchmark::State& state, MakePlan make) {
  Dispatcher one = open(Compile::background);
  std::int64_t n = 1000;
  for (int i = 0; i < 20; ++i) make(one, n += 8);
  one.wait_until_ready();
  const std::size_t before = mallinfo2().uordblks;
  for ([[maybe_unused]] auto each : state) benchmark::DoNotOptimize(make(one, n += 8));
  state.counters["bytes"] = benchmark::Counter(static_cast<double>(mallinfo2().uordblks - before),
                                               benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(first_plans, conv2d, [](Dispatcher& one, std::int64_t n) {
  return conv2d_plan<float>(one, {.height = 1000, .width = n, .mask_height = 3, .mask_width = 3});
})->Iterations(2000);
BENCHMARK_CAPTURE(first_plans, transpose, [](Dispatcher& one, std::int64_t n) {
  return transpose_plan(one, {.height = 1000, .width = n}, 4);
})->Iterations(2000);
BENCHMARK_CAPTURE(first_plans, reduce, [](Dispatcher& one, std::int64_t n) {
  return reduce_plan<float>(one, {.length = n}, ReduceFunction::max);
})->Iterations(2000);
BENCHMARK_CAPTURE(first_plans, histogram, [](Dispatcher& one, std::int64_t n) {
  return histogram_plan<float>(one, {.length = n, .bins = 256}, 0, 1);
})->Iterations(2000);
BENCHMARK_CAPTURE(first_plans, elementwise, [](Dispatcher& one, std::int64_t n) {
  return elementwise_plan(one, "add", ElementType::f32, {n}, std::vector<ElementwiseLayout>(2));
})->Iterations(2000);

// ---- launches

// `call` launches, and returns true on success.
template <typename Call>
void launches(benchmark::State& state, Call call) {
  bool ok = true;
  int launched = 0;
  for ([[maybe_unused]] auto each : state) {
    ok &= call();
    if (++launched % 500 == 0) {  // keeps the stream's queue from filling up
      state.PauseTiming();
      wait_for(dispatcher());
      state.ResumeTiming();
    }
  }
  wait_for(dispatcher());
  if (!ok) state.SkipWithError("A launch failed.");
}

void launch(benchmark::State& state, bool typed) {
  DeviceArray<float> memory(dispatcher(), 64);
  float* const from = memory.data();
  float* const to = from + 32;
  const TransposeShape shape{.height = 2, .width = 2};
  const Plan plan = transpose_plan(dispatcher(), shape, 4);
  void* const arguments[] = {from, to};
  if (typed) {
    launches(state, [&] { return transpose(dispatcher(), from, to, shape, 4).ok(); });
  } else {
    launches(state, [&] { return plan.launch(arguments).ok(); });
  }
}
BENCHMARK_CAPTURE(launch, plan, false)->Iterations(20000);
BENCHMARK_CAPTURE(launch, typed_call, true)->Iterations(20000);

// Each launch has its own limits.
void launch_histogram(benchmark::State& state) {
  DeviceArray<float> values(dispatcher(), 64);
  DeviceArray<std::int64_t> counts(dispatcher(), 8);
  double hi = 1;
  launches(state, [&] {
    hi += 0.25;
    return histogram(dispatcher(), values.data(), counts.data(), {.length = 64, .bins = 8}, 0, hi).ok();
  });
}
BENCHMARK(launch_histogram)->Iterations(20000);

#ifdef WITH_CUDA
void launch_cudaLaunchKernelExC(benchmark::State& state) {
  if (dispatcher().on_host()) return state.SkipWithError("The device is the host.");
  std::string why_none;
  Source empty;
  empty.text =
      "extern \"C\" __global__ void empty(const void*, void*, int, int, int, long long, long long) {}";
  empty.target = cuda_devices(why_none).at(0).target;
  const Compilation compiled = make_nvrtc_toolchain()->compile(empty);
  if (!compiled.ok) return state.SkipWithError(compiled.log.c_str());
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  if (cudaLibraryLoadData(&library, compiled.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) !=
          cudaSuccess ||
      cudaLibraryGetKernel(&kernel, library, "empty") != cudaSuccess)
    return state.SkipWithError("The kernel does not load.");
  void* pointer = nullptr;
  int number = 1;
  long long large = 1;
  std::array<void*, 7> arguments = {&pointer, &pointer, &number, &number, &number, &large, &large};
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 128;
  launches(state, [&] {
    return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments.data()) ==
           cudaSuccess;
  });
}
BENCHMARK(launch_cudaLaunchKernelExC)->Iterations(20000);
#endif

// ---- starts

void start(benchmark::State& state) {
  for ([[maybe_unused]] auto each : state) benchmark::DoNotOptimize(open());
}
BENCHMARK(start)->Unit(benchmark::kMillisecond);

// The database has 10,000 verdicts on 100 problems.
void start_with_verdicts(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "dispatch_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return state.SkipWithError("No temporary folder.");
  std::string why_none;
  const std::vector<DeviceFacts> gpus = cuda_devices(why_none);
  make_verdicts(folder + "/t.db", dispatcher().on_host() ? host_facts() : gpus.at(0), 100, 100);
  for ([[maybe_unused]] auto each : state) benchmark::DoNotOptimize(open(Compile::now, folder + "/t.db"));
  std::filesystem::remove_all(folder);
}
BENCHMARK(start_with_verdicts)->Unit(benchmark::kMillisecond);

// ---- choosing for an H200, which need not be here: the part of a first plan that is not loading

void choose(benchmark::State& state, const char* op_name, const std::string& before,
            const std::string& behind) {
  const DeviceFacts device = find_device("NVIDIA H200", "");
  const Op& op = find_op(op_name);
  const SelectionContext context(device, read_tuning_data({.database = "", .device = device}), true);
  const Chooser& chooser = context.of(op).chooser;
  std::int64_t n = 1000;
  for ([[maybe_unused]] auto each : state) {
    const Problem problem = complete_problem(op, Problem::parse(before + std::to_string(n += 8) + behind));
    Choices choices(chooser, problem, true);
    benchmark::DoNotOptimize(choices.at(0));
  }
}
BENCHMARK_CAPTURE(choose, conv2d, "conv2d", "height=1000 mask_height=3 mask_width=3 width=", "");
BENCHMARK_CAPTURE(choose, transpose, "transpose", "height=1000 width=", "");
BENCHMARK_CAPTURE(choose, reduce, "reduce", "function=max length=", "");
BENCHMARK_CAPTURE(choose, elementwise, "elementwise", "function=add shape=", "");
BENCHMARK_CAPTURE(choose, histogram, "histogram", "bins=256 length=", "");

}  // namespace
}  // namespace tunesmith

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  // Makes the plan first, so that it is not part of a benchmark's first round.
  tunesmith::conv2d_plan<float>(tunesmith::dispatcher(), tunesmith::image);
  benchmark::RunSpecifiedBenchmarks();
}
