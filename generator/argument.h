// SPDX-License-Identifier: Apache-2.0
// The arrays that an op reads and writes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "generator/dtype.h"
#include "generator/problem.h"

namespace tunesmith {

enum class Role { input, output, inout };
std::string_view name(Role role);  ///< "input"

/// An array's extents, outermost first: the parameters that they are, or a function where they follow from
/// more.
class Extents {
 public:
  Extents(std::initializer_list<const char*> parameters);
  template <typename Function>
  requires std::is_invocable_r_v < std::vector<std::int64_t>,
  const Function&, const Problem& > Extents(Function function) : function_(std::move(function)) {}
  std::vector<std::int64_t> operator()(const Problem& problem) const { return function_(problem); }

 private:
  std::function<std::vector<std::int64_t>(const Problem&)> function_;
};

/// What an input holds in a check, beside the usual numbers: uniform in [-1, 1), integers in [-100, 100].
struct Contents {
  enum class Spread {
    uniform,      ///< from `least` to `most`; the same number everywhere where they are equal
    magnitudes,   ///< of either sign, sizes log-uniform from `least` to `most`, both above 0
    ascending,    ///< from `least` to `most`
    few,          ///< each is `least`, the middle or `most`
    huge,         ///< of either sign, from a sixteenth of the dtype's largest on
    denormal,     ///< of either sign, below the dtype's smallest normal number; of integers 0
    with_nan,     ///< as uniform, but an eighth of them are NaN; of integers none
    offsets,      ///< ascending whole numbers, the first `least`, the last `most`: where rows begin
    permutation,  ///< the numbers from 0 on, each once, in no order
    distant,      ///< of f32 and f64 from 1000 to 1001, where sums that cancel lose digits; else -100 to 100
  };
  using enum Spread;
  Spread spread = uniform;
  double least = -1;  ///< where it is negative and the dtype unsigned, everything moves up by that much
  double most = 1;
  /// `least` and `most` where they follow from the problem. Null: they do not.
  std::function<std::pair<double, double>(const Problem&)> bounds = nullptr;
  std::string what = {};  ///< as the description has it; empty: describe() finds some
};

/// So many times the usual error is permitted where an input is `distant`: its rounding counts that much.
constexpr double distant_error = 1000;

/// A device array, row-major and contiguous.
struct Argument {
  std::string name;
  Role role;
  Extents extents;
  std::function<DType(const Problem&)> dtype = dtype_of;
  bool finite = false;  ///< the contract promises nothing for NaN and infinity in it
  /// Whether an output may be this very array. Null: no; any other overlap with an output is refused anyway.
  std::function<bool(const Problem&)> in_place = nullptr;
  /// What an input holds on the problem itself. Nothing: the usual numbers.
  std::optional<Contents> usual = std::nullopt;
  /// With what an input's companions are checked too. The n-th of each argument go together; one that has
  /// fewer begins again.
  std::vector<Contents> contents = {{Contents::uniform, -100, 100}, {Contents::few, -1, 1}};
};

/// "numbers from -100 to 100".
std::string describe(const Contents& contents);

std::int64_t elements(const Argument& argument, const Problem& problem);

/// As elements(), where that may be too large for an integer.
double size_bytes(const Argument& argument, const Problem& problem);

}  // namespace tunesmith
