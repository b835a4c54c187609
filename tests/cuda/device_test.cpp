// The CUDA device: memory, comparison, loading, launching and timing. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>

#include "generator/error.h"
#include "generator/ops.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/host_source.h"
#include "tests/kernels.h"
#include "tuner/check_data.h"
#include "tuner/device_memory.h"
#include "tuner/policy.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

constexpr const char* kernels = R"cuda(
extern "C" __global__ void empty() {}
extern "C" __global__ void add_one(int* counter) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  if (blockIdx.x == 0 && threadIdx.x == 0) *counter += 1;  // no atomic: launches that overlapped would lose counts
}
// MODE 0: waits first; 1: never waits; 2: waits after its stores, of what it does not read.
template <int MODE>
__device__ void copy_or_fill(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (MODE == 2 && i < n) out[i] = i;
#if __CUDA_ARCH__ >= 900
  if (MODE != 1) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (MODE != 2 && i < n) out[i] = in[i];
}
extern "C" __global__ void copy_after_wait(const int* in, int* out, int n) { copy_or_fill<0>(in, out, n); }
extern "C" __global__ void copy_without_wait(const int* in, int* out, int n) { copy_or_fill<1>(in, out, n); }
extern "C" __global__ void fill_before_wait(const int* in, int* out, int n) { copy_or_fill<2>(in, out, n); }
extern "C" __global__ void set(int* counter, int value, long long more, float and_float, double and_double) {
  *counter = value + (int)more + (int)and_float + (int)and_double;
}
__constant__ float table[4];
extern "C" __global__ void read_table(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
extern "C" __global__ void reverse(const int* in, int* out, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
}
extern "C" __global__ void __launch_bounds__(64) small_block() {}
extern "C" __global__ void some_shared() {
  __shared__ volatile int table_of_block[256];
  table_of_block[threadIdx.x] = 1;
}
extern "C" __global__ void burn(float* out, int rounds) {
  float a = threadIdx.x;
  for (int i = 0; i < rounds; ++i) a = a * 0.999f + 1.0f;
  if (a < 0) *out = a;
}
extern "C" __global__ void read_all(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  if (sum == 1.5f) *out = sum;  // it is not, but the compiler cannot know
}
extern "C" __global__ void clocks(long long count) {
  const long long begin = clock64();
  while (clock64() - begin < count) {}
}
extern "C" __global__ void overlapping_clocks(long long count) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  const long long begin = clock64();
  while (clock64() - begin < count) {}
}
// Demands that in[i] is i and that the workspace is zero, and leaves it so.
extern "C" __global__ void demand(const int* in, int n, int* out, unsigned* counter, int* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] != i) atomicAdd(wrong, 1);
  if (i < n) out[i] = in[i];
  if (threadIdx.x == 0 && atomicAdd(counter, 1) == gridDim.x - 1 && atomicExch(counter, 0) != gridDim.x) atomicAdd(wrong, 1);
}
extern "C" __global__ void scatter_bits(unsigned* out, long long n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    unsigned bits = (unsigned)i * 2654435761u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    out[i] = (bits ^ bits >> 13) & 0x3fffffffu;  // floats from 0 to 2
  }
}
extern "C" __global__ void copy(const float4* in, float4* out, long long n) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    out[i] = in[i];
}
extern "C" __global__ void bad_write(float* out) { out[1ll << 44] = 1; }
)cuda";

const std::string& binary(const Device& device) {
  static const std::string bytes = [&] {
    const Compiled compiled = make_nvrtc_toolchain()->compile(
        {.text = kernels, .hash = "", .suffix = "", .kernels = {}, .target = device.facts().target});
    if (!compiled.ok) throw Error(compiled.log);
    return compiled.bytes;
  }();
  return bytes;
}

std::unique_ptr<Executable> load(Device& device, std::vector<Step> steps) {
  return device.load(binary(device), "", {.steps = std::move(steps)});
}

class CudaDevice : public GpuTest {
 protected:
  // Device memory with these contents.
  template <typename T>
  T* put(const std::vector<T>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    owned_.emplace_back(device(), bytes);
    device().upload(owned_.back().get(), values.data(), bytes);
    return owned_.back().as<T>();
  }
  template <typename T>
  std::vector<T> get(const T* memory, std::size_t count) {
    std::vector<T> values(count);
    device().download(values.data(), memory, static_cast<std::int64_t>(count * sizeof(T)));
    return values;
  }

 private:
  std::vector<DeviceMemory> owned_;
};

