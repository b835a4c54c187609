// SPDX-License-Identifier: Apache-2.0
// Reads and writes JSON files of other tuners, mostly compressed, for recordings.cpp. A build without
// nlohmann-json or zlib uses json_recordings_none.cpp, whose functions report this.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/recordings.h"

namespace tunesmith {

/// Returns the text of a file, which may be compressed (.gz); at most 256 MiB.
std::string unpacked(const std::filesystem::path& path);

/// Reads a T4 results file or a Kernel Tuner cache; `name` is used as the kernel's name if the file has none.
/// Throws UsageError if it is neither.
Recording read_json_recording(const std::filesystem::path& path, const std::string& name);

/// Reads a T1 file; returns nothing if it is none.
std::optional<InputFile> read_t1(const std::filesystem::path& path);

std::string t4_text(const Recording& recording);

}  // namespace tunesmith
