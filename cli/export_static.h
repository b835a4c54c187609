// SPDX-License-Identifier: Apache-2.0
// `tunesmith export --static`: writes a folder with sources, kernels and tables, from which an application
// builds its own dispatch library, without a database, a compiler of kernels or the templates' texts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/problem_file.h"

namespace tunesmith {

struct StaticRequest {
  std::filesystem::path database;
  std::string device;  ///< as in export_winners
  std::vector<std::string>
      ops;  ///< empty: the ops of the problems, or without problems all ops with known winners or tables
  std::vector<std::string> targets;  ///< targets in addition to those of the devices
  std::vector<ProblemsOfOp>
      problems;          ///< only kernels for these, and bases; empty: for all winners and anchors
  bool tvm_ffi = false;  ///< with the module for TVM FFI
};

struct StaticReport {
  int winners = 0, tables = 0, kernels = 0;
  std::vector<std::string> ops, targets;
  std::vector<std::string> notes;  ///< sentences on what was left out, and why
};

/// Exports the built-in winners and tables and those of the database, if it exists. Writes only to an empty
/// folder or over an earlier export, which is replaced. The same content gives the same bytes. Throws
/// UsageError if nothing is known of the devices, for an unknown target or another folder; Error if it cannot
/// be written.
StaticReport export_static(const StaticRequest& request, const std::filesystem::path& folder);

}  // namespace tunesmith
