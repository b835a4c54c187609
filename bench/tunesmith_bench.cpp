// SPDX-License-Identifier: Apache-2.0
// The dispatch library behind a C interface, so that bench.py can launch any op on its own buffers and
// streams; and the kernels that the tuner launches between the variants that it times.
#include <cuda_runtime_api.h>

#include <exception>
#include <memory>
#include <span>
#include <string>

#include "generator/sample.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tuner/device/cuda_check.h"
#include "tuner/device/cuda_timer.h"
#include "tuner/device/device_kernels.h"
#include "tunesmith/dispatcher.h"

namespace {

thread_local std::string last_error;
thread_local std::string last_problems;

struct BenchPlan {
  tunesmith::Plan plan;
  std::string description;
};

// Returns null if `make` throws; last_error then has the message.
template <typename Make>
void* or_null(Make make) {
  try {
    return make().release();
  } catch (const std::exception& error) {
    last_error = error.what();
    return nullptr;
  }
}

struct Spacer {
  tunesmith::CudaTimer::Kernels kernels;
  int multiprocessors = 0;
};

// The module is never unloaded.
std::unique_ptr<Spacer> make_spacer(int ordinal) {
  using tunesmith::check;
  std::string why_none;
  const tunesmith::DeviceFacts facts =
      tunesmith::cuda_devices(why_none).at(static_cast<std::size_t>(ordinal));
  check(cudaSetDevice(ordinal), "use " + facts.name);
  const tunesmith::Compilation compiled = tunesmith::make_nvrtc_toolchain()->compile(
      {.text = device_kernels, .hash = "", .suffix = "", .kernels = {}, .target = facts.target});
  if (!compiled.ok) throw tunesmith::Error("The tuner's own kernels do not compile. " + compiled.log);
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, compiled.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "load the tuner's own kernels");
  auto spacer = std::make_unique<Spacer>();
  spacer->multiprocessors = facts.multiprocessors;
  check(cudaLibraryGetKernel(&spacer->kernels.spacer, library, "spacer"), "find a kernel of the tuner");
  check(cudaLibraryGetKernel(&spacer->kernels.evict, library, "evict"), "find a kernel of the tuner");
  return spacer;
}

}  // namespace

extern "C" {

const char* tunesmith_error() { return last_error.c_str(); }

/// `database` may be empty: then only the winners built into the library are used. With `at_once` nothing is
/// compiled and no cache of binaries is read: plans have the kernels of a first launch. Returns null on
/// failure.
void* tunesmith_open(const char* database, const char* device, int at_once) {
  return or_null([&] {
    tunesmith::DispatcherOptions options{
        .device = device, .database = database, .compile = tunesmith::Compile::now};
    if (at_once != 0) {
      options.compile = tunesmith::Compile::never;
      options.cache_folder = "";
    }
    return std::make_unique<tunesmith::Dispatcher>(options);
  });
}

void tunesmith_close(void* dispatcher) { delete static_cast<tunesmith::Dispatcher*>(dispatcher); }

/// Returns null on failure.
void* tunesmith_plan(void* dispatcher, const char* op, const char* problem) {
  return or_null([&] {
    auto planned = std::make_unique<BenchPlan>();
    planned->plan = static_cast<tunesmith::Dispatcher*>(dispatcher)->plan(op, std::string_view(problem));
    const tunesmith::Variant& variant = planned->plan.variant();
    planned->description =
        std::string(name(planned->plan.match())) + ": " + variant.template_name + " " + variant.config;
    return planned;
  });
}

void tunesmith_release(void* plan) { delete static_cast<BenchPlan*>(plan); }

/// Returns null on failure.
void* tunesmith_spacer(int device) {
  return or_null([&] { return make_spacer(device); });
}

/// `count` problems of the op's usual range, one a line. Returns null on failure.
const char* tunesmith_problems(const char* op, int count, unsigned long long seed) {
  try {
    last_problems.clear();
    for (const tunesmith::Problem& problem :
         tunesmith::sample_problems(tunesmith::find_op(op), static_cast<std::size_t>(count), seed))
      last_problems += problem.text() + "\n";
    return last_problems.c_str();
  } catch (const std::exception& error) {
    last_error = error.what();
    return nullptr;
  }
}

/// Launches the spacer before a launch that is timed: a kernel that does nothing, or one that reads `bytes`
/// bytes, all zeros. Returns 0, or 1; tunesmith_error() then has the message.
int tunesmith_space(void* spacer, const void* memory, long long bytes, void* stream) {
  try {
    const auto* own = static_cast<Spacer*>(spacer);
    tunesmith::CudaTimer::space(own->kernels, own->multiprocessors, memory, bytes,
                                static_cast<cudaStream_t>(stream));
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return 1;
  }
}

/// "exact: tiled BLOCK_X=32 ..."
const char* tunesmith_describe(void* plan) { return static_cast<BenchPlan*>(plan)->description.c_str(); }

long long tunesmith_workspace_bytes(void* plan) {
  return static_cast<BenchPlan*>(plan)->plan.workspace_bytes();
}

/// Returns 0, or an error code; tunesmith_error() then has the message.
int tunesmith_launch(void* plan, void* const* arguments, int count, void* stream, void* workspace) {
  const tunesmith::Status status = static_cast<BenchPlan*>(plan)->plan.launch(
      std::span(arguments, static_cast<std::size_t>(count)), stream, workspace);
  if (!status) last_error = status.message();
  return status.code();
}
}