TEST_F(CudaDevice, Facts) {
  const DeviceFacts& facts = device().facts();
  std::cout << facts.name << ", " << facts.target << ", " << facts.multiprocessors << " multiprocessors, "
            << facts.memory_bytes << " bytes, driver " << device().driver() << "\n";
  EXPECT_EQ(facts.kind, "cuda");
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.target.rfind("sm_", 0), 0u);
  EXPECT_GT(facts.multiprocessors, 0);
  EXPECT_GE(facts.max_shared_bytes_per_block, 48 * 1024);
  EXPECT_GT(facts.l2_bytes, 0);
  EXPECT_GE(facts.shared_bytes_per_multiprocessor, facts.max_shared_bytes_per_block);
  EXPECT_GE(facts.max_threads_per_multiprocessor, facts.max_threads_per_block);
  EXPECT_FALSE(device().driver().empty());
  EXPECT_THROW(make_cuda_device(9999), UsageError);
}

TEST_F(CudaDevice, GuardsSeeAByteOnEitherSide) {
  for (const std::int64_t bytes : {1, 256, 1000, 1 << 20}) {
    const DeviceMemory owner(device(), bytes);
    char* const memory = owner.as<char>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
    device().fill(memory, 0xff, bytes);
    EXPECT_TRUE(device().guards_intact(memory));
    for (char* outside : {memory - 1, memory + bytes, memory - 4096, memory + bytes + 4095}) {
      char before = 0;
      device().download(&before, outside, 1);
      const char changed = static_cast<char>(before + 1);
      device().upload(outside, &changed, 1);
      EXPECT_FALSE(device().guards_intact(memory)) << outside - memory << " of " << bytes;
      device().upload(outside, &before, 1);
      EXPECT_TRUE(device().guards_intact(memory));
    }
  }
}

TEST_F(CudaDevice, RefusesMoreMemoryThanThereIs) {
  EXPECT_THROW(device().allocate(device().facts().memory_bytes * 2), Error);
  EXPECT_NO_THROW(device().synchronize());
}

TEST_F(CudaDevice, EqualSeesEveryByte) {
  std::vector<unsigned char> bytes(4099);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  const unsigned char* a = put(bytes);
  unsigned char* b = put(bytes);
  EXPECT_TRUE(device().equal(a, b, 4099));
  EXPECT_TRUE(device().equal(a + 256, b + 256, 77));  // the pattern repeats every 256
  EXPECT_FALSE(device().equal(a, b + 1, 4098));
  for (const std::size_t at : {0u, 17u, 4095u, 4098u}) {
    device().fill(b + at, static_cast<unsigned char>(bytes[at] + 1), 1);
    EXPECT_FALSE(device().equal(a, b, 4099)) << at;
    EXPECT_TRUE(device().equal(a, b, static_cast<std::int64_t>(at)));
    device().fill(b + at, bytes[at], 1);
  }
}

TEST_F(CudaDevice, CompareJudgesNumbersInfinitiesAndNaN) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  struct Row {
    double got, expected, permitted;
    bool wrong;
    double error;
  };
  const std::vector<Row> rows = {
      {1, 1, 0, false, 0},       {1, 1.5, 1, false, 0.5},   {1, 3, 1, true, 2},       {1, 2, 0, true, inf},
      {nan, nan, 0, false, 0},   {nan, nan, nan, false, 0}, {nan, 1, 9, true, inf},   {1, nan, 9, true, inf},
      {inf, inf, nan, false, 0}, {-inf, inf, 9, true, inf}, {1, inf, inf, false, 0},  {inf, 1, 9, true, inf},
      {1, 1.25, nan, true, inf}, {-0.0, 0.0, 0, false, 0},  {1, 1.25, inf, false, 0}, {nan, 1, inf, false, 0},
      {1, nan, inf, false, 0}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    // Alone among right ones, at a place that several warps away.
    std::vector<float> got(3000, 2.0f);
    std::vector<double> expected(3000, 2.0);
    std::vector<double> permitted(3000, 0.0);
    got[2500] = static_cast<float>(row.got);
    expected[2500] = row.expected;
    permitted[2500] = row.permitted;
    const Comparison found = device().compare(put(got), DType::f32, put(expected), put(permitted), 3000);
    EXPECT_EQ(found.wrong, row.wrong ? 1 : 0) << i;
    EXPECT_EQ(found.max_error, row.error) << i;
    EXPECT_EQ(found.first_wrong, row.wrong ? 2500 : -1) << i;
    if (row.wrong && row.got == row.got) {
      EXPECT_EQ(found.got, row.got) << i;
    }
    if (row.wrong && row.expected == row.expected) {
      EXPECT_EQ(found.expected, row.expected) << i;
    }
  }
}

