// SPDX-License-Identifier: Apache-2.0
// Keeps compiled binaries on the disk for later processes. A damaged or missing entry, or one that somebody
// else may have written, counts as absent; a disk that cannot be written is no error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "generator/render.h"

namespace tunesmith {

/// Returns $XDG_CACHE_HOME/tunesmith, else ~/.cache/tunesmith; empty if there is neither.
std::filesystem::path user_cache_folder();

constexpr std::uintmax_t most_cached_bytes = std::uintmax_t{1} << 30;  ///< some 30'000 binaries of a GPU

/// Removes the least recently used files of a folder and its subfolders until they hold at most this many
/// bytes. `extension`: files with other extensions are not counted; empty: all are.
void trim_folder(const std::filesystem::path& folder, std::uintmax_t most_bytes,
                 const std::filesystem::path& extension = {});

class BinaryCache {
 public:
  /// With an empty folder the cache remembers nothing.
  explicit BinaryCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns a sentence if somebody else may write in the folder, or this process may not.
  std::optional<std::string> why_unused() const;

  struct Entry {
    std::string bytes;
    std::string made_by;  ///< the SHA-256 of the toolchain's identity; empty: not recorded
  };
  /// If there is no entry, errno tells if it could not be opened.
  std::optional<Entry> find_entry(const Source& source) const;
  std::optional<std::string> find(
      const Source& source) const;  ///< for a folder with the binaries of one toolchain

  /// Writes a temporary file and renames it into place, so that no reader sees a part of it. Replaces the
  /// entry of another toolchain. Returns a sentence if it cannot be written.
  std::optional<std::string> put(const Source& source, const std::string& bytes,
                                 const std::string& toolchain = "") const;

  /// Removes the least recently used entries, as trim_folder().
  void trim(std::uintmax_t most_bytes) const { trim_folder(folder_, most_bytes); }

 private:
  std::filesystem::path folder_;
};

}  // namespace tunesmith
