// SPDX-License-Identifier: Apache-2.0
// Of the shared library alone: what is packed into it, for this project's program and Python extension, which
// load the library in place of holding its kernels once more (loaded_files.cpp).
#include <cstddef>

#include "dispatch/packed.h"

extern "C" {
__attribute__((visibility("default"))) const tunesmith::PackedFile* tunesmith_packed_files(
    std::size_t* count);

const tunesmith::PackedFile* tunesmith_packed_files(std::size_t* count) {
  const auto files = tunesmith::packed_files();
  *count = files.size();
  return files.data();
}
}
