// SPDX-License-Identifier: Apache-2.0
// The default of application_packed_files: no files. In a file of its own, so that a linker prefers the
// function of an application's library, if it has one.
#include "dispatch/packed.h"

namespace tunesmith {

std::span<const PackedFile> application_packed_files() { return {}; }

}  // namespace tunesmith
