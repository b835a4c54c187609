// SPDX-License-Identifier: Apache-2.0
// Reads problems from a TOML file: an op, and values of its parameters; a list stands for one problem per
// value. Tables such as [extents] are for people.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/problem.h"

namespace tunesmith {

struct TomlProblems {
  std::string op;
  std::vector<Problem> problems;  ///< as written; complete_problem() checks them
};

/// `file` is the name in error messages. Throws UsageError with the line.
TomlProblems toml_problems(const std::string& text, const std::string& file);

TomlProblems read_toml_problems(const std::filesystem::path& path);

}  // namespace tunesmith