TEST_F(CudaDevice, CompareReadsEveryDType) {
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8, DType::i32, DType::i64}) {
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) values.push_back(round_to(dtype, dtype == DType::u8 ? i : i * 0.75 - 60));
    const std::string packed = pack(dtype, values);
    const char* got = put(std::vector<char>(packed.begin(), packed.end()));
    const double* permitted = put(std::vector<double>(200, 0.0));
    EXPECT_EQ(device().compare(got, dtype, put(values), permitted, 200).wrong, 0) << name(dtype);
    values[150] += 1;
    values[180] += 1;
    const Comparison found = device().compare(got, dtype, put(values), permitted, 200);
    EXPECT_EQ(found.wrong, 2) << name(dtype);
    EXPECT_EQ(found.first_wrong, 150) << name(dtype);
    EXPECT_EQ(found.got + 1, found.expected) << name(dtype);
  }
}

TEST_F(CudaDevice, CompareIsFast) {
  constexpr std::int64_t elements = std::int64_t{1} << 24;
  const DeviceMemory output(device(), elements * 4);
  const DeviceMemory zeros(device(), elements * 8);
  const double* const expected = zeros.as<double>();
  device().fill(output.get(), 0, elements * 4);
  device().fill(zeros.get(), 0, elements * 8);
  EXPECT_EQ(device().compare(output.get(), DType::f32, expected, expected, elements).wrong, 0);
  const auto start = Clock::now();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(device().compare(output.get(), DType::f32, expected, expected, elements).wrong, 0);
  std::cout << "2^24 floats compared in " << milliseconds_since(start) / 10 << " ms\n";
  EXPECT_LT(milliseconds_since(start) / 10, 5);
}

TEST_F(CudaDevice, PassesEveryKindOfParameter) {
  int* counter = put(std::vector<int>(8, 0));
  void* arguments[] = {counter};
  load(device(),
       {Launch{.kernel = "set",
               .arguments = {ArgumentPointer{0}, std::int32_t{1}, std::int64_t{20}, 300.0f, 4000.0}},
        Launch{.kernel = "set",
               .arguments = {WorkspacePointer{8}, std::int32_t{5}, std::int64_t{0}, 0.0f, 0.0}}})
      ->launch(arguments, counter + 2, nullptr);
  device().synchronize();
  EXPECT_EQ(get(counter, 8), (std::vector<int>{4321, 0, 0, 0, 5, 0, 0, 0}));
}

// What the shim does for a kernel, a GPU does too.
TEST_F(CudaDevice, CollectivesAndTypesOf16BitsAreThoseOfTheHost) {
  if (device().facts().compute_capability < 80) GTEST_SKIP() << "The kernels need compute capability 8.0.";
  const auto host = make_host_device();
  const auto text_of = [](const char* path) {
    std::string text = template_files().at(path);
    return text.erase(text.find("#pragma once"), 12) + "\n";
  };
  const auto run_on_both = [&](const std::string& body, Launch launch,
                               const std::vector<std::vector<float>>& arguments) {
    for (std::size_t n = 0; n < arguments.size(); ++n)
      launch.arguments.insert(launch.arguments.begin() + static_cast<std::ptrdiff_t>(n),
                              ArgumentPointer{static_cast<int>(n)});
    const std::string entry = "#define ENTRY(name) name##_test\n" + body;
    const Compiled for_gpu = make_nvrtc_toolchain()->compile(
        {.text = entry, .hash = "", .suffix = "", .kernels = {}, .target = device().facts().target});
    const Source source = host_source(body);
    const Compiled for_host = make_host_toolchain()->compile(source);
    EXPECT_TRUE(for_gpu.ok && for_host.ok) << for_gpu.log << for_host.log;
    std::vector<void*> here;
    std::vector<void*> there;
    std::vector<std::vector<float>> values = arguments;
    for (std::vector<float>& value : values) {
      here.push_back(value.data());
      there.push_back(put(value));
    }
    EXPECT_EQ(
        host->load(for_host.bytes, source.suffix, {.steps = {launch}})->launch(here.data(), nullptr, nullptr),
        0);
    EXPECT_EQ(
        device().load(for_gpu.bytes, "_test", {.steps = {launch}})->launch(there.data(), nullptr, nullptr),
        0);
    device().synchronize();
    std::vector<std::pair<std::vector<float>, std::vector<float>>> found;
    for (std::size_t n = 0; n < values.size(); ++n)
      found.emplace_back(values[n], get(static_cast<const float*>(there[n]), values[n].size()));
    return found;
  };
  const auto same = [](const auto& both) {
    return std::memcmp(both.first.data(), both.second.data(), both.first.size() * sizeof(float)) == 0;
  };

  for (int type = 0; type < 7; ++type) {
    for (const int width : {32, 16, 8, 1}) {
      const Launch launch{
          .kernel = "kernel", .block = {8, 8, 1}, .arguments = {std::int32_t{width}, std::int32_t{type}}};
      EXPECT_TRUE(same(run_on_both(shuffle_kernel, launch, {std::vector<float>(64 * 32)})[0]))
          << type << " " << width;
    }
  }
  std::vector<float> numbers(48);
  for (std::size_t n = 0; n < 48; ++n) {
    const int number = static_cast<int>(n * 37 % 101) - 40;
    std::memcpy(&numbers[n], &number, sizeof(number));
  }
  EXPECT_TRUE(same(run_on_both(vote_kernel, {.kernel = "kernel", .block = {48, 1, 1}},
                               {std::vector<float>(48 * 16), numbers})[0]));

  constexpr std::int32_t count = 1 << 20;  // floats: one of 4096 in size and sign, exponent and rounding
  std::vector<float> floats(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    const std::uint32_t bits = n << 12 | (n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : 0xfff);
    std::memcpy(&floats[n], &bits, sizeof(bits));
  }
  for (const std::int32_t half : {0, 1}) {
    const Launch launch{.kernel = "kernel",
                        .grid = {1 << 10, 1, 1},
                        .block = {1024, 1, 1},
                        .arguments = {std::int32_t{count}, half}};
    const auto found = run_on_both(
        text_of("common/float16.cuh") + float16_kernel, launch,
        {std::vector<float>(65536), std::vector<float>(65536 / 2), floats, std::vector<float>(count / 2)});
    for (std::size_t n = 0; n < 65536; ++n) {
      const auto& [here, there] = found[0];
      EXPECT_TRUE(here[n] == there[n] || (std::isnan(here[n]) && std::isnan(there[n]))) << n;
    }
    for (const std::size_t a : {1u, 3u}) {
      std::size_t different = 0;
      for (std::size_t n = 0; n < 2 * found[a].first.size(); ++n) {
        std::uint16_t here = 0;
        std::uint16_t there = 0;
        std::memcpy(&here, reinterpret_cast<const char*>(found[a].first.data()) + 2 * n, 2);
        std::memcpy(&there, reinterpret_cast<const char*>(found[a].second.data()) + 2 * n, 2);
        const auto is_nan = [&](std::uint16_t bits) {
          return (bits & 0x7fff) > (half != 0 ? 0x7c00 : 0x7f80);
        };
        if (here != there && !(is_nan(here) && is_nan(there))) ++different;
      }
      EXPECT_EQ(different, 0u) << "half " << half << ", argument " << a;
    }
  }
}

