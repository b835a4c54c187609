// SPDX-License-Identifier: Apache-2.0
// Tests the CUDA device: memory, comparison, parameters, and that it computes the same as the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <numeric>

#include "generator/error.h"
#include "generator/ops.h"
#include "runtime/toolchain.h"
#include "tests/cuda/cuda_device.h"
#include "tests/host_source.h"
#include "tests/kernels.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device_memory.h"

namespace tunesmith {
namespace {

TEST_F(CudaDevice, Facts) {
  const DeviceFacts& facts = device().facts();
  std::cout << facts.name << ", " << facts.target << ", " << facts.multiprocessors << " multiprocessors, "
            << facts.memory_bytes << " bytes, driver " << device().driver() << "\n";
  EXPECT_EQ(facts.kind, DeviceKind::cuda);
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
      const Outside written = device().written_outside(memory);
      EXPECT_EQ(written.before, std::max<std::int64_t>(memory - outside, 0)) << bytes;
      EXPECT_EQ(written.after, std::max<std::int64_t>(outside - memory - bytes + 1, 0)) << bytes;
      device().upload(outside, &before, 1);
      EXPECT_TRUE(device().guards_intact(memory));
    }
  }
}

TEST_F(CudaDevice, RefusesMoreMemoryThanThereIs) {
  EXPECT_THROW(device().allocate(device().facts().memory_bytes * 2, 256), Error);
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
    // The wrong element is alone among right ones, at an index several warps away.
    std::vector<float> got(3000, 2.0f);
    std::vector<double> expected(3000, 2.0);
    std::vector<float> permitted(3000, 0.0f);
    got[2500] = static_cast<float>(row.got);
    expected[2500] = row.expected;
    permitted[2500] = static_cast<float>(row.permitted);
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
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8, DType::i32,
                            DType::i64, DType::u16, DType::i16}) {
    std::vector<double> values;
    for (int i = 0; i < 200; ++i)
      values.push_back(round_to(dtype, dtype == DType::u8 || dtype == DType::u16 ? i : i * 0.75 - 60));
    const std::string packed = pack(dtype, values);
    const char* got = put(std::vector<char>(packed.begin(), packed.end()));
    const double* permitted = put(std::vector<double>(200, 0.0));  // or 400 floats
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

TEST_F(CudaDevice, PassesArraysByValue) {
  long long* out = put(std::vector<long long>(9, 0));
  void* arguments[] = {out};
  load(device(),
       {Launch{.kernel = "set_arrays",
               .block = {9},
               .arguments = {ArgumentPointer{0}, std::int32_t{1},
                             std::vector<std::int64_t>{2, std::int64_t{1} << 40, -4},
                             std::vector<std::int32_t>{5, -6, 7}, 8.0, std::vector<std::int64_t>{9}}}})
      ->launch(arguments, nullptr, nullptr);
  device().synchronize();
  EXPECT_EQ(get(out, 9), (std::vector<long long>{1, 2, 1ll << 40, -4, 5, -6, 7, 8, 9}));
}

// The host shim and a GPU give the same for a kernel.
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
    const Compilation for_gpu = make_nvrtc_toolchain()->compile(
        {.text = entry, .hash = "", .suffix = "", .kernels = {}, .target = device().facts().target});
    const Source source = host_source(body);
    const Compilation for_host = make_host_toolchain()->compile(source);
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

TEST_F(CudaDevice, NamesItself) { EXPECT_EQ(device().uuid().rfind("GPU-", 0), 0u) << device().uuid(); }

}  // namespace
}  // namespace tunesmith
