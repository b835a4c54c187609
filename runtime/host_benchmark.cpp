// SPDX-License-Identifier: Apache-2.0
// Benchmarks on the host: ordinary memory, and the wall clock.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/benchmark.h"

namespace tunesmith {
namespace {

struct Free {
  void operator()(char* memory) const { std::free(memory); }
};

class HostBenchmark : public Benchmark {
 public:
  std::int64_t spare_bytes() const override {
    return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) / 4 * sysconf(_SC_PAGESIZE);
  }

  void* allocate(std::int64_t bytes, std::span<const std::byte> pattern) override {
    constexpr std::size_t alignment = 256;
    const auto size = static_cast<std::size_t>(bytes);
    const std::size_t room = std::max<std::size_t>(size + alignment - 1, alignment) / alignment * alignment;
    memory_.emplace_back(static_cast<char*>(std::aligned_alloc(alignment, room)));
    char* const to = memory_.back().get();
    if (to == nullptr) {
      throw LoadError("The host has no " + std::to_string(bytes) + " bytes of memory left.",
                      LoadError::Cause::resources);
    }
    if (pattern.empty()) std::memset(to, 0, size);
    for (std::size_t at = 0; at < size && !pattern.empty(); at += pattern.size())
      std::memcpy(to + at, pattern.data(), std::min(pattern.size(), size - at));
    return to;
  }

  double time_us(Executable& executable, void* const* arguments, int launches) override {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < launches; ++i) {
      if (const int code = executable.launch(arguments, nullptr, nullptr); code != 0)
        throw Error("The launch failed: " + executable.describe(code) + ".");
    }
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / launches;
  }

 private:
  std::vector<std::unique_ptr<char, Free>> memory_;
};

}  // namespace

std::unique_ptr<Benchmark> make_host_benchmark() { return std::make_unique<HostBenchmark>(); }

}  // namespace tunesmith
