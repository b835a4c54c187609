// A CUDA GPU as the tuner uses it. Everything runs on the legacy default stream, so that it is in order with
// a caller that launches on the null stream; timing has a stream of its own, which waits for that one.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

#include "generator/error.h"
#include "runtime/toolchain.h"
#include "tuner/check_data.h"
#include "tuner/device.h"
#include "tuner/device_kernels.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t guard_bytes = std::int64_t{16} * 1024;  ///< before and after; a multiple of 256
/// A float of four of these is -102287.6, which no arithmetic on small inputs gives.
constexpr int guard_byte = 0xc7;

/// So many times the size of the second-level cache is written before a launch with cold caches: then nothing
/// that the launch reads is left in it, whatever the cache evicts first.
constexpr std::size_t flush_caches = 4;
/// With cold caches a variant is given up after so many launches if even the fastest of them is too slow.
constexpr int first_cold_samples = 3;

constexpr auto settle = std::chrono::milliseconds(30);       ///< of work raise the clocks of an idle GPU
constexpr auto settle_again = std::chrono::milliseconds(5);  ///< after a pause
constexpr auto idle_after = std::chrono::milliseconds(500);  ///< without work clocks may have dropped

void check(cudaError_t code, const std::string& what) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, unless it is sticky
  throw Error("CUDA could not " + what + ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code) +
              ".");
}

// As `Result` in device_kernels.cu.
struct Result {
  unsigned long long wrong = 0;
  unsigned long long first_wrong = ~0ull;
  unsigned long long max_ratio = 0;
};

struct Graph {
  Graph() = default;
  ~Graph() {
    if (executable != nullptr) static_cast<void>(cudaGraphExecDestroy(executable));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

class CudaDevice : public Device {
 public:
  CudaDevice(const DeviceFacts& facts, int ordinal) : facts_(facts), ordinal_(ordinal) {
    check(cudaSetDevice(ordinal_), "use " + facts_.name);
    try {
      const Compiled compiled = make_nvrtc_toolchain()->compile(
          {.text = device_kernels, .hash = "", .suffix = "", .kernels = {}, .target = facts_.target});
      if (!compiled.ok) throw Error("The tuner's own kernels do not compile. " + compiled.log);
      check(cudaLibraryLoadData(&library_, compiled.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "load the tuner's own kernels");
      compare_ = kernel("compare");
      differ_ = kernel("differ");
      changed_ = kernel("changed");
      spin_ = kernel("spin");
      check(cudaMalloc(&result_, sizeof(Result)), "allocate memory");
      check(cudaMallocHost(reinterpret_cast<void**>(&host_result_), sizeof(Result)), "allocate host memory");
      check(cudaStreamCreate(&stream_), "create a stream");
      busy(settle);
    } catch (...) {
      destroy();
      throw;
    }
  }

  ~CudaDevice() override { destroy(); }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceFacts& facts() const override { return facts_; }
  std::string driver() const override { return cuda_driver(); }

  std::unique_ptr<Executable> load(const std::string& binary, const std::string& suffix,
                                   const Work& work) override {
    return load_cuda(binary, suffix, work, ordinal_);
  }

  void* allocate(std::int64_t bytes) override {
    select();
    char* base = nullptr;
    const auto whole = static_cast<std::size_t>(bytes + 2 * guard_bytes);
    check(cudaMalloc(reinterpret_cast<void**>(&base), whole),
          "allocate " + std::to_string(whole) + " bytes on " + facts_.name);
    char* memory = base + guard_bytes;
    allocations_.emplace(memory, bytes);
    check(cudaMemset(base, guard_byte, guard_bytes), "write a guard");
    check(cudaMemset(memory + bytes, guard_byte, guard_bytes), "write a guard");
    return memory;
  }

  void release(void* memory) noexcept override {
    if (allocations_.erase(memory) == 0) return;
    // After a sticky error the context and its memory are lost together, so a failure here is expected.
    static_cast<void>(cudaSetDevice(ordinal_));
    static_cast<void>(cudaFree(static_cast<char*>(memory) - guard_bytes));
  }

  bool guards_intact(const void* memory) override {
    const auto found = allocations_.find(memory);
    if (found == allocations_.end())
      throw Error("guards_intact was called for memory that this device did not allocate.");
    const char* data = static_cast<const char*>(memory);
    return run(changed_, guard_bytes, data - guard_bytes, data + found->second, std::int64_t{guard_bytes},
               guard_byte, result_)
               .wrong == 0;
  }

  void upload(void* to, const void* from, std::int64_t bytes) override {
    select();
    check(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice), "upload");
  }

  void download(void* to, const void* from, std::int64_t bytes) override {
    select();
    check(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost), "download");
  }

  void copy(void* to, const void* from, std::int64_t bytes) override {
    select();
    check(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice), "copy");
  }

