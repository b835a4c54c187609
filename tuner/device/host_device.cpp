// SPDX-License-Identifier: Apache-2.0
// The host as a device: its memory ends at an unreadable page, and its times are wall-clock times.
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

#include "generator/error.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device.h"

namespace tunesmith {
namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr char guard_pattern = static_cast<char>(0xa5);

class HostDevice : public Device {
 public:
  HostDevice() : facts_(host_facts()) { catch_host_faults(); }
  ~HostDevice() override {
    for (const auto& [memory, block] : blocks_) ::munmap(block.base, block.mapped);
  }
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  const DeviceFacts& facts() const override { return facts_; }

  std::string driver() const override {
    utsname system{};
    uname(&system);
    return std::string(system.sysname) + " " + system.release;
  }

  std::unique_ptr<Executable> load(const std::string& binary, const std::string& suffix,
                                   const Work& work) override {
    return load_host(binary, suffix, work);
  }

  void* allocate(std::int64_t bytes, std::int64_t alignment) override {
    Block block;
    block.size = static_cast<std::size_t>(bytes);
    block.padded = round_up(block.size, static_cast<std::size_t>(alignment));
    // A block is an unreadable page, guard bytes, the memory, and an unreadable page at its end.
    block.mapped = 2 * page_ + round_up(guard_bytes + block.padded, page_);
    void* const base =
        ::mmap(nullptr, block.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      throw Error("The host has no " + std::to_string(bytes) + " bytes of memory left.");
    block.base = static_cast<char*>(base);
    char* const end = block.base + block.mapped - page_;
    ::mprotect(block.base, page_, PROT_NONE);
    ::mprotect(end, page_, PROT_NONE);
    char* const memory = end - block.padded;
    repair(memory, block);
    blocks_[memory] = block;
    return memory;
  }

  void release(void* memory) noexcept override {
    const auto found = blocks_.find(memory);
    if (found == blocks_.end()) return;
    ::munmap(found->second.base, found->second.mapped);
    blocks_.erase(found);
  }

  Outside written_outside(const void* memory) override {
    const auto found = blocks_.find(memory);
    if (found == blocks_.end())
      throw Error("written_outside was called for memory that this device did not allocate.");
    const Block& block = found->second;
    char* const start = const_cast<char*>(static_cast<const char*>(memory));
    const Outside outside = changed_guards({start - guard_bytes, guard_bytes},
                                           {start + block.size, block.padded - block.size}, guard_pattern);
    if (outside != Outside()) repair(start, block);
    return outside;
  }

  bool guards(const void* memory, const void* address) const override {
    const auto found = blocks_.find(memory);
    if (found == blocks_.end()) return false;
    const Block& block = found->second;
    const auto* const at = static_cast<const char*>(address);
    const auto* const start = static_cast<const char*>(memory);
    return at >= block.base && at < block.base + block.mapped && (at < start || at >= start + block.size);
  }

  void upload(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void fill(void* to, unsigned char byte, std::int64_t bytes) override {
    std::memset(to, byte, static_cast<std::size_t>(bytes));
  }
  bool equal(const void* a, const void* b, std::int64_t bytes) override {
    return std::memcmp(a, b, static_cast<std::size_t>(bytes)) == 0;
  }

  // For signed and unsigned integers: the difference of two numbers of 64 bits is the same either way.
  static Comparison compare_integers(const char* output, const Spacing& at, const double* expected,
                                     const void* permitted, std::int64_t elements) {
    Comparison result;
    const std::int64_t each = permitted_bytes(DType::i64);
    for (std::int64_t i = 0; i < elements; ++i) {
      std::int64_t got = 0, wanted = 0, difference = 0;
      std::memcpy(&got, output + i / at.count * at.stride + i % at.count * 8, sizeof got);
      std::memcpy(&wanted, expected + i, sizeof wanted);
      const double allowed = unpack_permitted(DType::i64, static_cast<const char*>(permitted) + each * i);
      if (got == wanted || std::isinf(allowed)) continue;
      static_cast<void>(__builtin_sub_overflow(got, wanted, &difference));
      const double ratio = std::abs(static_cast<double>(difference)) / allowed;
      result.max_error = std::max(result.max_error, ratio);
      if (!(ratio > 1)) continue;
      if (result.wrong++ > 0) continue;
      result.first_wrong = i;
      result.got = static_cast<double>(got);
      result.expected = static_cast<double>(wanted);
    }
    return result;
  }

  Comparison compare(const void* output, DType dtype, const double* expected, const void* permitted,
                     std::int64_t elements, const Spacing& spacing) override {
    Comparison result;
    const std::int64_t size = bytes(dtype), each = permitted_bytes(dtype);
    const Spacing at{0, spacing.stride > 0 ? spacing.stride : size, spacing.count};
    const char* const start = static_cast<const char*>(output) + spacing.offset;
    if (dtype == DType::b64) return compare_integers(start, at, expected, permitted, elements);
    constexpr std::int64_t part = 65536;  // elements unpacked at once
    const bool is_dense = at.stride == at.count * size;
    std::string gathered(is_dense ? 0 : static_cast<std::size_t>(part * size), '\0');
    for (std::int64_t begin = 0; begin < elements; begin += part) {
      const std::int64_t count = std::min(part, elements - begin);
      for (std::int64_t i = 0; !is_dense && i < count; ++i)
        std::memcpy(gathered.data() + i * size,
                    start + (begin + i) / at.count * at.stride + (begin + i) % at.count * size,
                    static_cast<std::size_t>(size));
      const std::vector<double> got = unpack(
          dtype, {is_dense ? start + begin * size : gathered.data(), static_cast<std::size_t>(count * size)});
      for (std::int64_t i = 0; i < count; ++i) {
        const double value = got[static_cast<std::size_t>(i)];
        const double wanted = expected[begin + i];
        const double allowed =
            unpack_permitted(dtype, static_cast<const char*>(permitted) + each * (begin + i));
        // NaN must be NaN, and an infinity itself; otherwise the error is measured in units of the permitted
        // one.
        double ratio = 0;
        if (allowed == std::numeric_limits<double>::infinity()) {
          // not checked
        } else if (std::isnan(wanted) || std::isinf(wanted)) {
          const bool same = std::isnan(wanted) ? std::isnan(value) : value == wanted;
          ratio = same ? 0 : std::numeric_limits<double>::infinity();
        } else if (value != wanted) {
          ratio = std::abs(value - wanted) / allowed;  // infinite if no error is permitted
          if (std::isnan(ratio)) ratio = std::numeric_limits<double>::infinity();
        }
        result.max_error = std::max(result.max_error, ratio);
        if (ratio > 1) {
          if (result.wrong == 0) {
            result.first_wrong = begin + i;
            result.got = value;
            result.expected = wanted;
          }
          ++result.wrong;
        }
      }
    }
    return result;
  }

  int launch_behind(std::span<const LateWrite> writes, Executable& executable, void* const* arguments,
                    void* workspace) override {
    for (const LateWrite& write : writes) {
      if (write.from != nullptr) {
        copy(write.to, write.from, write.bytes);
      } else {
        fill(write.to, write.byte, write.bytes);
      }
    }
    return executable.launch(arguments, workspace, nullptr);
  }

  void synchronize() override {}  // a launch has ended when it returns

  TimeSamples time_us(Executable& executable, std::span<void* const> given, void* workspace,
                      const Timing& timing) override {
    void* const* const arguments = given.data();
    if (timing.conditions.caches == Caches::cold)
      throw UsageError("The host cannot time with cold caches; ask for warm ones.");
    const double first = sample(executable, arguments, workspace, 1);  // also the warm-up
    if (timing.give_up_above_us > 0 && first > 2 * timing.give_up_above_us) return {.samples_us = {first}};
    const int repeats =
        static_cast<int>(std::clamp(timing.sample_target_us / std::max(first, 0.01), 1.0, 10000.0));
    // Three samples are enough for a launch of a millisecond or more.
    const int samples = first > 1000 ? std::min(timing.samples, 3) : timing.samples;
    std::vector<double> times;
    for (int n = 0; n < samples; ++n) {
      times.push_back(sample(executable, arguments, workspace, repeats));
      if (timing.give_up_above_us > 0 && times.back() > timing.give_up_above_us) break;
    }
    return {.samples_us = std::move(times)};
  }

  std::optional<double> energy_uj(Executable&, std::span<void* const>, void*) override {
    return std::nullopt;
  }

 private:
  struct Block {
    char* base = nullptr;
    std::size_t mapped = 0, size = 0, padded = 0;
  };

  static std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }

  static void repair(char* memory, const Block& block) {
    std::memset(memory - guard_bytes, guard_pattern, guard_bytes);
    std::memset(memory + block.size, guard_pattern, block.padded - block.size);
  }

  static double sample(Executable& executable, void* const* arguments, void* workspace, int repeats) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < repeats; ++n) {
      if (const int code = executable.launch(arguments, workspace, nullptr); code != 0) {
        throw Error("A launch on the host failed: " + executable.describe(code) + ".");
      }
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    return time.count() / repeats;
  }

  DeviceFacts facts_;
  std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::map<const void*, Block> blocks_;  ///< by the first byte of their memory
};

}  // namespace

std::unique_ptr<Device> make_host_device() { return std::make_unique<HostDevice>(); }

}  // namespace tunesmith
