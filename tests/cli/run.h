// SPDX-License-Identifier: Apache-2.0
// Runs the program as a person would, through a shell, with a database and a folder of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tunesmith {

/// Only program.cpp of a test's sources contains the program's path, so that a compiler cache serves
/// each folder.
extern const char* const program_path;
/// The program in a command of Scratch::shell().
#define TUNESMITH_PROGRAM "\"$TUNESMITH_PROGRAM\""

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder that is removed with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "tunesmith_cli_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

  Outcome shell(const std::string& command) const {
    const std::string all =
        "cd " + path_.string() + " && export TUNESMITH_DB=" + (path_ / "tunesmith.db").string() +
        " XDG_CACHE_HOME=" + (path_ / "cache").string() + " TUNESMITH_PROGRAM=" + program_path + " && { " +
        command + "; } >" + (path_ / ".out").string() + " 2>" + (path_ / ".err").string() + " </dev/null";
    const int status = std::system(all.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_text(path_ / ".out"),
            read_text(path_ / ".err")};
  }

  Outcome tunesmith(const std::string& arguments) const { return shell(TUNESMITH_PROGRAM " " + arguments); }

 private:
  std::filesystem::path path_;
};

}  // namespace tunesmith
