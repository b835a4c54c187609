// SPDX-License-Identifier: Apache-2.0
// A build without the CUDA toolkit refuses every request for a GPU.
#include "generator/error.h"
#include "tuner/device/device.h"

namespace tunesmith {

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  static_cast<void>(choose_device({DeviceId::Kind::cuda, ordinal}));  // throws: there is no GPU
  return nullptr;
}

}  // namespace tunesmith
