// SPDX-License-Identifier: Apache-2.0
// Tests loading and launching on the CUDA device: refusals, failures, overlap.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <optional>

#include "generator/error.h"
#include "runtime/toolchain.h"
#include "tests/cuda/cuda_device.h"
#include "tests/cuda/gpu.h"
#include "tuner/device/device_memory.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

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
                   {});  // the copy is captured, and reads when the graph is replayed
  EXPECT_EQ(get(out, 4), (std::vector<float>{5, 6, 7, 8}));
}

// Launches in two streams, each with its own table: each finds its table and a counter that is zero.
TEST_F(CudaDevice, LaunchesThatKeepStateTakeTurns) {
  constexpr std::size_t streams = 2, rounds = 20;
  const Work work{.steps = {ConstantCopy{"table", 0, 16}, ConstantCopy{"launches", -1, 0},
                            Launch{.kernel = "read_table_late",
                                   .block = {4, 1, 1},
                                   .arguments = {ArgumentPointer{1}, std::int64_t{200000}}}},
                  .takes_turns = true};
  const auto executable = load_cuda(binary(device()), "", work, 0, true);
  std::vector<cudaStream_t> all(streams);
  std::vector<float*> tables, outs;
  for (std::size_t s = 0; s < streams; ++s) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&all[s], cudaStreamNonBlocking), cudaSuccess);
    const float first = 10 * static_cast<float>(s);
    tables.push_back(put(std::vector<float>{first, first + 1, first + 2, first + 3}));
    outs.push_back(put(std::vector<float>(4 * rounds, -1)));
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t s = 0; s < streams; ++s) {
      void* arguments[] = {tables[s], outs[s] + 4 * round};
      ASSERT_EQ(executable->launch(arguments, nullptr, all[s]), 0);
    }
  }
  device().synchronize();
  for (std::size_t s = 0; s < streams; ++s) {
    const std::vector<float> found = get(outs[s], 4 * rounds);
    for (std::size_t n = 0; n < found.size(); ++n)
      ASSERT_EQ(found[n], 10 * static_cast<float>(s) + static_cast<float>(n % 4)) << s << " " << n;
  }
  // A graph's launches would not take turns.
  cudaGraph_t graph = nullptr;
  void* arguments[] = {tables[0], outs[0]};
  ASSERT_EQ(cudaStreamBeginCapture(all[0], cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(executable->launch(arguments, nullptr, all[0]), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamEndCapture(all[0], &graph), cudaSuccess);
  static_cast<void>(cudaGraphDestroy(graph));
  EXPECT_EQ(executable->launch(arguments, nullptr, all[0]), 0) << "the next launch is no worse for it";
  device().synchronize();
  for (cudaStream_t stream : all) static_cast<void>(cudaStreamDestroy(stream));
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

// The kind of error that loading gives, or nothing if it loads.
template <typename Load>
std::optional<LoadError::Cause> refusal_of(const Load& load_it, std::string* sentence = nullptr) {
  try {
    load_it();
    return std::nullopt;
  } catch (const LoadError& error) {
    if (sentence != nullptr) *sentence = error.what();
    return error.cause;
  }
}

TEST_F(CudaDevice, RefusesWhatCannotRun) {
  using Cause = LoadError::Cause;
  const auto refusal = [](const Step& step) { return refusal_of([&] { load(device(), {step}); }); };
  EXPECT_EQ(refusal_of([] {
              device().load("not a binary, but long enough to be looked at", "",
                            {.steps = {Launch{.kernel = "empty"}}});
            }),
            Cause::refused);
  EXPECT_EQ(refusal(Launch{.kernel = "empty"}), std::nullopt);
  EXPECT_EQ(refusal(Launch{.kernel = "missing"}), Cause::refused);
  EXPECT_EQ(refusal(ConstantCopy{"missing", 0, 4}), Cause::refused);
  EXPECT_EQ(refusal(ConstantCopy{"table", 0, 17}), Cause::refused);
  EXPECT_EQ(refusal(Launch{.kernel = "small_block", .block = {65, 1, 1}}), Cause::resources);
  EXPECT_EQ(refusal(Launch{.kernel = "empty", .block = {2048, 1, 1}}), Cause::resources);
  EXPECT_EQ(refusal(Launch{.kernel = "empty", .dynamic_shared_bytes = 1 << 24}), Cause::resources);
  // Within the device's limit, but not together with the kernel's own 1024 bytes.
  EXPECT_EQ(refusal(Launch{.kernel = "some_shared",
                           .dynamic_shared_bytes = device().facts().max_shared_bytes_per_block - 1000}),
            Cause::resources);
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
  EXPECT_EQ(refusal(too_few, sentence), LoadError::Cause::refused);
  EXPECT_THAT(sentence, HasSubstr("set takes 5 parameters, but its launch gives 4 arguments"));

  std::vector<KernelArgument> too_many = right;
  too_many.emplace_back(std::int32_t{1});
  EXPECT_EQ(refusal(too_many, sentence), LoadError::Cause::refused);
  EXPECT_THAT(sentence, HasSubstr("5 parameters, but its launch gives 6"));

  std::vector<KernelArgument> too_wide = right;
  too_wide[1] = std::int64_t{40};  // the kernel takes an int
  EXPECT_EQ(refusal(too_wide, sentence), LoadError::Cause::refused);
  EXPECT_THAT(sentence, HasSubstr("Parameter 2 of 5"));

  std::vector<KernelArgument> too_narrow = right;
  too_narrow[2] = std::int32_t{2};  // the kernel takes a long long
  EXPECT_EQ(refusal(too_narrow, sentence), LoadError::Cause::refused);
  EXPECT_THAT(sentence, HasSubstr("Parameter 3 of 5"));

  const auto refuses_arrays = [&](std::size_t wide, std::size_t narrow) {
    return refusal_of(
        [&] {
          load(device(),
               {Launch{.kernel = "set_arrays",
                       .arguments = {ArgumentPointer{0}, std::int32_t{1}, std::vector<std::int64_t>(wide),
                                     std::vector<std::int32_t>(narrow), 8.0, std::vector<std::int64_t>(1)}}});
        },
        &sentence);
  };
  EXPECT_EQ(refuses_arrays(3, 3), std::nullopt) << sentence;
  EXPECT_EQ(refuses_arrays(4, 3), LoadError::Cause::refused);
  EXPECT_THAT(sentence, HasSubstr("an array of 32 bytes"));
  EXPECT_EQ(refuses_arrays(3, 2), LoadError::Cause::refused);
  EXPECT_EQ(refuses_arrays(600, 3), LoadError::Cause::resources);
  EXPECT_NO_THROW(device().synchronize());  // the queries leave no error behind
}

TEST_F(CudaDevice, AnswersALaunchThatFails) {
  const auto executable = load(device(), {Launch{.kernel = "empty", .grid = {0, 1, 1}}});
  const int code = executable->launch(nullptr, nullptr, nullptr);
  EXPECT_NE(code, 0);
  EXPECT_THAT(executable->describe(code), HasSubstr("invalid"));
  EXPECT_THROW(device().time_us(*executable, {}, nullptr, {}), Error);
  EXPECT_THROW(device().time_us(*executable, {}, nullptr, {.conditions = {.launches = Launches::chained}}),
               Error);
  EXPECT_NO_THROW(device().synchronize());  // no error is sticky
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
    device().time_us(*executable, arguments, nullptr,
                     {.samples = 3,
                      .repeats = 20,
                      .conditions = {.launches = chained ? Launches::chained : Launches::apart}});
    const int launches = get(counter, 1).front() - before;
    EXPECT_EQ(launches % 3, 0);
    EXPECT_GE(launches, 3 * (1 + 4 * 20));  // one rough launch, then four replays of 20 or more
  }
}

// A kernel without a wait is detected behind a kernel that writes late, and only if the launch overlaps.
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

  // Code for an architecture without the wait does not overlap, even if the GPU could.
  const Compilation older = make_nvrtc_toolchain()->compile(
      {.text = kernels, .hash = "", .suffix = "", .kernels = {}, .target = "compute_80"});
  ASSERT_TRUE(older.ok) << older.log;
  for (const char* kernel : {"copy_after_wait", "copy_without_wait", "fill_before_wait"})
    EXPECT_EQ(result(kernel, true, older.bytes), right) << kernel;
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
