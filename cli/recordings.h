// SPDX-License-Identifier: Apache-2.0
// Reads measurements from elsewhere or from earlier, in several file formats.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/search/recorded.h"

namespace tunesmith {

/// Reads any of
/// - a database of this project: all rows that match the filter, by op, problem, device, caches and
///   launches,
/// - a T4 results file or a Kernel Tuner cache, .json or .json.gz (docs/searching.md),
/// - a table with the columns template, config, verdict, median_us, compile_ms: .csv or .csv.gz.
/// Throws UsageError if the file is none of these.
std::vector<Recording> read_recordings(const std::filesystem::path& path, const QueryFilter& filter = {});

/// Describes a recording: "conv2d height=4096 width=4096, cold"; the usual conditions, warm and apart, are
/// left out.
std::string text(const Recording& recording);

/// The content of a T1 file: the kernel's name, and the names of its axes. read_input_file() returns nothing
/// if it is no T1 file.
struct InputFile {
  std::string kernel;
  std::vector<std::string> axes;
};
std::optional<InputFile> read_input_file(const std::filesystem::path& path);

/// Writes the rows as a T4 results file, a table as above, or an array of objects: "t4", "csv" or "json".
/// Samples are written by nvbench_text() alone.
std::string recording_text(const Recording& recording, const std::string& format);

/// Writes the rows as verdicts of a new session; `command` is stored with it. The kernels are not ours: their
/// identities begin with "recorded:", so that dispatch and resumption ignore them. Returns the number of rows
/// that were new.
std::size_t import_recording(Store& store, const Recording& recording, const std::string& command);

}  // namespace tunesmith
