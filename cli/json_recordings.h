// SPDX-License-Identifier: Apache-2.0
// The files of other tuners, which are JSON, and mostly compressed: for recordings.cpp. A build without
// nlohmann-json or zlib has json_recordings_none.cpp, whose functions say so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/recordings.h"

namespace tunesmith {

/// The text of a file, which may be compressed (.gz); at most 256 MiB.
std::string unpacked(const std::filesystem::path& path);

/// Of a T4 results file or a Kernel Tuner cache; `name` is the kernel's where the file has none. Throws
/// UsageError where it is neither.
Recording read_json_recording(const std::filesystem::path& path, const std::string& name);

/// Nothing where it is no T1 file.
std::optional<InputFile> read_t1(const std::filesystem::path& path);

std::string t4_text(const Recording& recording);

}  // namespace tunesmith
