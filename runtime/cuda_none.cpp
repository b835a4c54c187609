// SPDX-License-Identifier: Apache-2.0
// Replaces the CUDA files in a build without the CUDA toolkit: the same functions report that there is no
// CUDA.
#include "runtime/benchmark.h"
#include "runtime/executable.h"

namespace tunesmith {

std::unique_ptr<Executable> load_cuda(const std::string&, const std::string&, const Work&, int, bool) {
  throw Error(
      "This build has no CUDA and cannot load a variant on a GPU; build again where the CUDA toolkit is "
      "installed.");
}

bool is_cuda_memory(const void*, std::size_t, int) noexcept { return false; }

std::unique_ptr<Benchmark> make_cuda_benchmark(int) {
  throw LoadError("This build has no CUDA; build again where the CUDA toolkit is installed.");
}

std::vector<DeviceFacts> cuda_devices(std::string& why_none) {
  why_none =
      "This build has no CUDA, so the host is the only device; build again where the CUDA toolkit is "
      "installed.";
  return {};
}

std::string cuda_driver() { return ""; }

}  // namespace tunesmith