TEST_F(CudaDevice, CopiesIntoConstantMemory) {
  float* table = put(std::vector<float>{1, 2, 3, 4});
  float* out = put(std::vector<float>(4, 0));
  void* arguments[] = {table, out};
  const auto executable =
      load(device(), {ConstantCopy{"table", 0, 16}, Launch{.kernel = "read_table",
                                                           .block = {4, 1, 1},
                                                           .arguments = {ArgumentPointer{1}},
                                                           .overlaps_previous = true}});
  ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  device().synchronize();
  EXPECT_EQ(get(out, 4), (std::vector<float>{1, 2, 3, 4}));
  device().upload(table, std::vector<float>{5, 6, 7, 8}.data(), 16);
  device().time_us(*executable, arguments, nullptr,
                   {});  // the copy is captured, and reads when it is replayed
  EXPECT_EQ(get(out, 4), (std::vector<float>{5, 6, 7, 8}));
}

TEST_F(CudaDevice, GivesAKernelMoreThan48KiBOfSharedMemory) {
  const auto n = static_cast<std::int32_t>(device().facts().max_shared_bytes_per_block / 4);
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  int* in = put(values);
  int* out = put(std::vector<int>(values.size(), -1));
  void* arguments[] = {in, out};
  const auto executable = load(device(), {Launch{.kernel = "reverse",
                                                 .block = {256, 1, 1},
                                                 .dynamic_shared_bytes = std::int64_t{n} * 4,
                                                 .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n}}});
  ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  device().synchronize();
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(get(out, values.size()), values);
}

// The kind of error that loading gives, or nothing where it loads.
template <typename Load>
std::optional<LoadError::Kind> refusal_of(const Load& load_it, std::string* sentence = nullptr) {
  try {
    load_it();
    return std::nullopt;
  } catch (const LoadError& error) {
    if (sentence != nullptr) *sentence = error.what();
    return error.kind;
  }
}

TEST_F(CudaDevice, RefusesWhatCannotRun) {
  using Kind = LoadError::Kind;
  const auto refusal = [](const Step& step) { return refusal_of([&] { load(device(), {step}); }); };
  EXPECT_EQ(refusal_of([] {
              device().load("not a binary, but long enough to be looked at", "",
                            {.steps = {Launch{.kernel = "empty"}}});
            }),
            Kind::refused);
  EXPECT_EQ(refusal(Launch{.kernel = "empty"}), std::nullopt);
  EXPECT_EQ(refusal(Launch{.kernel = "missing"}), Kind::refused);
  EXPECT_EQ(refusal(ConstantCopy{"missing", 0, 4}), Kind::refused);
  EXPECT_EQ(refusal(ConstantCopy{"table", 0, 17}), Kind::refused);
  EXPECT_EQ(refusal(Launch{.kernel = "small_block", .block = {65, 1, 1}}), Kind::resources);
  EXPECT_EQ(refusal(Launch{.kernel = "empty", .block = {2048, 1, 1}}), Kind::resources);
  EXPECT_EQ(refusal(Launch{.kernel = "empty", .dynamic_shared_bytes = 1 << 24}), Kind::resources);
  // Within the device's limit, but not beside the kernel's own 1024 bytes.
  EXPECT_EQ(refusal(Launch{.kernel = "some_shared",
                           .dynamic_shared_bytes = device().facts().max_shared_bytes_per_block - 1000}),
            Kind::resources);
  EXPECT_NO_THROW(device().synchronize());
}

