// SPDX-License-Identifier: Apache-2.0
// The compiler options that a variant's text asks for. They stand in the text itself, so that it alone says
// how it is compiled, wherever it is kept. There is a fixed list of them, because texts may come from
// strangers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tunesmith {

struct CompilerFlags {
  bool fast_math = false;      ///< on a GPU: approximate functions, and f32 without denormal numbers
  std::int64_t registers = 0;  ///< on a GPU: the most per thread; 0: the compiler decides
  std::int64_t standard = 20;  ///< of C++, on a GPU: 17 or 20
  bool operator==(const CompilerFlags&) const = default;
};

inline constexpr std::int64_t least_registers = 16, most_registers = 255;

/// The lines of a text that ask for the options; empty for the usual ones.
std::string compiler_flag_lines(const CompilerFlags& options);

/// Returns the options for which the lines of a text ask.
CompilerFlags compiler_flags_of(std::string_view text);

}  // namespace tunesmith
