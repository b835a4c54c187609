// SPDX-License-Identifier: Apache-2.0
// The functions that a reduction may compute, by number and by name: for applications and for the op itself.
#pragma once

#include <array>
#include <string_view>

namespace tunesmith {

/// The functions. min_max and mean_var write pairs: y[2 * k] is the minimum or the mean of output k, y[2 * k
/// + 1] the other.
enum class ReduceFunction {
  sum,
  min,
  max,
  mean,
  argmin,
  argmax,
  var,
  std,
  prod,
  any,
  all,
  count_nonzero,
  ptp,
  norm1,
  norm2,
  norminf,
  min_max,
  mean_var
};
inline constexpr std::array<std::string_view, 18> reduce_function_names = {
    "sum", "min", "max",           "mean", "argmin", "argmax", "var",     "std",     "prod",
    "any", "all", "count_nonzero", "ptp",  "norm1",  "norm2",  "norminf", "min_max", "mean_var"};

/// The order of additions. deterministic: a plan gives the same bits for the same arguments in every run.
/// atomic, for sums only: blocks add to the output as they end.
enum class ReduceOrder { deterministic, atomic };
inline constexpr std::array<std::string_view, 2> reduce_order_names = {"deterministic", "atomic"};

}  // namespace tunesmith