TEST_F(CudaDevice, RefusesArgumentsThatAreNotTheKernels) {
  const std::vector<KernelArgument> right = {ArgumentPointer{0}, std::int32_t{40}, std::int64_t{2}, 1.0f,
                                             0.5};
  const auto refusal = [](std::vector<KernelArgument> arguments, std::string& sentence) {
    return refusal_of([&] { load(device(), {Launch{.kernel = "set", .arguments = std::move(arguments)}}); },
                      &sentence);
  };
  std::string sentence;
  EXPECT_EQ(refusal(right, sentence), std::nullopt) << sentence;

  std::vector<KernelArgument> too_few = right;
  too_few.pop_back();
  EXPECT_EQ(refusal(too_few, sentence), LoadError::Kind::refused);
  EXPECT_NE(sentence.find("set takes 5 parameters, but its launch gives 4 arguments"), std::string::npos)
      << sentence;

  std::vector<KernelArgument> too_many = right;
  too_many.emplace_back(std::int32_t{1});
  EXPECT_EQ(refusal(too_many, sentence), LoadError::Kind::refused);
  EXPECT_NE(sentence.find("5 parameters, but its launch gives 6"), std::string::npos) << sentence;

  std::vector<KernelArgument> too_wide = right;
  too_wide[1] = std::int64_t{40};  // the kernel takes an int
  EXPECT_EQ(refusal(too_wide, sentence), LoadError::Kind::refused);
  EXPECT_NE(sentence.find("Parameter 2 of 5"), std::string::npos) << sentence;

  std::vector<KernelArgument> too_narrow = right;
  too_narrow[2] = std::int32_t{2};  // the kernel takes a long long
  EXPECT_EQ(refusal(too_narrow, sentence), LoadError::Kind::refused);
  EXPECT_NE(sentence.find("Parameter 3 of 5"), std::string::npos) << sentence;
  EXPECT_NO_THROW(device().synchronize());  // no error of the questions is left behind
}

TEST_F(CudaDevice, AnswersALaunchThatFails) {
  const auto executable = load(device(), {Launch{.kernel = "empty", .grid = {0, 1, 1}}});
  const int code = executable->launch(nullptr, nullptr, nullptr);
  EXPECT_NE(code, 0);
  EXPECT_NE(executable->describe(code).find("invalid"), std::string::npos) << executable->describe(code);
  EXPECT_THROW(device().time_us(*executable, {}, nullptr, {}), Error);
  EXPECT_THROW(device().time_us(*executable, {}, nullptr, {.chained = true}), Error);
  EXPECT_NO_THROW(device().synchronize());  // nothing sticks
}

TEST_F(CudaDevice, OverlappingLaunchesKeepTheirOrder) {
  int* counter = put(std::vector<int>{0});
  void* arguments[] = {counter};
  const Launch step = {.kernel = "add_one",
                       .grid = {64, 1, 1},
                       .block = {64, 1, 1},
                       .arguments = {ArgumentPointer{0}},
                       .overlaps_previous = true};
  const auto executable = load(device(), {step, step, step});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  device().synchronize();
  EXPECT_EQ(get(counter, 1).front(), 300);

  for (const bool chained : {false, true}) {
    const int before = get(counter, 1).front();
    device().time_us(*executable, arguments, nullptr, {.samples = 3, .repeats = 20, .chained = chained});
    const int launches = get(counter, 1).front() - before;
    EXPECT_EQ(launches % 3, 0);
    EXPECT_GE(launches, 3 * (1 + 4 * 20));  // one rough, then four replays of 20 or more
  }
}

