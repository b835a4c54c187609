// SPDX-License-Identifier: Apache-2.0
// Compiled binaries kept on the disk for the next process. A damaged or missing entry is no entry, nor is one
// that somebody else may have written; a disk that cannot be written is no error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "generator/render.h"

namespace tunesmith {

/// $XDG_CACHE_HOME/tunesmith, else ~/.cache/tunesmith; empty if there is neither.
std::filesystem::path user_cache_folder();

class BinaryCache {
 public:
  /// Empty: remembers nothing.
  explicit BinaryCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// A sentence, where somebody else may write in the folder, or this process may not.
  std::optional<std::string> why_unused() const;

  struct Entry {
    std::string bytes;
    std::string made_by;  ///< the SHA-256 of the toolchain's identity; empty: it was not told
  };
  /// Where there is none, errno says whether it could not be opened.
  std::optional<Entry> find_entry(const Source& source) const;
  std::optional<std::string> find(const Source& source) const;  ///< of a folder that has one toolchain's

  /// Written beside its place and renamed into it, so that no reader sees a part of it; in the place of what
  /// another toolchain made. A sentence where it cannot be written.
  std::optional<std::string> put(const Source& source, const std::string& bytes,
                                 const std::string& toolchain = "") const;

  /// Removes the entries that were not used for longest, until the folder and those in it hold at most so
  /// much.
  void trim(std::uintmax_t most_bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace tunesmith
