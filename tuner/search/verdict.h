// SPDX-License-Identifier: Apache-2.0
// The verdict on a variant. Its words are those of the database.
#pragma once

#include <array>
#include <string_view>

namespace tunesmith {

enum class Verdict {
  ok,
  compile_error,
  resource_limit,
  launch_error,
  wrong_result,
  out_of_bounds,
  timeout,  ///< a limit of time ended it: it is not decided
  crash
};

constexpr std::array<std::string_view, 8> verdict_names = {"ok",           "compile_error", "resource_limit",
                                                           "launch_error", "wrong_result",  "out_of_bounds",
                                                           "timeout",      "crash"};

constexpr std::string_view name(Verdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)]; }

/// Any other word, from a newer database, is read as a crash: the variant is not ok, and must not be used.
constexpr Verdict verdict_of(std::string_view word) {
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (verdict_names[i] == word) return static_cast<Verdict>(i);
  }
  return Verdict::crash;
}

}  // namespace tunesmith