// What a kernel without a wait does is seen behind one that writes late, and only where the launch overlaps.
TEST_F(CudaDevice, AKernelThatWritesLateShowsWhoDoesNotWait) {
  constexpr std::int32_t n = 100'003;
  std::vector<int> right(n);
  std::iota(right.begin(), right.end(), 0);
  const std::vector<int> poison(n, -1);
  int* source = put(right);
  int* in = put(poison);
  int* out = put(poison);
  void* arguments[] = {in, out};
  const auto result = [&](const char* kernel, bool overlaps, const std::string& code) {
    device().upload(in, poison.data(), 4 * std::int64_t{n});
    const LateWrite writes[] = {{.to = in, .from = source, .bytes = 4 * std::int64_t{n}},
                                {.to = out, .byte = 0xff, .bytes = 4 * std::int64_t{n}}};
    const auto executable =
        device().load(code, "",
                      {.steps = {Launch{.kernel = kernel,
                                        .grid = {(n + 255) / 256, 1, 1},
                                        .block = {256, 1, 1},
                                        .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n},
                                        .overlaps_previous = overlaps}}});
    EXPECT_EQ(device().launch_behind(writes, *executable, arguments, nullptr), 0);
    device().synchronize();
    EXPECT_EQ(get(in, n), right);
    return get(out, n);
  };
  for (const char* kernel : {"copy_after_wait", "copy_without_wait", "fill_before_wait"})
    EXPECT_EQ(result(kernel, false, binary(device())), right) << kernel;
  EXPECT_EQ(result("copy_after_wait", true, binary(device())), right);
  if (device().facts().compute_capability < 90)
    GTEST_SKIP() << "Kernels overlap from compute capability 9.0 on.";
  EXPECT_EQ(result("copy_without_wait", true, binary(device())), poison);
  EXPECT_EQ(result("fill_before_wait", true, binary(device())), poison);

  // Code for an architecture that has no wait does not overlap, though the GPU could.
  const Compiled older = make_nvrtc_toolchain()->compile(
      {.text = kernels, .hash = "", .suffix = "", .kernels = {}, .target = "compute_80"});
  ASSERT_TRUE(older.ok) << older.log;
  for (const char* kernel : {"copy_after_wait", "copy_without_wait", "fill_before_wait"})
    EXPECT_EQ(result(kernel, true, older.bytes), right) << kernel;
}

TEST_F(CudaDevice, TimesAnEmptyKernel) {
  const auto executable = load(device(), {Launch{.kernel = "empty"}});
  const auto start = Clock::now();
  std::vector<double> samples = device().time_us(*executable, {}, nullptr, {}).samples_us;
  const double cost = milliseconds_since(start);
  ASSERT_EQ(samples.size(), 5u);
  std::sort(samples.begin(), samples.end());
  std::cout << "an empty kernel: " << samples[2] << " us (" << samples.front() << " to " << samples.back()
            << "), timed in " << cost << " ms\n";
  EXPECT_GT(samples[2], 0.1);
  EXPECT_LT(samples[2], 10);
}

TEST_F(CudaDevice, TimeGrowsWithWork) {
  float* out = put(std::vector<float>{0});
  void* arguments[] = {out};
  double last = 0;
  for (const std::int32_t rounds : {2'000, 20'000, 200'000, 2'000'000}) {
    const auto executable = load(
        device(), {Launch{.kernel = "burn", .block = {32, 1, 1}, .arguments = {ArgumentPointer{0}, rounds}}});
    const auto start = Clock::now();
    std::vector<double> samples = device().time_us(*executable, arguments, nullptr, {}).samples_us;
    const double cost = milliseconds_since(start);
    std::sort(samples.begin(), samples.end());
    const double median = samples[samples.size() / 2];
    std::cout << rounds << " rounds: " << median << " us, " << samples.size() << " samples, spread "
              << 100 * (samples.back() / samples.front() - 1) << " %, timed in " << cost << " ms\n";
    if (last > 0) {
      EXPECT_NEAR(median / last, 10, 2);
    }
    last = median;

    const auto samples_below = [&](double limit_us) {
      return device()
          .time_us(*executable, arguments, nullptr, {.give_up_above_us = limit_us})
          .samples_us.size();
    };
    EXPECT_EQ(samples_below(median / 2), 1u);
    EXPECT_GE(samples_below(1.5 * median), 3u);
  }
}

TEST_F(CudaDevice, ColdCachesMakeAReadSlower) {
  constexpr std::int32_t n =
      8 << 20;  // 32 MiB: well inside the 50 MiB or more that large GPUs cache since 9.0
  const DeviceFacts& facts = device().facts();
  if (facts.compute_capability < 90 || facts.multiprocessors < 100)
    GTEST_SKIP() << "The second-level cache may be too small.";
  const DeviceMemory in(device(), std::int64_t{4} * n);
  device().fill(in.get(), 0, in.bytes());
  float* out = put(std::vector<float>{0});
  void* arguments[] = {in.get(), out};
  const auto executable = load(device(), {Launch{.kernel = "read_all",
                                                 .grid = {8 * facts.multiprocessors, 1, 1},
                                                 .block = {256, 1, 1},
                                                 .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n}}});
  const auto time = [&](const Timing& timing) {
    const auto start = Clock::now();
    std::vector<double> samples = device().time_us(*executable, arguments, nullptr, timing).samples_us;
    const double cost = milliseconds_since(start);
    const Summary summary = summarize(samples);
    std::cout << (timing.cold_caches ? "cold: " : "warm: ") << summary.median_us << " us, spread "
              << 100 * summary.spread << " %, " << samples.size() << " samples in " << cost << " ms\n";
    return samples;
  };
  const double warm = summarize(time({})).median_us;
  const std::vector<double> samples = time({.cold_caches = true});
  ASSERT_EQ(samples.size(), 5u);
  const double cold = summarize(samples).median_us;
  EXPECT_GT(cold, 1.2 * warm);
  EXPECT_NEAR(summarize(time({.cold_caches = true})).median_us / cold, 1, 0.02);
  EXPECT_EQ(time({.give_up_above_us = cold / 2, .cold_caches = true}).size(), 1u);
  EXPECT_EQ(time({.give_up_above_us = 1.5 * cold, .cold_caches = true}).size(), 5u);
}

