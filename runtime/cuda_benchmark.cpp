// SPDX-License-Identifier: Apache-2.0
// Benchmarks on a CUDA GPU. Many kernels take the GPU less time than a launch takes the processor, so all
// launches of a sample are enqueued behind a gate that opens afterwards.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/benchmark.h"
#include "runtime/cuda_scope.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

void require(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // so that the caller's next check does not find this error
  throw LoadError("A benchmark on the GPU could not " + std::string(what) + ": " + to_string(code) + ".");
}

/// A closed gate holds up a stream. It opens by itself before anybody would call that a hang.
class Gate {
 public:
  void close(cudaStream_t stream) { require(cudaLaunchHostFunc(stream, &pass, this), "hold up its stream"); }
  void open() { open_ = true; }

 private:
  static void CUDART_CB pass(void* gate) {
    constexpr auto longest = std::chrono::milliseconds(20);
    const Clock::time_point end = Clock::now() + longest;
    while (!static_cast<Gate*>(gate)->open_ && Clock::now() < end) std::this_thread::yield();
  }
  std::atomic<bool> open_ = false;
};

class CudaBenchmark : public Benchmark {
 public:
  explicit CudaBenchmark(int ordinal) : ordinal_(ordinal) {
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal);
    require(scope.error(), "select the device");
    try {
      int least = 0, greatest = 0;
      require(cudaDeviceGetStreamPriorityRange(&least, &greatest), "read the priorities of streams");
      require(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, least), "create a stream");
      for (cudaEvent_t& event : events_)
        require(cudaEventCreateWithFlags(&event, cudaEventBlockingSync), "create an event");
      cudaMemPoolProps properties = {};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = ordinal;
      require(cudaMemPoolCreate(&pool_, &properties), "make a pool of memory");
      spacer_ = CudaBenchmark::allocate(1, {});
    } catch (...) {
      release();
      throw;
    }
  }
  ~CudaBenchmark() override {
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal_);
    release();
  }
  CudaBenchmark(const CudaBenchmark&) = delete;
  CudaBenchmark& operator=(const CudaBenchmark&) = delete;

  std::int64_t spare_bytes() const override {
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal_);
    std::size_t free = 0, all = 0;
    require(cudaMemGetInfo(&free, &all), "read the size of the memory");
    return static_cast<std::int64_t>(free / 4);
  }

  void* allocate(std::int64_t bytes, std::span<const std::byte> pattern) override {
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal_);
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    void* made = nullptr;
    require(cudaMallocFromPoolAsync(&made, size, pool_, stream_), "allocate memory");
    memory_.push_back(made);
    char* const to = static_cast<char*>(made);
    if (pattern.empty()) {
      require(cudaMemsetAsync(to, 0, size, stream_), "fill memory");
      return made;
    }
    std::size_t filled = std::min(pattern.size(), size);
    require(cudaMemcpyAsync(to, pattern.data(), filled, cudaMemcpyHostToDevice, stream_), "fill memory");
    require(cudaStreamSynchronize(stream_), "fill memory");  // the pattern belongs to the caller
    for (; filled < size; filled += std::min(filled, size - filled)) {
      require(cudaMemcpyAsync(to + filled, to, std::min(filled, size - filled), cudaMemcpyDeviceToDevice,
                              stream_),
              "fill memory");
    }
    return made;
  }

  double time_us(Executable& executable, void* const* arguments, int launches) override {
    const OutsideCaptures outside;
    const DeviceScope scope(ordinal_);
    // Memory is filled before each launch: after that no kernel starts early.
    const auto sample = [&](bool with_launches) {
      return elapsed_us([&] {
               for (int i = 0; i < launches; ++i) {
                 require(cudaMemsetAsync(spacer_, 0, 1, stream_), "fill memory");
                 const int code = with_launches ? executable.launch(arguments, nullptr, stream_) : 0;
                 if (code != 0) throw Error("The launch failed: " + executable.describe(code) + ".");
               }
             }) /
             launches;
    };
    const double with = sample(true);
    return std::max(with - sample(false), 0.1);
  }

 private:
  template <typename Enqueue>
  double elapsed_us(Enqueue enqueue) {
    Gate gate;
    gate.close(stream_);
    try {
      require(cudaEventRecord(events_[0], stream_), "record an event");
      enqueue();
      require(cudaEventRecord(events_[1], stream_), "record an event");
    } catch (...) {
      gate.open();
      static_cast<void>(cudaStreamSynchronize(stream_));  // the stream still reads the gate
      static_cast<void>(cudaGetLastError());
      throw;
    }
    gate.open();
    require(cudaStreamSynchronize(stream_), "finish its launches");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]), "read the time between events");
    return 1000.0 * static_cast<double>(milliseconds);
  }

  // After a sticky error each of these calls fails, and everything is released when the process ends.
  void release() {
    for (void* memory : memory_) static_cast<void>(cudaFreeAsync(memory, stream_));
    if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
    if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
    for (cudaEvent_t event : events_)
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaGetLastError());
  }

  int ordinal_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[2] = {};
  cudaMemPool_t pool_ = nullptr;
  std::vector<void*> memory_;
  void* spacer_ = nullptr;  ///< the memory that is filled between launches
};

}  // namespace

std::unique_ptr<Benchmark> make_cuda_benchmark(int ordinal) {
  return std::make_unique<CudaBenchmark>(ordinal);
}

}  // namespace tunesmith
