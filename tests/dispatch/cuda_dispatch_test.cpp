// SPDX-License-Identifier: Apache-2.0
// Tests the dispatcher on the first CUDA device; skipped if there is none.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "dispatch/packed.h"
#include "fixture.h"
#include "kernel_file/find_op.h"
#include "runtime/benchmark.h"
#include "tunesmith/conv2d.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

void require(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

class CudaMemory : public Memory {
 public:
  ~CudaMemory() override {
    for (void* memory : memory_) static_cast<void>(cudaFree(memory));
  }
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes));
    memory_.push_back(memory);
    return memory;
  }
  void upload(void* to, const std::vector<char>& from) override {
    require(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
    require(cudaDeviceSynchronize());  // for streams that do not wait for the default one
  }
  void download(std::vector<char>& to, const void* from) override {
    require(cudaDeviceSynchronize());
    require(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost));
  }

 private:
  std::vector<void*> memory_;
};

class CudaDispatchTest : public DispatcherTest {
 protected:
  void SetUp() override {
    std::string why_none;
    const std::vector<DeviceFacts> devices = cuda_devices(why_none);
    if (devices.empty()) GTEST_SKIP() << why_none;
    facts_ = devices.front();
  }
  DeviceFacts facts() const override { return facts_; }
  std::string device_id() const override { return "cuda:0"; }
  std::shared_ptr<Memory> memory() const override { return std::make_shared<CudaMemory>(); }

  DispatcherOptions nothing_but_the_library() const {
    DispatcherOptions bare = options();
    bare.database.clear();
    bare.cache_folder.clear();
    bare.compile = Compile::never;
    return bare;
  }

  DeviceFacts facts_;
};

TEST_F(CudaDispatchTest, TheBaseNeedsNoCompiler) {
  Dispatcher dispatcher(nothing_but_the_library());
  EXPECT_FALSE(dispatcher.on_host());
  for (const char* dtype : {"f32", "f64"}) {
    for (const char* sizes : {"height=1 width=1 mask_height=6 mask_width=6",
                              "height=101 width=203 mask_height=6 mask_width=17 mode=convolution batch=3",
                              "height=70000 width=3 mask_height=3 mask_width=3"}) {
      const Plan plan = dispatcher.plan("conv2d", std::string(sizes) + " dtype=" + dtype);
      check(plan, "conv2d");
      check(plan, "conv2d", 8);
    }
  }
}

TEST_F(CudaDispatchTest, TheDriverCompilesTheBuiltInPtx) {
  if (std::string("," PACK_TARGETS ",").find("," + std::string(ptx_target) + ",") == std::string::npos)
    GTEST_SKIP() << "this build packs kernels for " PACK_TARGETS " alone";
  const Op& op = find_op("conv2d");
  const Problem problem =
      complete_problem(op, Problem::parse("height=31 width=77 mask_height=5 mask_width=4"));
  const Config config = base_config(op, problem);
  const Source source = render(op, op.templates.front(), problem, config, ptx_target);
  const std::string ptx = packed(packed_name(ptx_target, source.hash));
  ASSERT_FALSE(ptx.empty());
  const auto executable = load_cuda(ptx, source.suffix, op.templates.front().work(problem, config), 0);
  const Buffers buffers(op, problem, 0, 1, memory());
  ASSERT_EQ(executable->launch(buffers.arguments().data(), nullptr, nullptr), 0);
  EXPECT_EQ(buffers.why_wrong(), "");
}

TEST_F(CudaDispatchTest, AlignedAndUnalignedPointers) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = facts_});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::exact);
  EXPECT_EQ(plan.alignment_bytes(), 16);
  for (const std::size_t offset : {0, 4, 8, 12}) check(plan, "smooth", offset);
}

