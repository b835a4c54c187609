// SPDX-License-Identifier: Apache-2.0
// Only part of the shared library: gives its packed files to this project's program and Python extension,
// which load the library instead of holding its kernels once more (loaded_files.cpp).
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
