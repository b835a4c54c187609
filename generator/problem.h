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

/// Values with another meaning than a config's, and no config can be given in its place. What the names mean
/// is the op's; complete_problem() (op.h) looks whether they are there and allowed.
class Problem : private Values {
 public:
  using Values::Values;
  Problem() = default;
  explicit Problem(Values values) : Values(std::move(values)) {}

  /// As Values::parse: "height=1000 width=2000 dtype=f32". Throws UsageError.
  static Problem parse(std::string_view text) { return Problem(Values::parse(text)); }

  using Values::empty;
  using Values::entries;
  using Values::find;
  using Values::has;
  using Values::integer;
  using Values::string;
  using Values::text;

  /// Sets in place, or appends.
  void set(std::string_view name, Value value) {
    Values::set(name, std::move(value));
    forget_derived();
  }

  /// make(*this), such as the parsed expression: made once, and shared by all copies. A problem whose values
  /// have been set since makes it anew. Lasts as long as the problem or a copy of it; it must not contain
  /// one.
  template <typename T>
  const T& derived(T (*make)(const Problem&)) const {
    return derived_.get(*this, make);
  }
  /// Of a problem that is kept for long: what is needed again is made again.
  void forget_derived() { derived_ = {}; }

  bool operator==(const Problem&) const = default;

 private:
  DerivedData derived_;
};

}  // namespace tunesmith
