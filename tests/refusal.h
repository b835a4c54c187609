// SPDX-License-Identifier: Apache-2.0
// Why an op takes no such problem, and what else a caller did wrong.
#pragma once

#include <string>

#include "generator/error.h"
#include "generator/op.h"

namespace tunesmith {

/// The error's sentence; "" for a problem that the op takes.
inline std::string refusal(const Op& op, const std::string& problem) {
  try {
    complete_problem(op, Problem::parse(problem));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// The sentence of the UsageError that the action throws; "" for none.
inline std::string error_of(auto action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tunesmith