TEST_F(CudaDevice, ColdTimesGrowWithTheBytesRead) {
  const DeviceFacts& facts = device().facts();
  double last_us = 0;
  for (const std::int32_t n : {1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
    const DeviceMemory in(device(), std::int64_t{4} * n);
    device().fill(in.get(), 0, in.bytes());
    float* out = put(std::vector<float>{0});
    void* arguments[] = {in.get(), out};
    const Launch step = {.kernel = "read_all",
                         .grid = {std::min<std::int64_t>(8 * facts.multiprocessors, (n + 255) / 256), 1, 1},
                         .block = {256, 1, 1},
                         .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n}};
    std::vector<double> of_loads;
    double cost = 0;
    for (int load_number = 0; load_number < 5; ++load_number) {
      const auto executable = load(device(), {step});
      const auto start = Clock::now();
      of_loads.push_back(
          summarize(device().time_us(*executable, arguments, nullptr, {.cold_caches = true}).samples_us)
              .median_us);
      cost = milliseconds_since(start);
    }
    const Summary cold = summarize(of_loads);
    const double warm =
        summarize(device().time_us(*load(device(), {step}), arguments, nullptr, {}).samples_us).median_us;
    std::cout << "read of " << 4e-3 * n << " kB: cold " << cold.median_us << " us (spread "
              << 100 * cold.spread << " %), warm " << warm << " us, one in " << cost << " ms\n";
    EXPECT_GT(cold.median_us, 0.98 * warm) << n;
    EXPECT_GT(cold.median_us, last_us) << n;
    last_us = cold.median_us;
  }
}

// With cold caches a launch works on a copy of the buffers: inputs and zeroed counters are in each.
TEST_F(CudaDevice, ColdLaunchesFindTheirInputsAndCounters) {
  constexpr std::int32_t n = 100'000;
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  int* const wrong = put(std::vector<int>(8, 0)) + 4;  // not the start of an allocation: nobody copies it
  int* const out = put(std::vector<int>(n, -1));
  unsigned* const counter = put(std::vector<unsigned>(64, 0));
  void* arguments[] = {put(values), out, wrong};
  const auto executable = load(device(), {Launch{.kernel = "demand",
                                                 .grid = {(n + 255) / 256, 1, 1},
                                                 .block = {256, 1, 1},
                                                 .arguments = {ArgumentPointer{0}, n, ArgumentPointer{1},
                                                               WorkspacePointer{0}, ArgumentPointer{2}}}});
  for (const int repeats : {1, 7, 50}) {
    device().fill(out, 0xff, std::int64_t{4} * n);
    device().time_us(*executable, arguments, counter, {.repeats = repeats, .cold_caches = true});
    EXPECT_EQ(get(wrong, 1).front(), 0) << repeats;
    EXPECT_EQ(get(out, n), values) << repeats;
  }
}

// Known numbers of clocks, from 0.7 us to 1 ms: what a launch costs beside them is the same in all.
TEST_F(CudaDevice, TimesAreThoseOfKnownClocks) {
  const std::int64_t blocks = device().facts().multiprocessors;
  for (const bool chained : {false, true}) {
    double last_us = 0;
    std::int64_t last_count = 0;
    for (const std::int64_t count : {0, 500, 2'000, 10'000, 50'000, 200'000, 1'000'000, 2'000'000}) {
      std::vector<double> of_loads;
      Timed timed;
      double cost = 0;
      for (int load_number = 0; load_number < 5; ++load_number) {
        const auto executable = load(
            device(),
            {Launch{.kernel = "clocks", .grid = {blocks, 1, 1}, .block = {64, 1, 1}, .arguments = {count}}});
        const auto start = Clock::now();
        timed = device().time_us(*executable, {}, nullptr, {.chained = chained});
        cost = milliseconds_since(start);
        of_loads.push_back(summarize(timed.samples_us).median_us);
      }
      const double us = summarize(of_loads).median_us;
      std::cout << (chained ? "chained " : "apart ") << count << " clocks: " << us << " us, "
                << timed.clock_mhz << " MHz " << timed.throttled << ", one in " << cost << " ms\n";
      if (last_count >= 500 && timed.clock_mhz > 0) {
        const double expected = static_cast<double>(count - last_count) / timed.clock_mhz;
        EXPECT_NEAR(us - last_us, expected, 0.012 + 0.01 * expected) << count;
      }
      last_us = us;
      last_count = count;
    }
  }
}

