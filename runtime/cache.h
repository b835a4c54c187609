// Compiled binaries kept on the disk for the next process. A damaged or missing entry is no entry; a disk
// that cannot be written is no error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "generator/render.h"

namespace tunesmith {

class BinaryCache {
 public:
  /// Empty: remembers nothing.
  explicit BinaryCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<std::string> find(const Source& source) const;

  /// Written beside its place and renamed into it, so that no reader sees a part of it.
  void put(const Source& source, const std::string& bytes) const;

 private:
  std::filesystem::path place_of(const Source& source) const;
  std::filesystem::path folder_;
};

}  // namespace tunesmith
