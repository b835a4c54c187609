// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain.h"

namespace tunesmith {

std::unique_ptr<Toolchain> make_toolchain(std::string_view target) {
  return target == "host" ? make_host_toolchain() : make_nvrtc_toolchain();
}

}  // namespace tunesmith