TEST_F(CudaDispatchTest, PointersAreCheckedWhereThatIsAskedFor) {
  DispatcherOptions checking = nothing_but_the_library();
  checking.check_pointers = true;
  Dispatcher dispatcher(checking);
  const Plan plan = dispatcher.plan("conv2d", "height=20 width=24 mask_height=3 mask_width=3");
  const Buffers buffers(find_op("conv2d"), Problem::parse(plan.problem()), 0, 1, memory());
  std::vector<void*> arguments(buffers.arguments().begin(), buffers.arguments().end());
  EXPECT_TRUE(plan.launch(arguments).ok());
  void* const image = arguments[0];
  const auto refused = [&](void* pointer) {
    arguments[0] = pointer;
    const Status status = plan.launch(arguments);
    EXPECT_THAT(status.message(), HasSubstr("The argument image is not memory of " + facts_.name));
    return status.code() == Status::foreign_argument;
  };
  std::vector<float> of_the_host(20 * 24);
  EXPECT_TRUE(refused(of_the_host.data()));
  void* other = nullptr;
  require(cudaMalloc(&other, std::size_t{4} << 20));
  EXPECT_TRUE(refused(static_cast<char*>(other) + (std::size_t{4} << 20) - 16)) << "it ends behind the array";
  require(cudaFree(other));
  EXPECT_TRUE(refused(other));
  for (const bool managed : {true, false}) {
    require(managed ? cudaMallocManaged(&other, 20 * 24 * 4) : cudaMallocHost(&other, 20 * 24 * 4));
    arguments[0] = other;
    EXPECT_TRUE(plan.launch(arguments).ok()) << managed;
    require(cudaDeviceSynchronize());
    require(managed ? cudaFree(other) : cudaFreeHost(other));
  }
  arguments[0] = image;
  EXPECT_TRUE(plan.launch(arguments).ok());
  require(cudaDeviceSynchronize());
}

TEST_F(CudaDispatchTest, ALaunchMayBeCaptured) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = facts_});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  const Buffers buffers(find_op("smooth"), Problem::parse(plan.problem()), 0, 1, memory());
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  require(cudaStreamCreate(&stream));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const Status status = plan.launch(buffers.arguments(), stream);
  require(cudaStreamEndCapture(stream, &graph));
  ASSERT_TRUE(status.ok()) << status.message();
  require(cudaGraphInstantiate(&ready, graph, 0));
  require(cudaGraphLaunch(ready, stream));
  require(cudaStreamSynchronize(stream));
  EXPECT_EQ(buffers.why_wrong(), "");
  require(cudaGraphExecDestroy(ready));
  require(cudaGraphDestroy(graph));
  require(cudaStreamDestroy(stream));
}

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT: stands where a stream does

 private:
  cudaStream_t stream_ = nullptr;
};

// The work that `work` enqueues, as a graph that can be launched.
template <typename Work>
cudaGraphExec_t captured(cudaStream_t stream, Work work) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work();
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&ready, graph, 0));
  require(cudaGraphDestroy(graph));
  return ready;
}

// The plan is made and loaded for the first time inside a capture; then the dispatcher and all plans are
// destroyed.
TEST_F(CudaDispatchTest, PlanningDoesNotEndACaptureAndGraphsKeepTheirKernels) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = facts_});
  const Buffers buffers(find_op("smooth"), Problem::parse("n=1000 taps=5 dtype=f32"), 0, 1, memory());
  const Stream stream;
  cudaGraphExec_t graph = nullptr;
  {
    Dispatcher dispatcher(options());
    graph = captured(stream, [&] {
      const Status status = dispatcher.plan("smooth", "n=1000 taps=5").launch(buffers.arguments(), stream);
      EXPECT_TRUE(status.ok()) << status.message();
    });
  }
  require(cudaGraphLaunch(graph, stream));
  require(cudaStreamSynchronize(stream));
  EXPECT_EQ(buffers.why_wrong(), "");
  require(cudaGraphExecDestroy(graph));
}

