// SPDX-License-Identifier: Apache-2.0
// Whole files. Private to the library.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "generator/error.h"

namespace tunesmith {

/// Whether an errno says that something lacks which may be there again: file numbers, memory.
inline bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Empty where there is none, with errno, and where it is no regular file: nothing waits for a pipe.
inline std::string read_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  std::string text;
  struct stat found {};
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
    text.resize(static_cast<std::size_t>(found.st_size));
    std::size_t size = 0;
    for (ssize_t some = 1; some > 0; size += static_cast<std::size_t>(some < 0 ? 0 : some)) {
      if (size == text.size()) text.resize(size + 4096);  // it may have grown, and /proc tells no sizes
      some = ::read(file, text.data() + size, text.size() - size);
    }
    text.resize(size);
  }
  ::close(file);
  return text;
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error("The file " + path.string() + " cannot be written; check the folder and the disk.");
}

}  // namespace tunesmith
