// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files. Private to the library.
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

/// True if an errno reports a temporary shortage: of file numbers or memory.
inline bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// Returns a file's text. Empty, with errno, if there is no file; empty if it is not a regular file, so that
/// nothing waits for a pipe.
inline std::string read_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  std::string text;
  struct stat found {};
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
    text.resize(static_cast<std::size_t>(found.st_size));
    std::size_t size = 0;
    for (ssize_t some = 1; some > 0; size += static_cast<std::size_t>(some < 0 ? 0 : some)) {
      if (size == text.size())
        text.resize(size + 4096);  // the file may have grown, and files in /proc have no size
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