// Variants are tried on the library's own stream and memory while the caller captures.
TEST_F(CudaDispatchTest, WhatIsTriedAtFirstUseIsNotCaptured) {
  tune({.problem = "n=1000 taps=5", .config = "BLOCK=32 VECTOR=4", .device = facts_});
  tune({.problem = "n=1004 taps=5", .config = "BLOCK=64 VECTOR=2", .device = facts_});
  const Problem problem = Problem::parse("n=100000 taps=5 dtype=f32");
  const Buffers buffers(find_op("smooth"), problem, 0, 1, memory());
  const Stream stream;
  DispatcherOptions trying = options();
  trying.tune_on_first_use = 2;
  for (const Compile compile : {Compile::now, Compile::background}) {
    trying.compile = compile;
    trying.cache_folder = (folder_ / std::to_string(static_cast<int>(compile))).string();
    Dispatcher dispatcher(trying);
    cudaGraphExec_t graph = captured(stream, [&] {
      const Plan plan = dispatcher.plan("smooth", problem.text());
      const Status status = plan.launch(buffers.arguments(), stream);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(dispatcher.wait_until_ready());
    });
    const Plan plan = dispatcher.plan("smooth", problem.text());
    says(plan, "Of 2 that were tried here");
    EXPECT_GT(plan.expected_us(), 0);
    EXPECT_LT(plan.expected_us(), 1000);
    require(cudaGraphLaunch(graph, stream));
    require(cudaStreamSynchronize(stream));
    EXPECT_EQ(buffers.why_wrong(), "");
    require(cudaGraphExecDestroy(graph));
    check(plan, "smooth");
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

// Times by events, behind a gate: an empty launch takes microseconds, not the tens that enqueuing takes.
TEST_F(CudaDispatchTest, ARehearsalTimesTheDeviceAlone) {
  const Op& op = find_op("smooth");
  const auto benchmark = make_cuda_benchmark(0);
  EXPECT_GT(benchmark->spare_bytes(), 1 << 20);
  const auto time = [&](std::int64_t n) {
    const Problem problem = complete_problem(op, {{"n", n}, {"taps", std::int64_t{5}}});
    const Config config = find_template(op, "vector").space(problem).complete({});
    const Source source = render(op, find_template(op, "vector"), problem, config, facts_.target);
    const auto executable = load_cuda(binary_of(source), source.suffix,
                                      find_template(op, "vector").work(problem, config, facts_), 0, true);
    std::vector<void*> arguments;
    for (const Argument& argument : op.arguments)
      arguments.push_back(benchmark->allocate(4 * elements(argument, problem), {}));
    benchmark->time_us(*executable, arguments.data(), 1);
    return benchmark->time_us(*executable, arguments.data(), 20);
  };
  const double little = time(1000), much = time(100'000'000);
  EXPECT_GT(little, 0);
  EXPECT_LT(little, 20);
  EXPECT_GT(much, 5 * little);
}

TEST_F(CudaDispatchTest, PlansThatLeaveNeitherEndACaptureNorALaunch) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .device = facts_});
  const Problem large = Problem::parse("n=20000000 taps=9 dtype=f32");
  const Buffers busy(find_op("smooth"), large, 0, 2, memory());
  DispatcherOptions no_room = options();
  no_room.most_bytes = 0;
  auto dispatcher = std::make_unique<Dispatcher>(no_room);
  Plan plan = dispatcher->plan("smooth", large.text());
  const Stream stream;
  const Stream other;
  cudaGraphExec_t graph = captured(stream, [&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(plan.launch(busy.arguments(), other).ok());
    plan = dispatcher->plan("smooth", "n=77 taps=8");
    plan = Plan();
  });
  require(cudaGraphExecDestroy(graph));
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(dispatcher->plan("smooth", large.text()).launch(busy.arguments(), other).ok());
  dispatcher.reset();
  require(cudaStreamSynchronize(other));
  EXPECT_EQ(busy.why_wrong(), "");
}

