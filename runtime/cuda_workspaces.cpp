// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_workspaces.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "runtime/cuda_scope.h"
#include "runtime/launch_check.h"

namespace tunesmith {
namespace {

// Larger workspaces are made for each launch: beside what these launches take, that costs nothing.
constexpr std::int64_t most_of_stream = std::int64_t{4} << 20, most_of_graph = std::int64_t{64} << 20;
// An application that makes a stream for each task should not collect memory for all of them.
constexpr std::size_t most_streams = 64;

std::int64_t room(std::int64_t bytes) {
  const auto powers = std::bit_ceil(static_cast<std::uint64_t>(bytes));
  return bytes == 0 ? 0 : std::max<std::int64_t>(4096, static_cast<std::int64_t>(powers));
}
std::int64_t others(std::int64_t bytes, std::int64_t zeroed) {
  return std::max<std::int64_t>(0, bytes - behind_zeros(zeroed));
}
// See Work::zeroed_bytes.
bool others_begin_apart(std::int64_t bytes, std::int64_t zeroed) {
  return bytes == zeroed || bytes > behind_zeros(zeroed);
}

// Returns the id of the current context, which changes with cudaDeviceReset(). 0: the driver does not tell
// (before CUDA 12).
unsigned long long context_id() {
  using Id = int (*)(void* context, unsigned long long* id);
  static const auto get_id = driver_function<Id>("cuCtxGetId");
  unsigned long long id = 0;
  return get_id != nullptr && get_id(nullptr, &id) == 0 ? id : 0;
}

#if CUDART_VERSION >= 12030
// False: CUDA does not tell.
bool find(Capture& capture, cudaStream_t stream) {
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  const cudaGraphEdgeData* edges = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t code =
      cudaStreamGetCaptureInfo(stream, &capture.status, &capture.id, &capture.graph, &last, &edges, &count);
#else
  const cudaError_t code = cudaStreamGetCaptureInfo_v3(stream, &capture.status, &capture.id, &capture.graph,
                                                       &last, &edges, &count);
#endif
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  capture.last.assign(last, last + count);
  return true;
}

// True if every node that follows all of `last` also follows `node`, as far as a short walk tells.
bool follows(const std::vector<cudaGraphNode_t>& last, cudaGraphNode_t node) {
  constexpr std::size_t most_nodes = 64;
  std::vector<cudaGraphNode_t> seen = last;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == node) return true;
    std::array<cudaGraphNode_t, most_nodes> before = {};
    std::array<cudaGraphEdgeData, most_nodes> edges = {};
    std::size_t count = before.size();
#if CUDART_VERSION >= 13000
    const cudaError_t code = cudaGraphNodeGetDependencies(seen[i], before.data(), edges.data(), &count);
#else
    const cudaError_t code = cudaGraphNodeGetDependencies_v2(seen[i], before.data(), edges.data(), &count);
#endif
    if (code != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    for (std::size_t k = 0; k < count && seen.size() < most_nodes; ++k)
      if (std::find(seen.begin(), seen.end(), before[k]) == seen.end()) seen.push_back(before[k]);
  }
  return false;
}
#else
bool find(Capture&, cudaStream_t) { return false; }
bool follows(const std::vector<cudaGraphNode_t>&, cudaGraphNode_t) { return false; }
#endif

}  // namespace

bool KeptMemory::serves(std::int64_t bytes, std::int64_t zeroed) const {
  return zeroed <= zero_bytes && others(bytes, zeroed) <= other_bytes;
}
void* KeptMemory::workspace(std::int64_t zeroed) const { return first + zero_bytes - behind_zeros(zeroed); }

// A thread of CUDA's calls it, so its lock is never held during a call of CUDA.
void CUDART_CB CudaWorkspaces::OfGraph::destroy(void* object) {
  std::unique_ptr<OfGraph> own(static_cast<OfGraph*>(object));
  if (own->memory == nullptr) return;
  CudaWorkspaces& workspaces = own->workspaces;
  const std::scoped_lock lock(workspaces.gone_mutex_);
  workspaces.gone_.push_back(std::move(own));
}

