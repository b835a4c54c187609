// SPDX-License-Identifier: Apache-2.0
// A packed file's content where the build compressed blocks of files (pack.cpp).
#include <zstd.h>

#include "dispatch/packed.h"
#include "generator/error.h"

namespace tunesmith {

std::string content_of(const PackedFile& file) {
  if (file.size == 0) return std::string(file.bytes);
  const auto size = ZSTD_getFrameContentSize(file.bytes.data(), file.bytes.size());
  std::string block;
  if (size != ZSTD_CONTENTSIZE_ERROR && size != ZSTD_CONTENTSIZE_UNKNOWN && size >= file.offset + file.size) {
    block.resize(size);
    if (ZSTD_decompress(block.data(), block.size(), file.bytes.data(), file.bytes.size()) == size)
      return block.substr(file.offset, file.size);
  }
  throw Error("The library's file " + std::string(file.name) +
              " cannot be uncompressed, so the library is damaged: install it again.");
}

}  // namespace tunesmith
