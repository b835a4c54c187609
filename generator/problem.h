// SPDX-License-Identifier: Apache-2.0
// A problem: what a caller wants of an op, as the names and values of its parameters.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/derived_data.h"
#include "generator/values.h"

namespace tunesmith {

/// Values of a problem; a type of its own, so that no config can be passed in its place. The op defines the
/// names; complete_problem() (op.h) checks that they are present and allowed.
class Problem : private Values {
 public:
  using Values::Values;
  Problem() = default;
  explicit Problem(Values values) : Values(std::move(values)) {}

  /// Parses as Values::parse does: "height=1000 width=2000 dtype=f32". Throws UsageError.
  static Problem parse(std::string_view text) { return Problem(Values::parse(text)); }

  using Values::empty;
  using Values::entries;
  using Values::find;
  using Values::has;
  using Values::integer;
  using Values::string;
  using Values::text;

  /// Sets the value of the name, or appends a new entry.
  void set(std::string_view name, Value value) {
    Values::set(name, std::move(value));
    forget_derived();
  }

  /// Returns make(*this), such as the parsed expression: it is made once and shared by all copies. After
  /// set() it is made anew. The result lives as long as the problem or a copy of it; it must not contain one.
  template <typename T>
  const T& derived(T (*make)(const Problem&)) const {
    return derived_.get(*this, make);
  }
  /// Frees the derived results of a problem that is kept for long; they are made again when needed.
  void forget_derived() { derived_ = {}; }

  bool operator==(const Problem&) const = default;

 private:
  DerivedData derived_;
};

}  // namespace tunesmith