  void fill(void* to, unsigned char byte, std::int64_t bytes) override {
    select();
    check(cudaMemset(to, byte, static_cast<std::size_t>(bytes)), "fill memory");
  }

  bool equal(const void* a, const void* b, std::int64_t bytes) override {
    return run(differ_, bytes / 16, a, b, bytes, result_).wrong == 0;
  }

  Comparison compare(const void* output, DType dtype, const double* expected, const double* permitted,
                     std::int64_t elements) override {
    const Result result =
        run(compare_, elements, output, static_cast<int>(dtype), expected, permitted, elements, result_);
    Comparison comparison;
    comparison.wrong = static_cast<std::int64_t>(result.wrong);
    static_assert(sizeof(double) == sizeof(result.max_ratio));
    std::memcpy(&comparison.max_error, &result.max_ratio, sizeof(double));
    if (comparison.wrong > 0) {
      comparison.first_wrong = static_cast<std::int64_t>(result.first_wrong);
      std::array<char, 8> element = {};
      download(element.data(), static_cast<const char*>(output) + comparison.first_wrong * bytes(dtype),
               bytes(dtype));
      comparison.got = unpack(dtype, {element.data(), static_cast<std::size_t>(bytes(dtype))}).front();
      download(&comparison.expected, expected + comparison.first_wrong, sizeof(double));
    }
    return comparison;
  }

  void synchronize() override {
    select();
    check(cudaDeviceSynchronize(), "finish the work on " + facts_.name);
    check(cudaGetLastError(), "launch");
    last_work_ = Clock::now();
  }

  std::vector<double> time_us(Executable& executable, void* const* arguments, void* workspace,
                              const Timing& timing) override {
    select();
    if (Clock::now() - last_work_ > idle_after) busy(settle_again);
    const double limit =
        timing.give_up_above_us > 0 ? timing.give_up_above_us : std::numeric_limits<double>::infinity();

    // One launch between events includes about 3 us of the events themselves and may find cold caches: good
    // enough to choose the number of repeats and to give up hopeless variants.
    if (timing.cold_caches) flush();
    mark(0);
    launch(executable, arguments, workspace);
    mark(1);
    wait(1);
    const double rough = elapsed_us(0, 1);
    if (rough > 2 * limit + 20) return {rough};

    const bool slow = rough > 1000;  // such a launch warms itself up and varies little
    const int count = slow ? std::min(3, timing.samples) : timing.samples;
    if (timing.cold_caches) {
      std::vector<double> samples =
          cold_us(executable, arguments, workspace, std::min(first_cold_samples, count));
      if (*std::min_element(samples.begin(), samples.end()) <= limit) {
        const int left = count - static_cast<int>(samples.size());
        const std::vector<double> more = cold_us(executable, arguments, workspace, left);
        samples.insert(samples.end(), more.begin(), more.end());
      }
      return samples;
    }

    const double estimate = std::max(rough - 3, 1.0);
    int repeats = static_cast<int>(std::clamp(timing.sample_target_us / estimate, 1.0, 200.0));
    if (estimate < 20) repeats = std::max(repeats, 20);
    Graph graph;
    capture(graph, executable, arguments, workspace, repeats);

    if (!slow) {
      const double warm = replay_us(graph, repeats, 1).front();
      if (warm > 1.25 * limit) return {warm};
    }
    if (!std::isfinite(limit)) return replay_us(graph, repeats, count);
    std::vector<double> samples = replay_us(graph, repeats, 1);
    if (samples.front() <= limit && count > 1) {
      const std::vector<double> more = replay_us(graph, repeats, count - 1);
      samples.insert(samples.end(), more.begin(), more.end());
    }
    return samples;
  }

