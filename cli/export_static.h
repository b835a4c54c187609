// SPDX-License-Identifier: Apache-2.0
// `tunesmith export --static`: a folder with sources, kernels and tables, from which an application builds
// its own dispatch library, without a database, a compiler of kernels or the templates' texts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/problem_file.h"

namespace tunesmith {

struct StaticRequest {
  std::filesystem::path database;
  std::string device;                  ///< as in export_winners
  std::vector<std::string> ops;        ///< empty: those of the problems, else all of which something is known
  std::vector<std::string> targets;    ///< further ones to those of the devices
  std::vector<ProblemsOfOp> problems;  ///< only their kernels, and bases; empty: of all winners and anchors
};

struct StaticReport {
  int winners = 0, tables = 0, kernels = 0;
  std::vector<std::string> ops, targets;
  std::vector<std::string> notes;  ///< sentences: what was left out, and why
};

/// Takes the winners and tables of the database, if it exists, and the built-in ones. Only an empty folder or
/// an earlier export is written to, and the latter is replaced. The same content gives the same bytes. Throws
/// UsageError if nothing is known of the devices, for an unknown target or another folder; Error if it cannot
/// be written.
StaticReport export_static(const StaticRequest& request, const std::filesystem::path& folder);

}  // namespace tunesmith