TEST_F(CudaDevice, OnlyAKernelThatOverlapsIsFasterBehindItself) {
  if (device().facts().compute_capability < 90)
    GTEST_SKIP() << "Launches overlap from compute capability 9.0 on.";
  const auto ratio = [&](const char* kernel, bool overlaps) {
    const auto time = [&](bool chained) {
      std::vector<double> of_loads;
      for (int load_number = 0; load_number < 7; ++load_number) {
        const auto executable = load(device(), {Launch{.kernel = kernel,
                                                       .grid = {device().facts().multiprocessors, 1, 1},
                                                       .block = {64, 1, 1},
                                                       .arguments = {std::int64_t{2000}},
                                                       .overlaps_previous = overlaps}});
        of_loads.push_back(
            summarize(device().time_us(*executable, {}, nullptr, {.chained = chained}).samples_us).median_us);
      }
      return summarize(of_loads).median_us;
    };
    const double apart = time(false);
    const double chained = time(true);
    std::cout << kernel << ": apart " << apart << " us, chained " << chained << " us\n";
    return apart / chained;
  };
  EXPECT_NEAR(ratio("clocks", false), 1, 0.02);
  EXPECT_GT(ratio("overlapping_clocks", true), 1.2);
}

TEST_F(CudaDevice, NamesItself) { EXPECT_EQ(device().uuid().rfind("GPU-", 0), 0u) << device().uuid(); }

// A copy of 2^27 random floats takes an H200 161 mJ; zeros take less.
TEST_F(CudaDevice, EnergyOfACopy) {
  constexpr std::int64_t n = std::int64_t{1} << 27;
  if (device().facts().memory_bytes < 16 * n) GTEST_SKIP() << "too little memory";
  const DeviceMemory in(device(), 4 * n);
  const DeviceMemory out(device(), 4 * n);
  void* arguments[] = {in.get(), out.get()};
  const std::int64_t blocks = 8 * device().facts().multiprocessors;
  load(device(), {Launch{.kernel = "scatter_bits",
                         .grid = {blocks, 1, 1},
                         .block = {256, 1, 1},
                         .arguments = {ArgumentPointer{0}, n}}})
      ->launch(arguments, nullptr, nullptr);
  device().synchronize();
  const auto copy = load(device(), {Launch{.kernel = "copy",
                                           .grid = {blocks, 1, 1},
                                           .block = {512, 1, 1},
                                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, n / 4}}});
  const double us = summarize(device().time_us(*copy, arguments, nullptr, {}).samples_us).median_us;
  std::vector<double> of_windows;
  for (int window = 0; window < 3; ++window) {
    const auto start = Clock::now();
    const auto energy = device().energy_uj(*copy, arguments, nullptr);
    if (!energy) GTEST_SKIP() << "no energy counter";
    of_windows.push_back(*energy);
    std::cout << *energy / 1000 << " mJ, " << *energy / us << " W, in " << milliseconds_since(start)
              << " ms\n";
  }
  const Summary energy = summarize(of_windows);
  EXPECT_LT(energy.spread, 0.03);
  EXPECT_GT(energy.median_us / us, 100);  // watts
  EXPECT_LT(energy.median_us / us, 1000);
  if (device().facts().name == "NVIDIA H200") {
    EXPECT_NEAR(energy.median_us, 161e3, 0.15 * 161e3);
  }
}

// A lost context can be shown only in a process of its own.
TEST(CudaDeviceDeathTest, AnIllegalAddressIsAnErrorAndNoAbort) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        int errors = 0;
        {
          const std::unique_ptr<Device> own = make_cuda_device(0);
          const DeviceMemory owner(*own, 4);
          void* memory = owner.get();
          const auto executable =
              load(*own, {Launch{.kernel = "bad_write", .arguments = {ArgumentPointer{0}}}});
          executable->launch(&memory, nullptr, nullptr);
          for (int i = 0; i < 2; ++i) {
            try {
              own->synchronize();
            } catch (const Error& error) {
              std::cerr << error.what() << "\n";
              ++errors;
            }
          }
        }
        std::exit(errors == 2 ? 7 : 1);
      },
      testing::ExitedWithCode(7), "illegal memory access");
}

}  // namespace
}  // namespace tunesmith