 private:
  void select() const { check(cudaSetDevice(ordinal_), "use " + facts_.name); }

  cudaKernel_t kernel(const char* name) const {
    cudaKernel_t found = nullptr;
    check(cudaLibraryGetKernel(&found, library_, name), std::string("find the tuner's kernel ") + name);
    return found;
  }

  template <typename... Values>
  void enqueue(cudaKernel_t kernel, std::int64_t threads, Values... values) const {
    constexpr int block = 256;
    const std::int64_t most = std::int64_t{8} * facts_.multiprocessors;  // blocks that are resident at once
    const auto grid = static_cast<unsigned>(std::clamp((threads + block - 1) / block, std::int64_t{1}, most));
    std::array<void*, sizeof...(Values)> pointers = {&values...};
    check(cudaLaunchKernel(static_cast<const void*>(kernel), dim3(grid), dim3(block), pointers.data(), 0,
                           nullptr),
          "launch a kernel of the tuner");
  }

  template <typename... Values>
  Result run(cudaKernel_t kernel, std::int64_t threads, Values... values) {
    select();
    const Result none;
    check(cudaMemcpy(result_, &none, sizeof(Result), cudaMemcpyHostToDevice), "upload");
    enqueue(kernel, threads, values...);
    check(cudaMemcpyAsync(host_result_, result_, sizeof(Result), cudaMemcpyDeviceToHost, nullptr),
          "download");
    check(cudaStreamSynchronize(nullptr), "finish the work on " + facts_.name);
    return *host_result_;
  }

  void busy(Clock::duration duration) {
    const auto end = Clock::now() + duration;
    do {
      enqueue(spin_, std::int64_t{8} * 256 * facts_.multiprocessors, result_, 50'000);
      check(cudaStreamSynchronize(nullptr), "run a kernel of the tuner on " + facts_.name);
    } while (Clock::now() < end);
    last_work_ = Clock::now();
  }

  void launch(Executable& executable, void* const* arguments, void* workspace) const {
    if (const int code = executable.launch(arguments, workspace, stream_); code != 0)
      throw Error("The launch failed: " + executable.describe(code) + ".");
  }

  void capture(Graph& graph, Executable& executable, void* const* arguments, void* workspace,
               int repeats) const {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin a graph");
    int code = 0;
    for (int i = 0; code == 0 && i < repeats; ++i) code = executable.launch(arguments, workspace, stream_);
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph.graph);
    if (code != 0) {
      static_cast<void>(cudaGetLastError());
      throw Error("The launch failed: " + executable.describe(code) + ".");
    }
    check(ended, "end a graph");
    check(cudaGraphInstantiate(&graph.executable, graph.graph, 0), "instantiate a graph");
    check(cudaGraphUpload(graph.executable, stream_), "upload a graph");
  }

  // All samples are queued before the first is waited for, so that the GPU is never idle between them.
  std::vector<double> replay_us(const Graph& graph, int repeats, int samples) {
    mark(0);
    for (int i = 1; i <= samples; ++i) {
      check(cudaGraphLaunch(graph.executable, stream_), "launch a graph");
      mark(static_cast<std::size_t>(i));
    }
    wait(static_cast<std::size_t>(samples));
    std::vector<double> result;
    for (int i = 1; i <= samples; ++i)
      result.push_back(elapsed_us(static_cast<std::size_t>(i - 1), static_cast<std::size_t>(i)) / repeats);
    return result;
  }

