// SPDX-License-Identifier: Apache-2.0
// A CUDA GPU as the tuner uses it. Everything runs on the legacy default stream, so that it is in order with
// launches of a caller on the null stream. Timing (cuda_timer.h) has its own stream, which waits for the
// default stream.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>

#include "generator/error.h"
#include "generator/number_text.h"
#include "runtime/toolchain.h"
#include "tuner/device/check_data.h"
#include "tuner/device/cuda_check.h"
#include "tuner/device/cuda_timer.h"
#include "tuner/device/device.h"
#include "tuner/device/device_kernels.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t guard_bytes = std::int64_t{16} * 1024;  ///< before and after; a multiple of 256
/// A float of four of these is -102287.6, which no arithmetic on small inputs gives.
constexpr int guard_byte = 0xc7;

constexpr unsigned long long late_ns = 100'000;  ///< delay of a kernel that writes late

/// Work of this length raises the clocks of an idle GPU.
constexpr auto settle = std::chrono::milliseconds(30);
constexpr auto settle_again = std::chrono::milliseconds(5);  ///< after a pause
/// After this time without work, clocks may have dropped.
constexpr auto idle_after = std::chrono::milliseconds(500);

// The same layout as `Result` in device_kernels.cu.
struct Result {
  unsigned long long wrong = 0;
  unsigned long long first_wrong = ~0ull;
  unsigned long long max_ratio = 0;
};

// The same layout as in device_kernels.cu.
struct LateWrites {
  struct {
    void* to;
    const void* from;
    long long bytes;
    int byte;
  } write[16];
  int count;
};