// Takes back the memory of graphs that are gone.
void CudaWorkspaces::collect() {
  std::vector<std::unique_ptr<OfGraph>> gone;
  {
    const std::scoped_lock lock(gone_mutex_);
    gone.swap(gone_);
  }
  for (const std::unique_ptr<OfGraph>& each : gone) {
    const auto found = of_captures_.find(each->capture);
    std::erase(found->second, each->memory.get());
    if (found->second.empty()) of_captures_.erase(found);
    each->memory->last = nullptr;
    spare_.push_back(std::move(each->memory));
  }
}

CudaWorkspaces* CudaWorkspaces::of_context(int ordinal) {
  static std::mutex mutex;
  static auto* const all = new std::map<std::pair<int, unsigned long long>, CudaWorkspaces*>;
  const std::scoped_lock lock(mutex);
  const std::pair key(ordinal, context_id());
  if (const auto known = all->find(key); known != all->end()) return known->second;
  const OutsideCaptures outside;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool = nullptr;
  std::uint64_t kept_bytes = ~std::uint64_t{0};  // it keeps released memory for the next launch
  if (cudaMemPoolCreate(&pool, &properties) != cudaSuccess ||
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return (*all)[key] = nullptr;
  }
  return (*all)[key] = new CudaWorkspaces(pool);
}

