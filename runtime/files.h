// Whole files. Private to dispatch/.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "generator/error.h"

namespace tunesmith {

/// Empty where there is none.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error("The file " + path.string() + " cannot be written; check the folder and the disk.");
}

}  // namespace tunesmith
