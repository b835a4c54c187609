// SPDX-License-Identifier: Apache-2.0
// Tests the workspaces of launches that bring none, with a CUDA runtime whose memory is the host's and whose
// streams run at once.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/cuda_workspaces.h"

namespace {

struct Graph {
  std::vector<std::vector<std::size_t>> before;  // of each node
  std::vector<std::pair<cudaHostFn_t, void*>> objects;
};

struct FakeCuda {
  std::set<void*> memory;
  int fills = 0, allocations = 0;
  unsigned long long context = 1;
  std::map<cudaStream_t, std::pair<Graph*, std::vector<std::size_t>>> captures;  // the stream's last nodes
  std::pair<cudaHostFn_t, void*> object;
  bool tells_captures = true;
} cuda;

cudaGraphNode_t node(std::size_t index) { return reinterpret_cast<cudaGraphNode_t>(16 * (index + 1)); }
std::size_t index_of(cudaGraphNode_t node) { return reinterpret_cast<std::uintptr_t>(node) / 16 - 1; }
cudaStream_t stream(std::uintptr_t id) { return reinterpret_cast<cudaStream_t>(16 * id); }

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t) { return ""; }
const char* cudaGetErrorString(cudaError_t) { return ""; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  using Id = int (*)(void*, unsigned long long*);
  *function = reinterpret_cast<void*>(static_cast<Id>([](void*, unsigned long long* id) {
    *id = cuda.context;
    return 0;
  }));
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = reinterpret_cast<cudaMemPool_t>(&cuda);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t, cudaStream_t) {
  ++cuda.allocations;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*memory, 0x7b, bytes);
  cuda.memory.insert(*memory);
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  if (cuda.memory.erase(memory) == 0) return cudaErrorInvalidValue;
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
  ++cuda.fills;
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned) {
  *made = stream(1000);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamGetId(cudaStream_t of, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(of);
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t of, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** last,
                                     const cudaGraphEdgeData**, size_t* count) {
  if (!cuda.tells_captures) return cudaErrorStreamCaptureImplicit;
  static std::vector<cudaGraphNode_t> nodes;
  nodes.clear();
  *status = cudaStreamCaptureStatusNone;
  if (const auto found = cuda.captures.find(of); found != cuda.captures.end()) {
    *status = cudaStreamCaptureStatusActive;
    *id = reinterpret_cast<std::uintptr_t>(found->second.first);
    *graph = reinterpret_cast<cudaGraph_t>(found->second.first);
    for (const std::size_t index : found->second.second) nodes.push_back(node(index));
  }
  *last = nodes.data();
  *count = nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t of, cudaGraphNode_t* before, cudaGraphEdgeData*,
                                         size_t* count) {
  const Graph* const graph = cuda.captures.begin()->second.first;  // the tests capture one at a time
  const std::vector<std::size_t>& all = graph->before.at(index_of(of));
  *count = std::min(*count, all.size());
  for (std::size_t i = 0; i < *count; ++i) before[i] = node(all[i]);
  return cudaSuccess;
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t* made, void* object, cudaHostFn_t destroy, unsigned,
                                 unsigned) {
  cuda.object = {destroy, object};
  *made = reinterpret_cast<cudaUserObject_t>(&cuda.object);
  return cudaSuccess;
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t, unsigned) {
  cuda.object.first(cuda.object.second);
  return cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t, unsigned, unsigned) {
  reinterpret_cast<Graph*>(graph)->objects.push_back(cuda.object);
  return cudaSuccess;
}

}  // extern "C"

namespace tunesmith {
namespace {

class WorkspacesTest : public testing::Test {
 protected:
  WorkspacesTest() {
    cuda.context += 1;
    cuda.captures.clear();
    cuda.tells_captures = true;
    workspaces_ = CudaWorkspaces::of_context(0);
  }

  // A launch that needs these bytes: it finds zeros, and leaves zeros and other bytes.
  char* launch(std::int64_t bytes, std::int64_t zeroed, cudaStream_t in, cudaError_t answer = cudaSuccess) {
    CudaWorkspaces::Loan loan(*workspaces_, bytes, zeroed, in);
    EXPECT_EQ(loan.error(), cudaSuccess);
    char* const workspace = static_cast<char*>(loan.workspace());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(workspace) % 256, 0U);
    EXPECT_EQ(std::count(workspace, workspace + zeroed, '\0'), zeroed);
    const std::int64_t others = (zeroed + 255) / 256 * 256;
    if (bytes > others) std::memset(workspace + others, 0x11, static_cast<std::size_t>(bytes - others));
    if (answer != cudaSuccess) std::memset(workspace, 0x22, static_cast<std::size_t>(zeroed));
    if (const auto capture = cuda.captures.find(in); capture != cuda.captures.end()) {
      auto& [graph, last] = capture->second;
      graph->before.push_back(std::exchange(last, {graph->before.size()}));
    }
    EXPECT_EQ(loan.end(answer), answer);
    return workspace;
  }
  static void destroy(Graph& graph) {
    for (const auto& [function, object] : graph.objects) function(object);
    graph.objects.clear();
  }
  static int fills_of(const std::function<void()>& calls) {
    const int before = cuda.fills;
    calls();
    return cuda.fills - before;
  }

