// SPDX-License-Identifier: Apache-2.0
// Finds the asm statements of a C++ text, and reads their parts. Private to runtime/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// "=r"(value)
struct AsmOperand {
  std::string name;        ///< [name] before the constraint; empty: none
  std::string constraint;  ///< "=r"
  std::string expression;  ///< on one line, without comments
};

/// asm volatile("template" : outputs : inputs : clobbers)
struct AsmStatement {
  std::size_t begin = 0, end = 0;  ///< its place in the text, without the semicolon
  std::string text;                ///< the template, as the compiler reads its literals
  std::vector<AsmOperand> outputs = {}, inputs = {};
  bool has_operands = false;  ///< false: no colon follows the template, in which %% then is no %
  std::string line_ends;      ///< the line ends in it, with the backslashes before them
  std::string problem;        ///< why it could not be read, as the end of a sentence; empty: it was
};

/// Returns the statements behind a place, in their order.
std::vector<AsmStatement> asm_statements(std::string_view text, std::size_t from);

}  // namespace tunesmith
