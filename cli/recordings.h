// SPDX-License-Identifier: Apache-2.0
// Reads what was measured elsewhere or earlier, whatever file it is in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "tuner/search/recorded.h"

namespace tunesmith {

/// Reads any of
/// - a database of this project: all that the filter lets through, by op, problem, device, caches and
/// launches,
/// - a T4 results file or a Kernel Tuner cache, .json or .json.gz (docs/searching.md),
/// - a table with the columns template, config, verdict, median_us, compile_ms: .csv or .csv.gz.
/// Throws UsageError where it is none of these.
std::vector<Recording> read_recordings(const std::filesystem::path& path, const QueryFilter& filter = {});

/// "conv2d height=4096 width=4096, cold": what is usual, warm and apart, is left out.
std::string text(const Recording& recording);

/// What a T1 file says: what its kernel is called, and the names of its axes. Nothing where it is no T1 file.
struct InputFile {
  std::string kernel;
  std::vector<std::string> axes;
};
std::optional<InputFile> read_input_file(const std::filesystem::path& path);

/// The rows as a T4 results file, a table as above, or an array of objects: "t4", "csv" or "json".
std::string recording_text(const Recording& recording, const std::string& format);

/// Writes the rows as verdicts of a session of its own; `command` is stored with it. The kernels are not
/// ours: their identities begin with "recorded:", so that dispatch and resumption take none of them. Answers
/// with the number of rows that were new.
std::size_t import_recording(Store& store, const Recording& recording, const std::string& command);

}  // namespace tunesmith
