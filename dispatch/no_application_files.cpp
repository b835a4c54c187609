// SPDX-License-Identifier: Apache-2.0
// In a file of its own, so that a linker takes the function from an application's library where that has one.
#include "dispatch/packed.h"

namespace tunesmith {

std::span<const PackedFile> application_packed_files() { return {}; }

}  // namespace tunesmith
