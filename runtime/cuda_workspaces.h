// SPDX-License-Identifier: Apache-2.0
// Workspaces of launches that bring none.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tunesmith {

/// Memory for launches that follow one another. Its zeros end at its middle and other bytes begin there, so
/// launches with different needs leave each other's zeros alone.
struct KeptMemory {
  char* first = nullptr;
  std::int64_t zero_bytes = 0, other_bytes = 0;
  bool is_zero = false;            ///< its zeros; false: a launch failed between its steps
  std::mutex turns = {};           ///< held while a launch in a stream is enqueued
  bool is_used = false;            ///< by a launch that is being captured
  cudaGraphNode_t last = nullptr;  ///< the last launch in a graph; null: unknown

  bool serves(std::int64_t bytes, std::int64_t zeroed) const;
  void* workspace(std::int64_t zeroed) const;
};

/// A stream's place in a capture.
struct Capture {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> last = {};  ///< the nodes that the stream's next one follows
};

class CudaWorkspaces {
 public:
  /// Returns the workspaces of the current device's context, and none from before a cudaDeviceReset(). Null
  /// if the driver has no pools.
  static CudaWorkspaces* of_context(int ordinal);

  /// A workspace for one launch. The zeros of a stream's launches, and of a graph's, are set once: each
  /// launch leaves them zero.
  class Loan {
   public:
    /// `bytes` in all, whose first `zeroed` are zero.
    Loan(CudaWorkspaces& workspaces, std::int64_t bytes, std::int64_t zeroed, cudaStream_t stream) noexcept;
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    cudaError_t error() const { return error_; }
    void* workspace() const { return workspace_; }
    /// Gives it back, also where `launched` is an error. Returns the first error.
    cudaError_t end(cudaError_t launched) noexcept;

   private:
    void lend_of_stream(std::int64_t bytes, std::int64_t zeroed);
    void make(std::int64_t bytes, std::int64_t zeroed) noexcept;

    CudaWorkspaces& workspaces_;
    cudaStream_t stream_;
    std::unique_lock<std::mutex> turn_;
    KeptMemory* kept_ = nullptr;
    bool is_captured_ = false;
    void* workspace_ = nullptr;
    cudaError_t error_ = cudaSuccess;
  };

  ~CudaWorkspaces() = delete;  // threads of a static dispatcher may launch while the process ends

 private:
  // Memory that a graph keeps, until it and its executables are gone and have run.
  struct OfGraph {
    CudaWorkspaces& workspaces;
    unsigned long long capture;
    std::unique_ptr<KeptMemory> memory = nullptr;  ///< null: no graph got it
    static void CUDART_CB destroy(void* object);
  };
  explicit CudaWorkspaces(cudaMemPool_t pool) : pool_(pool) {}
  KeptMemory* of_stream(cudaStream_t stream);
  KeptMemory* of_graph(const Capture& capture, std::int64_t bytes, std::int64_t zeroed);
  void collect();
  std::unique_ptr<KeptMemory> spare(std::int64_t bytes, std::int64_t zeroed);
  bool allocate(KeptMemory& memory, std::int64_t bytes, std::int64_t zeroed, cudaStream_t stream);

  cudaMemPool_t pool_;
  std::mutex mutex_;
  std::map<unsigned long long, std::unique_ptr<KeptMemory>> of_streams_;  ///< by the stream's id
  std::map<unsigned long long, std::vector<KeptMemory*>> of_captures_;    ///< by the capture's id
  std::vector<std::unique_ptr<KeptMemory>> spare_;                        ///< of graphs that are gone
  cudaStream_t own_stream_ = nullptr;                                     ///< sets a graph's memory to zero
  std::mutex gone_mutex_;
  std::vector<std::unique_ptr<OfGraph>> gone_;  ///< graphs that are gone, whose memory was not collected yet
};

}  // namespace tunesmith
