// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device.h"

namespace tunesmith {

std::unique_ptr<Device> make_device(const ChosenDevice& chosen) {
  return chosen.ordinal() < 0 ? make_host_device() : make_cuda_device(chosen.ordinal());
}

}  // namespace tunesmith