class CudaDevice : public Device {
 public:
  CudaDevice(const DeviceFacts& facts, int ordinal)
      : facts_(facts), ordinal_(ordinal), other_processes_(CudaTimer::processes_on(ordinal)) {
    check(cudaSetDevice(ordinal_), "use " + facts_.name);
    try {
      const Compilation compiled = make_nvrtc_toolchain()->compile(
          {.text = device_kernels, .hash = "", .suffix = "", .kernels = {}, .target = facts_.target});
      if (!compiled.ok) throw Error("The tuner's own kernels do not compile. " + compiled.log);
      check(cudaLibraryLoadData(&library_, compiled.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "load the tuner's own kernels");
      compare_ = kernel("compare");
      differ_ = kernel("differ");
      changed_ = kernel("changed");
      spin_ = kernel("spin");
      write_late_ = kernel("write_late");
      check(cudaMalloc(&result_, sizeof(Result)), "allocate memory");
      check(cudaMallocHost(reinterpret_cast<void**>(&host_result_), sizeof(Result)), "allocate host memory");
      timer_ = std::make_unique<CudaTimer>(
          facts_, ordinal_, CudaTimer::Kernels{.spacer = kernel("spacer"), .evict = kernel("evict")});
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
  std::string uuid() const override;
  bool tells_energy() const override { return timer_->tells_energy(); }
  std::vector<std::int32_t> other_processes() const override { return other_processes_; }

  std::unique_ptr<Executable> load(const std::string& binary, const std::string& suffix,
                                   const Work& work) override {
    return load_cuda(binary, suffix, work, ordinal_);
  }

  void* allocate(std::int64_t bytes, std::int64_t /*alignment*/) override {
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

  Outside written_outside(const void* memory) override {
    const auto found = allocations_.find(memory);
    if (found == allocations_.end())
      throw Error("written_outside was called for memory that this device did not allocate.");
    const char* data = static_cast<const char*>(memory);
    const char* end = data + found->second;
    if (run(changed_, guard_bytes, data - guard_bytes, end, std::int64_t{guard_bytes}, guard_byte, result_)
            .wrong == 0)
      return {};
    const auto guard = [&](const char* from) {
      std::string bytes(static_cast<std::size_t>(guard_bytes), '\0');
      download(bytes.data(), from, guard_bytes);
      return bytes;
    };
    return changed_guards(guard(data - guard_bytes), guard(end), static_cast<char>(guard_byte));
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

  Comparison compare(const void* output, DType dtype, const double* expected, const void* permitted,
                     std::int64_t elements, const Spacing& spacing) override {
    const std::int64_t stride = spacing.stride > 0 ? spacing.stride : bytes(dtype);
    const char* const start = static_cast<const char*>(output) + spacing.offset;
    const Result result = run(compare_, elements, start, static_cast<int>(dtype),
                              static_cast<long long>(stride), static_cast<long long>(spacing.count),
                              static_cast<int>(bytes(dtype)), expected, permitted, elements, result_);
    Comparison comparison;
    comparison.wrong = static_cast<std::int64_t>(result.wrong);
    static_assert(sizeof(double) == sizeof(result.max_ratio));
    std::memcpy(&comparison.max_error, &result.max_ratio, sizeof(double));
    if (comparison.wrong > 0) {
      comparison.first_wrong = static_cast<std::int64_t>(result.first_wrong);
      std::array<char, 8> element = {};
      download(element.data(),
               start + comparison.first_wrong / spacing.count * stride +
                   comparison.first_wrong % spacing.count * bytes(dtype),
               bytes(dtype));
      const auto size = static_cast<std::size_t>(bytes(dtype));
      const DType read_as = dtype == DType::b64 ? DType::i64 : dtype;
      comparison.got = unpack(read_as, {element.data(), size}).front();
      download(element.data(), expected + comparison.first_wrong, sizeof(double));
      comparison.expected =
          unpack(dtype == DType::b64 ? DType::i64 : DType::f64, {element.data(), sizeof(double)}).front();
    }
    return comparison;
  }

  int launch_behind(std::span<const LateWrite> writes, Executable& executable, void* const* arguments,
                    void* workspace) override {
    select();
    LateWrites late = {};
    if (writes.size() > std::size(late.write)) {
      throw Error("The kernel that writes late takes " + std::to_string(std::size(late.write)) +
                  " arrays, not " + std::to_string(writes.size()) + ".");
    }
    for (const LateWrite& write : writes)
      late.write[late.count++] = {write.to, write.from, write.bytes, write.byte};
    unsigned long long wait = late_ns;
    std::array<void*, 2> parameters = {&late, &wait};
    // Runs on half of the multiprocessors, so that the blocks of the next kernel find room beside it.
    const auto grid = static_cast<unsigned>(std::max(1, facts_.multiprocessors / 2));
    check(cudaLaunchKernel(static_cast<const void*>(write_late_), dim3(grid), dim3(1024), parameters.data(),
                           0, timer_->stream()),
          "launch a kernel of the tuner");
    return executable.launch(arguments, workspace, timer_->stream());
  }

  void synchronize() override {
    select();
    check(cudaDeviceSynchronize(), "finish the work on " + facts_.name);
    check(cudaGetLastError(), "launch");
    last_work_ = Clock::now();
  }

  TimeSamples time_us(Executable& executable, std::span<void* const> arguments, void* workspace,
                      const Timing& timing) override {
    wake();
    TimeSamples timed = timer_->time(executable, buffers(arguments, workspace), timing);
    last_work_ = Clock::now();
    return timed;
  }

  std::optional<double> energy_uj(Executable& executable, std::span<void* const> arguments,
                                  void* workspace) override {
    wake();
    const auto energy = timer_->energy_uj(executable, buffers(arguments, workspace));
    last_work_ = Clock::now();
    return energy;
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
      timer_->settled();
      check(cudaStreamSynchronize(nullptr), "run a kernel of the tuner on " + facts_.name);
    } while (Clock::now() < end);
    last_work_ = Clock::now();
  }

  CudaTimer::Buffers buffers(std::span<void* const> arguments, void* workspace) const {
    const auto buffer = [this](void* memory) {
      const auto found = allocations_.find(memory);
      return CudaTimer::Buffer{memory, found == allocations_.end() ? 0 : found->second};
    };
    CudaTimer::Buffers all;
    for (void* argument : arguments) all.arguments.push_back(buffer(argument));
    all.workspace = buffer(workspace);
    return all;
  }

  void wake() {
    select();
    if (Clock::now() - last_work_ > idle_after) busy(settle_again);
  }

  // After a sticky error each of these calls fails, and everything is released when the process ends.
  void destroy() noexcept {
    static_cast<void>(cudaSetDevice(ordinal_));
    timer_.reset();
    for (const auto& [memory, bytes] : allocations_)
      static_cast<void>(cudaFree(static_cast<char*>(memory) - guard_bytes));
    if (host_result_ != nullptr) static_cast<void>(cudaFreeHost(host_result_));
    if (result_ != nullptr) static_cast<void>(cudaFree(result_));
    if (library_ != nullptr) static_cast<void>(cudaLibraryUnload(library_));
  }

  DeviceFacts facts_;
  int ordinal_;
  std::vector<std::int32_t> other_processes_;  // queried before this process has a context
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t compare_ = nullptr;
  cudaKernel_t differ_ = nullptr;
  cudaKernel_t changed_ = nullptr;
  cudaKernel_t spin_ = nullptr;
  cudaKernel_t write_late_ = nullptr;
  void* result_ = nullptr;
  Result* host_result_ = nullptr;
  std::unique_ptr<CudaTimer> timer_;
  std::map<void*, std::int64_t, std::less<>> allocations_;  ///< bytes by address
  Clock::time_point last_work_;
};

std::string CudaDevice::uuid() const {
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, ordinal_), "read the properties of " + facts_.name);
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(properties.uuid.bytes); ++i) {
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") +
            printed("%02x", static_cast<unsigned>(static_cast<unsigned char>(properties.uuid.bytes[i])));
  }
  return text;
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  const ChosenDevice chosen = choose_device({DeviceId::Kind::cuda, ordinal});
  return std::make_unique<CudaDevice>(chosen.facts, ordinal);
}

}  // namespace tunesmith