TEST_F(CudaDispatchTest, ABetterKernelIsCompiledBehindThePlan) {
  DispatcherOptions background = options();
  background.compile = Compile::background;
  tune({.op = "conv2d",
        .problem = "height=500 width=640 mask_height=3 mask_width=3",
        .template_name = "tiled",
        .config = "",
        .device = facts_});
  Dispatcher dispatcher(background);
  const char* problem = "height=501 width=640 mask_height=4 mask_width=5";
  const Plan first = dispatcher.plan("conv2d", problem);
  check(first, "conv2d");
  EXPECT_TRUE(dispatcher.wait_until_ready());
  const Plan better = dispatcher.plan("conv2d", problem);
  EXPECT_EQ(better.variant().template_name, "tiled");
  EXPECT_TRUE(first.outdated());
  check(better, "conv2d");
  check(better, "conv2d", 4);
}

// On two streams at once, and in a graph with two branches that is replayed, launches do not meet in a
// workspace: neither where all of it is zero, which is kept (VECTOR=1), nor where it is made for each launch
// (VECTOR=4).
TEST_F(CudaDispatchTest, AWorkspaceIsMadeWhereNoneIsGiven) {
  for (const char* const config : {"VECTOR=4", "VECTOR=1"}) {
    const std::string problem = config == std::string("VECTOR=4") ? "n=100000" : "n=100001";
    tune({.op = "tally", .problem = problem, .template_name = "base", .config = config, .device = facts_});
    Dispatcher dispatcher(options());
    const Plan plan = dispatcher.plan("tally", problem);
    ASSERT_GT(plan.workspace_bytes(), 0);
    ASSERT_EQ(plan.variant().config, config);
    const Op& op = find_op("tally");
    const Stream streams[2];
    std::vector<Buffers> buffers;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U})
      buffers.emplace_back(op, Problem::parse(plan.problem()), 0, seed, memory());
    const auto launch = [&](std::size_t which, cudaStream_t stream) {
      const Status status = plan.launch(buffers[which].arguments(), stream);
      EXPECT_TRUE(status.ok()) << status.message();
    };
    for (int round = 0; round < 50; ++round) {
      launch(0, streams[0]);
      launch(1, streams[1]);
    }
    cudaEvent_t forked = nullptr, joined = nullptr;
    require(cudaEventCreate(&forked));
    require(cudaEventCreate(&joined));
    cudaGraphExec_t graph = captured(streams[0], [&] {
      launch(2, streams[0]);
      require(cudaEventRecord(forked, streams[0]));
      require(cudaStreamWaitEvent(streams[1], forked));
      for (int round = 0; round < 20; ++round) {
        launch(2, streams[0]);
        launch(3, streams[1]);
      }
      require(cudaEventRecord(joined, streams[1]));
      require(cudaStreamWaitEvent(streams[0], joined));
      launch(2, streams[0]);
    });
    for (int replay = 0; replay < 3; ++replay) {
      require(cudaGraphLaunch(graph, streams[0]));
      launch(1, streams[1]);
    }
    for (const Buffers& each : buffers) EXPECT_EQ(each.why_wrong(), "") << config;
    require(cudaGraphExecDestroy(graph));
    require(cudaEventDestroy(forked));
    require(cudaEventDestroy(joined));
  }
}

// The reset takes away the pool of workspaces; a dispatcher that is made later has another pool.
TEST_F(CudaDispatchTest, AResetDeviceHasNewWorkspaces) {
  tune({.op = "tally",
        .problem = "n=100000",
        .template_name = "base",
        .config = "VECTOR=4",
        .device = facts_});
  for (int resets = 0; resets < 3; ++resets) {
    {
      Dispatcher dispatcher(options());
      const Plan plan = dispatcher.plan("tally", "n=100000");
      ASSERT_GT(plan.workspace_bytes(), 0);
      check(plan, "tally");
    }
    require(cudaDeviceReset());
  }
}

