// SPDX-License-Identifier: Apache-2.0
// Replaces json_recordings.cpp if a package that it needs was missing.
#include "cli/json_recordings.h"
#include "cli/nvbench_text.h"
#include "generator/error.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(what + " needs " TUNESMITH_NO_JSON_WITHOUT
                     ", which was missing when this program was built. "
                     "Install that and build again, or use a database or a .csv table.");
}

}  // namespace

std::string unpacked(const std::filesystem::path& path) {
  if (path.extension() == ".gz") refuse("Reading " + path.string());
  return read_file(path);
}

Recording read_json_recording(const std::filesystem::path& path, const std::string&) {
  refuse("Reading " + path.string());
}

std::optional<InputFile> read_t1(const std::filesystem::path& path) { refuse("Reading " + path.string()); }

std::string t4_text(const Recording&) { refuse("The format t4"); }

std::string nvbench_text(const std::vector<Recording>&) { refuse("The format nvbench"); }

}  // namespace tunesmith