KeptMemory* CudaWorkspaces::of_stream(cudaStream_t stream) {
  unsigned long long id = 0;
#if CUDART_VERSION >= 12000
  if (cudaStreamGetId(stream, &id) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
#else
  static_cast<void>(stream);
  return nullptr;
#endif
  const std::scoped_lock lock(mutex_);
  if (const auto known = of_streams_.find(id); known != of_streams_.end()) return known->second.get();
  if (of_streams_.size() >= most_streams) return nullptr;
  return of_streams_.emplace(id, std::make_unique<KeptMemory>()).first->second.get();
}

// Replaces the memory, in the stream's order, by some that serves, without zeros yet.
bool CudaWorkspaces::allocate(KeptMemory& memory, std::int64_t bytes, std::int64_t zeroed,
                              cudaStream_t stream) {
  const std::int64_t zero_bytes = std::max(memory.zero_bytes, room(zeroed));
  const std::int64_t other_bytes = std::max(memory.other_bytes, room(others(bytes, zeroed)));
  void* made = nullptr;
  if (cudaMallocFromPoolAsync(&made, static_cast<std::size_t>(zero_bytes + other_bytes), pool_, stream) !=
      cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  if (memory.first != nullptr) static_cast<void>(cudaFreeAsync(memory.first, stream));
  memory.first = static_cast<char*>(made);
  memory.zero_bytes = zero_bytes;
  memory.other_bytes = other_bytes;
  memory.is_zero = false;
  return true;
}

// Returns memory for a graph, with zeros. It is set outside of the capture, so that no replay pays for it.
std::unique_ptr<KeptMemory> CudaWorkspaces::spare(std::int64_t bytes, std::int64_t zeroed) {
  const OutsideCaptures outside;
  if (own_stream_ == nullptr &&
      cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    own_stream_ = nullptr;
    return nullptr;
  }
  std::unique_ptr<KeptMemory> memory;
  const auto fits = [&](const auto& each) { return each->serves(bytes, zeroed); };
  if (const auto found = std::find_if(spare_.begin(), spare_.end(), fits); found != spare_.end()) {
    memory = std::move(*found);
    spare_.erase(found);
  } else {
    for (const auto& each : spare_) static_cast<void>(cudaFreeAsync(each->first, own_stream_));
    spare_.clear();
    memory = std::make_unique<KeptMemory>();
    if (!allocate(*memory, bytes, zeroed, own_stream_)) return nullptr;
  }
  cudaError_t code = cudaSuccess;
  if (!memory->is_zero)
    code = cudaMemsetAsync(memory->first, 0, static_cast<std::size_t>(memory->zero_bytes), own_stream_);
  if (code == cudaSuccess) code = cudaStreamSynchronize(own_stream_);
  memory->is_zero = code == cudaSuccess;
  if (code == cudaSuccess) return memory;
  static_cast<void>(cudaGetLastError());
  spare_.push_back(std::move(memory));
  return nullptr;
}

CudaWorkspaces::Loan::Loan(CudaWorkspaces& workspaces, std::int64_t bytes, std::int64_t zeroed,
                           cudaStream_t stream) noexcept
    : workspaces_(workspaces), stream_(stream) {
  try {
    Capture capture;
    if (others_begin_apart(bytes, zeroed) && find(capture, stream)) {
      is_captured_ = capture.status == cudaStreamCaptureStatusActive;
      if (is_captured_ && bytes <= most_of_graph) kept_ = workspaces_.of_graph(capture, bytes, zeroed);
      if (capture.status == cudaStreamCaptureStatusNone && zeroed > 0 && bytes <= most_of_stream)
        lend_of_stream(bytes, zeroed);
    }
  } catch (const std::bad_alloc&) {
    kept_ = nullptr;
  }
  if (kept_ != nullptr) {
    workspace_ = kept_->workspace(zeroed);
  } else {
    make(bytes, zeroed);
  }
}

// Makes a workspace for this launch alone.
void CudaWorkspaces::Loan::make(std::int64_t bytes, std::int64_t zeroed) noexcept {
  error_ = cudaMallocFromPoolAsync(&workspace_, static_cast<std::size_t>(bytes), workspaces_.pool_, stream_);
  if (error_ == cudaSuccess && zeroed > 0)
    error_ = cudaMemsetAsync(workspace_, 0, static_cast<std::size_t>(zeroed), stream_);
}

void CudaWorkspaces::Loan::lend_of_stream(std::int64_t bytes, std::int64_t zeroed) {
  KeptMemory* const kept = workspaces_.of_stream(stream_);
  if (kept == nullptr) return;
  std::unique_lock turn(kept->turns);
  if (!kept->serves(bytes, zeroed) && !workspaces_.allocate(*kept, bytes, zeroed, stream_)) return;
  if (!kept->is_zero) {
    error_ = cudaMemsetAsync(kept->first, 0, static_cast<std::size_t>(kept->zero_bytes), stream_);
    kept->is_zero = error_ == cudaSuccess;
  }
  turn_ = std::move(turn);
  kept_ = kept;
}

// Launches of one graph share memory if each follows the one before, whatever streams they were captured in.
KeptMemory* CudaWorkspaces::of_graph(const Capture& capture, std::int64_t bytes, std::int64_t zeroed) {
  const std::scoped_lock lock(mutex_);
  collect();
  if (const auto known = of_captures_.find(capture.id); known != of_captures_.end()) {
    for (KeptMemory* const each : known->second) {
      if (each->is_used || each->last == nullptr || !each->serves(bytes, zeroed) ||
          !follows(capture.last, each->last))
        continue;
      each->is_used = true;
      return each;
    }
  }
  std::unique_ptr<KeptMemory> memory = spare(bytes, zeroed);
  if (memory == nullptr) return nullptr;
  const OutsideCaptures outside;
  std::unique_ptr<OfGraph> own(new OfGraph{*this, capture.id});
  cudaUserObject_t object = nullptr;
  if (cudaUserObjectCreate(&object, own.get(), OfGraph::destroy, 1, cudaUserObjectNoDestructorSync) ==
      cudaSuccess) {
    OfGraph* const given = own.release();
    if (cudaGraphRetainUserObject(capture.graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess) {
      of_captures_[capture.id].push_back(memory.get());
      memory->is_used = true;
      given->memory = std::move(memory);
      return given->memory.get();
    }
    static_cast<void>(cudaUserObjectRelease(object, 1));
  }
  static_cast<void>(cudaGetLastError());
  spare_.push_back(std::move(memory));
  return nullptr;
}

cudaError_t CudaWorkspaces::Loan::end(cudaError_t launched) noexcept {
  cudaError_t code = error_ == cudaSuccess ? launched : error_;
  if (kept_ == nullptr) {
    if (workspace_ != nullptr) {
      const cudaError_t released = cudaFreeAsync(workspace_, stream_);
      if (code == cudaSuccess) code = released;
    }
  } else if (is_captured_) {
    Capture capture;
    bool is_known = false;
    try {
      is_known = code == cudaSuccess && find(capture, stream_) && capture.last.size() == 1;
    } catch (const std::bad_alloc&) {
      is_known = false;
    }
    const std::scoped_lock lock(workspaces_.mutex_);
    kept_->last = is_known ? capture.last.front() : nullptr;
    kept_->is_used = false;
    if (code != cudaSuccess) kept_->is_zero = false;
  } else if (code != cudaSuccess) {
    kept_->is_zero = false;
  }
  return code;
}

}  // namespace tunesmith
