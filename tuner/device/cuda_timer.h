// SPDX-License-Identifier: Apache-2.0
// Makes a time on a CUDA GPU: it takes differences of graphs, so that the cost of a replay is in none of them
// (docs/measuring.md). It knows no reference and no verdict.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tuner/device/device.h"
#include "tuner/device/nvml.h"

namespace tunesmith {

class CudaTimer {
 public:
  /// The tuner's own kernels, which are launched without any attribute.
  struct Kernels {
    cudaKernel_t spacer = nullptr;  ///< does nothing, in one block
    cudaKernel_t evict = nullptr;   ///< reads memory
  };
  CudaTimer(const DeviceFacts& facts, int ordinal, const Kernels& kernels);
  ~CudaTimer();
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  /// Call it while the GPU is busy: samples are compared with its clock.
  void settled();

  /// The memory that a launch works on. `bytes` is 0 for memory that the caller did not allocate.
  struct Buffer {
    void* memory = nullptr;
    std::int64_t bytes = 0;
  };
  struct Buffers {
    std::vector<Buffer> arguments;
    Buffer workspace;
  };
  TimeSamples time(Executable& executable, const Buffers& buffers, const Timing& timing);
  std::optional<double> energy_uj(Executable& executable, const Buffers& buffers);
  bool tells_energy() const { return nvml_.energy_mj().has_value(); }
  /// The processes that have a context on the device. It needs no context itself.
  static std::vector<std::int32_t> processes_on(int ordinal);

  /// Launches the spacer before a variant: a kernel that does nothing, or one that reads `bytes` of memory,
  /// all zeros.
  static void space(const Kernels& kernels, int multiprocessors, const void* memory, std::int64_t bytes,
                    cudaStream_t stream);

  /// Waits for the legacy default stream.
  cudaStream_t stream() const { return stream_; }

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t graph) const { static_cast<void>(cudaGraphExecDestroy(graph)); }
  };
  using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy>;
  /// Two graphs whose times differ by `launches` launches of a variant.
  struct Difference {
    const Graph& more;
    const Graph& less;
    int launches;
  };
  struct Pointers {
    std::vector<void*> arguments;
    void* workspace = nullptr;
  };
  /// The caches that a launch finds: if warm, as the launch before left them. If cold, each launch works on
  /// the copy of the buffers that was used longest ago, and the spacer before it reads other memory.
  struct Turns {
    std::vector<Pointers> copies;
    std::int64_t evicted_bytes = 0;
  };
  struct Arena {
    void* memory = nullptr;
    std::int64_t bytes = 0;
  };
  using Step = std::function<void(int turn)>;  ///< enqueues on stream_

  static Pointers pointers_of(const Buffers& buffers);
  Turns cold_turns(const Buffers& buffers, int repeats);
  char* at_least(Arena& arena, std::int64_t bytes);
  void launch(Executable& executable, const Pointers& pointers);
  void space(std::int64_t evicted_bytes, int turn);
  double rough_us(Executable& executable, const Pointers& pointers, std::int64_t evicted_bytes);
  TimeSamples lasting(double us);  // one launch that takes long is the only sample
  Graph capture(int repeats, const Step& step);
  const Graph& spacers(std::int64_t evicted_bytes, int repeats);
  void replay(const Graph& graph);
  std::vector<double> sample(const Difference& graphs, int samples, std::optional<Nvml::State>& state);
  std::vector<double> undisturbed(const Difference& graphs, int samples, TimeSamples& timed);
  void mark(std::size_t event);
  void wait(std::size_t event) const;
  double elapsed_us(std::size_t from, std::size_t to) const;

  DeviceFacts facts_;
  Kernels kernels_;
  Nvml nvml_;
  int settled_mhz_ = 0;
  cudaStream_t stream_ = nullptr;
  std::vector<cudaEvent_t> events_;
  Arena evicted_;  ///< memory that spacers read
  Arena copies_;
  std::map<std::pair<std::int64_t, int>, Graph> spacers_;  ///< by the evicted bytes and the number of spacers
};

}  // namespace tunesmith