  CudaWorkspaces* workspaces_ = nullptr;
};

TEST_F(WorkspacesTest, ZerosOfAStreamAreSetOnce) {
  launch(100'000, 4000, stream(1));
  EXPECT_EQ(fills_of([&] {
              for (const std::int64_t zeroed : {4, 4000, 256, 257, 4000, 4})
                launch(zeroed + 90'000, zeroed, stream(1));
              for (const std::int64_t zeroed : {4, 4000}) launch(zeroed, zeroed, stream(1));
            }),
            0);
  EXPECT_EQ(fills_of([&] { launch(5000, 5000, stream(1)); }), 1);     // more zeros than there were
  EXPECT_EQ(fills_of([&] { launch(300'000, 4000, stream(1)); }), 1);  // more of the others
  EXPECT_EQ(fills_of([&] { launch(300'000, 5000, stream(1)); }), 0);
}

TEST_F(WorkspacesTest, StreamsHaveTheirOwn) {
  EXPECT_NE(launch(4000, 400, stream(1)), launch(4000, 400, stream(2)));
  EXPECT_EQ(launch(4000, 400, stream(1)), launch(4000, 400, stream(1)));
  cuda.context += 1;  // as after a reset
  CudaWorkspaces* const before = std::exchange(workspaces_, CudaWorkspaces::of_context(0));
  EXPECT_NE(before, workspaces_);
  EXPECT_EQ(fills_of([&] { launch(4000, 400, stream(1)); }), 1);
}

TEST_F(WorkspacesTest, ALaunchThatFailedLeavesNoCounters) {
  launch(4000, 400, stream(1));
  launch(4000, 400, stream(1), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(fills_of([&] { launch(4000, 400, stream(1)); }), 1);
  EXPECT_EQ(fills_of([&] { launch(4000, 400, stream(1)); }), 0);
}

// A work whose other bytes may lie between its zeros and the next multiple of 256, a large one, one in a
// stream too many, and one where CUDA does not tell who captures.
TEST_F(WorkspacesTest, OthersAreMadeForOneLaunch) {
  const auto made = [&](std::int64_t bytes, std::int64_t zeroed, cudaStream_t in) {
    const std::size_t before = cuda.memory.size();
    const int fills = fills_of([&] { launch(bytes, zeroed, in); });
    return fills == (zeroed > 0 ? 1 : 0) && cuda.memory.size() == before;
  };
  EXPECT_TRUE(made(16, 4, stream(1)));
  EXPECT_TRUE(made(5 << 20, 4, stream(1)));
  EXPECT_TRUE(made(5 << 10, 0, stream(1)));
  for (std::uintptr_t id = 1; id <= 64; ++id) launch(4000, 400, stream(id));
  EXPECT_TRUE(made(4000, 400, stream(65)));
  EXPECT_FALSE(made(4000, 400, stream(64)));
  cuda.tells_captures = false;
  EXPECT_TRUE(made(4000, 400, stream(1)));
}

TEST_F(WorkspacesTest, LaunchesOfAGraphShareWhereOneFollowsTheOther) {
  Graph graph;
  cuda.captures[stream(1)] = {&graph, {}};
  char* const first = launch(4000, 400, stream(1));
  EXPECT_EQ(fills_of([&] { EXPECT_EQ(launch(4000, 400, stream(1)), first); }), 0);
  cuda.captures[stream(2)] = cuda.captures[stream(1)];  // a fork
  EXPECT_EQ(launch(4000, 400, stream(1)), first);
  char* const beside = launch(4000, 400, stream(2));
  EXPECT_NE(beside, first);
  cuda.captures[stream(1)].second.push_back(cuda.captures[stream(2)].second.front());  // a join
  char* const behind = launch(4000, 400, stream(1));
  EXPECT_TRUE(behind == first || behind == beside);
  cuda.captures[stream(1)].second.clear();  // cudaStreamUpdateCaptureDependencies
  char* const apart = launch(4000, 400, stream(1));
  EXPECT_TRUE(apart != first && apart != beside);
  EXPECT_EQ(graph.objects.size(), 3U);
  // A launch outside of the capture meanwhile has the stream's.
  EXPECT_NE(launch(4000, 400, stream(3)), first);
  cuda.captures.clear();
  destroy(graph);
}

TEST_F(WorkspacesTest, AGraphThatIsGoneLeavesItsMemoryToTheNext) {
  char* kept = nullptr;
  for (int round = 0; round < 3; ++round) {
    Graph graph;
    cuda.captures[stream(1)] = {&graph, {}};
    const std::size_t before = cuda.memory.size();
    const int fills = fills_of([&] {
      char* const workspace = launch(4000, 400, stream(1));
      if (round > 0) {
        EXPECT_EQ(workspace, kept);
      }
      kept = workspace;
    });
    EXPECT_EQ(fills, round == 0 ? 1 : 0);
    EXPECT_EQ(cuda.memory.size(), before + (round == 0 ? 1 : 0));
    EXPECT_EQ(graph.objects.size(), 1U);
    cuda.captures.clear();
    destroy(graph);
  }
  // A graph whose launch failed leaves counters.
  Graph graph;
  cuda.captures[stream(1)] = {&graph, {}};
  launch(4000, 400, stream(1), cudaErrorLaunchOutOfResources);
  cuda.captures.clear();
  destroy(graph);
  cuda.captures[stream(1)] = {&graph, {}};
  EXPECT_EQ(fills_of([&] { EXPECT_EQ(launch(4000, 400, stream(1)), kept); }), 1);
  // A larger workspace takes the place of a spare one.
  cuda.captures.clear();
  destroy(graph);
  const std::size_t before = cuda.memory.size();
  cuda.captures[stream(1)] = {&graph, {}};
  launch(40'000'000, 0, stream(1));
  EXPECT_EQ(cuda.memory.size(), before);
  cuda.captures.clear();
  destroy(graph);
}

}  // namespace
}  // namespace tunesmith
