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

/// An array's extents, outermost first: names of parameters, or a function where the extents follow from
/// several parameters.
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

/// Contents of an input in a check, in addition to the usual numbers (uniform in [-1, 1); integers in [-100,
/// 100]).
struct Contents {
  enum class Spread {
    uniform,      ///< from `least` to `most`; all elements are equal if these are
    magnitudes,   ///< either sign, magnitudes log-uniform from `least` to `most`, both above 0
    ascending,    ///< from `least` to `most`
    few,          ///< each element is `least`, the middle or `most`
    huge,         ///< either sign, from a sixteenth of the dtype's largest number on
    denormal,     ///< either sign, below the dtype's smallest normal number; 0 for integers
    with_nan,     ///< as uniform, but an eighth of the elements are NaN; no NaN in integers
    offsets,      ///< ascending whole numbers, the first `least`, the last `most`: where rows begin
    permutation,  ///< the numbers from 0 on, each once, in random order
    distant,      ///< f32 and f64: from 1000 to 1001, where sums that cancel lose digits; others: -100 to 100
  };
  using enum Spread;
  Spread spread = uniform;
  double least = -1;  ///< if it is negative and the dtype unsigned, all values move up by -`least`
  double most = 1;
  /// Computes `least` and `most` from the problem. Null: the fields above hold.
  std::function<std::pair<double, double>(const Problem&)> bounds = nullptr;
  std::string what = {};  ///< words of the description; empty: describe() writes them
};

/// The factor on the permitted error where an input is `distant`, because the input's rounding counts that
/// much more.
constexpr double distant_error = 1000;

/// A device array, row-major and contiguous.
struct Argument {
  std::string name;
  Role role;
  Extents extents;
  std::function<DType(const Problem&)> dtype = dtype_of;
  bool finite = false;  ///< true: the contract promises nothing if the array holds NaN or infinity
  /// Tells if an output may be this same array. Null: it may not. Any other overlap with an output is always
  /// refused.
  std::function<bool(const Problem&)> in_place = nullptr;
  /// Contents of an input on the problem itself. Empty: the usual numbers.
  std::optional<Contents> usual = std::nullopt;
  /// Further contents for checks on companion problems. The n-th contents of all arguments are used together;
  /// an argument with fewer begins again at its first.
  std::vector<Contents> contents = {{Contents::uniform, -100, 100}, {Contents::few, -1, 1}};
};

/// Returns a phrase such as "numbers from -100 to 100".
std::string describe(const Contents& contents);

std::int64_t elements(const Argument& argument, const Problem& problem);

/// The array's size in bytes, as a double because it may exceed any integer.
double size_bytes(const Argument& argument, const Problem& problem);

}  // namespace tunesmith
