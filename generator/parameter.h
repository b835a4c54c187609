// SPDX-License-Identifier: Apache-2.0
// The parameters that describe a problem of an op, and the values that each may have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/values.h"

namespace tunesmith {

/// The usual range of a size; a few users have sizes outside.
struct UsualSizes {
  std::int64_t least, most;
};

/// A dimension or a choice of a problem. It is an integer in [minimum, maximum]; or, with `categories`, one
/// of these; or, with `refuses_text`, any text that this function accepts, and `categories` lists the known
/// ones.
struct Parameter {
  std::string name;  ///< lower_case, the same word in kernel, database and CLI
  std::string what;  ///< a phrase for people, with the unit
  std::vector<std::string> categories = {};
  std::int64_t minimum = 1;
  std::int64_t maximum = std::int64_t{1} << 31;
  std::optional<Value> initial = std::nullopt;  ///< the value if a problem does not name the parameter
  /// Returns a sentence on why a text outside `categories` is not allowed; empty if it is.
  std::function<std::string(const std::string&)> refuses_text = nullptr;
  /// For an integer: the range that problems are drawn from (sample.h). Empty: its initial value, or the
  /// whole range if there is none.
  std::optional<UsualSizes> usual = std::nullopt;
  /// For a text that is a number: each launch may be given its own value (Op::launch_numbers), and no choice
  /// of dispatch depends on it.
  bool at_launch = false;
  /// For a text: it states what is computed, so that a winner for one value tells nothing about another
  /// value.
  bool is_computation = false;

  bool is_integer() const { return categories.empty() && !refuses_text; }
};

/// Returns the value as a problem of the op holds it: a category that looks like a number becomes a text.
/// Throws UsageError that names the value and what is allowed.
Value checked(const Parameter& parameter, const Value& value, const std::string& op);

}  // namespace tunesmith