// For two launches in a row, the number of edges of their graph over which the second may start before the
// first has ended.
int overlapping_edges(const Plan& plan, std::span<void* const> arguments) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  require(cudaStreamCreate(&stream));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const bool launched = plan.launch(arguments, stream).ok() && plan.launch(arguments, stream).ok();
  require(cudaStreamEndCapture(stream, &graph));
  EXPECT_TRUE(launched);
  cudaGraphNode_t from[8];
  cudaGraphNode_t to[8];
  cudaGraphEdgeData edges[8];
  std::size_t count = 8;
#if CUDART_VERSION >= 13000
  require(cudaGraphGetEdges(graph, from, to, edges, &count));
#else
  require(cudaGraphGetEdges_v2(graph, from, to, edges, &count));
#endif
  require(cudaGraphDestroy(graph));
  require(cudaStreamDestroy(stream));
  return static_cast<int>(std::count_if(edges, edges + count, [](const cudaGraphEdgeData& edge) {
    return edge.type == cudaGraphDependencyTypeProgrammatic;
  }));
}

TEST_F(CudaDispatchTest, OverlapIsSwitchedOff) {
  if (facts_.compute_capability < 90) GTEST_SKIP() << "Kernels overlap from compute capability 9.0 on.";
  const std::string shape = "height=100 width=100 mask_height=3 mask_width=3";
  tune({.op = "conv2d",
        .problem = shape,
        .template_name = "tiled",
        .config = "START=overlapped",
        .device = facts_,
        .median_us = 0.5});  // so that no built-in variant promises more
  DispatcherOptions chosen = options();
  for (const bool overlap : {true, false}) {
    chosen.overlap = overlap;
    Dispatcher dispatcher(chosen);
    const Plan plan = dispatcher.plan("conv2d", shape);
    ASSERT_EQ(plan.match(), Match::exact);
    const Buffers buffers(find_op("conv2d"), Problem::parse(plan.problem()), 0, 1, memory());
    EXPECT_EQ(overlapping_edges(plan, buffers.arguments()), overlap ? 1 : 0);
    check(plan, "conv2d");
  }
}

TEST_F(CudaDispatchTest, TwoThreadsWithAStreamEach) {
  tune({.problem = "n=100000 taps=5", .config = "VECTOR=4", .device = facts_});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=100000 taps=5");
  std::vector<std::jthread> threads;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    threads.emplace_back([this, &plan, seed] {
      cudaStream_t stream = nullptr;
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      const Buffers buffers(find_op("smooth"), Problem::parse(plan.problem()), 0, seed, memory());
      bool all_ok = true;
      for (int i = 0; i < 200; ++i) all_ok &= plan.launch(buffers.arguments(), stream).ok();
      EXPECT_TRUE(all_ok);
      EXPECT_EQ(buffers.why_wrong(), "");
      require(cudaStreamDestroy(stream));
    });
  }
}

// The same as on the host: random winners of every template, and untuned problems.
TEST_F(CudaDispatchTest, RandomProblemsThroughTheNearestRule) {
  EXPECT_GT(random_conv2d({.seed = 11,
                           .shapes = {"height=500 width=640 mask_height=3 mask_width=3",
                                      "height=200 width=200 mask_height=13 mask_width=13 mode=convolution",
                                      "height=33 width=1024 batch=4 mask_height=5 mask_width=5",
                                      "height=301 width=320 mask_height=4 mask_width=7 dtype=f64"},
                           .configs = 6,
                           .problems = 60,  // most of them compile a variant of their own
                           .masks = {{3, 3}, {5, 5}, {13, 13}, {4, 7}, {6, 6}, {1, 9}},
                           .largest = 700,
                           .one_in_f64 = 4}),
            30);
}

}  // namespace
}  // namespace tunesmith
