// SPDX-License-Identifier: Apache-2.0
// What a problem is described by: its parameters, and which values each may have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/values.h"

namespace tunesmith {

/// The sizes that users have; a few have others.
struct UsualSizes {
  std::int64_t least, most;
};

/// A dim or a choice of a problem: an integer in [minimum, maximum]; with `categories`, one of them; with
/// `refuses_text`, any text that it lets pass, of which `categories` are the known ones.
struct Parameter {
  std::string name;  ///< lower_case, the same word in kernel, database and CLI
  std::string what;  ///< half a sentence for people, with the unit
  std::vector<std::string> categories = {};
  std::int64_t minimum = 1;
  std::int64_t maximum = std::int64_t{1} << 31;
  std::optional<Value> initial = std::nullopt;  ///< taken when a problem does not name it
  /// Why a text that is none of the categories is not allowed, as a sentence; empty if it is.
  std::function<std::string(const std::string&)> refuses_text = nullptr;
  /// Of an integer: from where problems are drawn (sample.h). Nothing: its initial value, else all.
  std::optional<UsualSizes> usual = std::nullopt;
  /// Of a text that is a number: each launch may be given its own (Op::launch_numbers), and no choice depends
  /// on it.
  bool at_launch = false;
  /// Of a text: it says what is computed, and what won with another value says nothing of this one.
  bool is_computation = false;

  bool is_integer() const { return categories.empty() && !refuses_text; }
};

/// The value as a problem of the op holds it: a category that looks like a number is a text. Throws
/// UsageError naming the value and what is allowed.
Value checked(const Parameter& parameter, const Value& value, const std::string& op);

}  // namespace tunesmith