  // The launch and its events are queued while the flush before them runs, so that the host adds no time
  // between them.
  std::vector<double> cold_us(Executable& executable, void* const* arguments, void* workspace, int samples) {
    std::vector<double> result;
    if (samples <= 0) return result;
    const auto end = 2 * static_cast<std::size_t>(samples);
    for (std::size_t event = 0; event < end; event += 2) {
      flush();
      mark(event);
      launch(executable, arguments, workspace);
      mark(event + 1);
    }
    wait(end - 1);
    for (std::size_t event = 0; event < end; event += 2) result.push_back(elapsed_us(event, event + 1));
    return result;
  }

  void flush() {
    if (flush_memory_ == nullptr) {
      int cache_bytes = 0;
      check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, ordinal_),
            "read the size of the cache");
      cudaError_t code = cudaSuccess;
      for (std::size_t times = flush_caches; times > 0; --times) {
        flush_bytes_ = times * static_cast<std::size_t>(cache_bytes);
        code = cudaMalloc(&flush_memory_, flush_bytes_);
        if (code != cudaErrorMemoryAllocation) break;
        static_cast<void>(cudaGetLastError());
      }
      check(code, "allocate " + std::to_string(flush_bytes_) + " bytes on " + facts_.name +
                      " to overwrite its cache with");
    }
    check(cudaMemsetAsync(flush_memory_, ++flush_value_, flush_bytes_, stream_), "overwrite the cache");
  }

  void mark(std::size_t event) {
    while (events_.size() <= event) {
      cudaEvent_t created = nullptr;
      check(cudaEventCreate(&created), "create an event");
      events_.push_back(created);
    }
    check(cudaEventRecord(events_[event], stream_), "record an event");
  }

  void wait(std::size_t event) {
    check(cudaEventSynchronize(events_[event]), "finish the work on " + facts_.name);
    last_work_ = Clock::now();
  }

  double elapsed_us(std::size_t from, std::size_t to) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, events_[from], events_[to]), "read the time between events");
    return 1000.0 * static_cast<double>(milliseconds);
  }

  // After a sticky error each of these fails, and everything is released when the process ends.
  void destroy() noexcept {
    static_cast<void>(cudaSetDevice(ordinal_));
    for (cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    for (const auto& [memory, bytes] : allocations_)
      static_cast<void>(cudaFree(static_cast<char*>(memory) - guard_bytes));
    if (host_result_ != nullptr) static_cast<void>(cudaFreeHost(host_result_));
    if (result_ != nullptr) static_cast<void>(cudaFree(result_));
    if (flush_memory_ != nullptr) static_cast<void>(cudaFree(flush_memory_));
    if (library_ != nullptr) static_cast<void>(cudaLibraryUnload(library_));
  }

  DeviceFacts facts_;
  int ordinal_;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t compare_ = nullptr;
  cudaKernel_t differ_ = nullptr;
  cudaKernel_t changed_ = nullptr;
  cudaKernel_t spin_ = nullptr;
  void* result_ = nullptr;
  Result* host_result_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void* flush_memory_ = nullptr;  ///< allocated when first needed
  std::size_t flush_bytes_ = 0;
  int flush_value_ = 0;  ///< cudaMemset takes its low byte
  std::vector<cudaEvent_t> events_;
  std::map<void*, std::int64_t, std::less<>> allocations_;  ///< bytes by address
  Clock::time_point last_work_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  const ChosenDevice chosen = choose_device({DeviceId::Kind::cuda, ordinal});
  return std::make_unique<CudaDevice>(chosen.facts, ordinal);
}

}  // namespace tunesmith
