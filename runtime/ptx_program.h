// SPDX-License-Identifier: Apache-2.0
// Reads the text of an asm statement: instructions of PTX with their operands, and the registers that it
// declares. It knows no instruction. Private to runtime/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

struct PtxOperand {
  enum class Kind {
    argument,       ///< %0, by its number, or %[name]
    name,           ///< a register that the text declares
    special,        ///< %laneid
    whole,          ///< 16, as C++
    bits,           ///< 0f3F800000, as an unsigned number of C++
    decimal,        ///< 1.5
    sink,           ///< _
    vector,         ///< {a, b}
    pair,           ///< d|p
    address,        ///< [a + 16]
    not_predicate,  ///< !p
  };
  Kind kind = Kind::name;
  std::string text = {};               ///< the number, the name, or the offset of an address
  std::vector<PtxOperand> parts = {};  ///< of a vector, a pair, an address and a negation
};

struct PtxStep {
  enum class Kind { instruction, opens, closes, declares };
  Kind kind = Kind::instruction;
  std::string words = {};  ///< an instruction's name with its modifiers, or the declared type: "b32"
  std::string guard = {};  ///< the register of @p; empty: none
  bool is_not = false;     ///< @!p
  std::vector<PtxOperand> operands = {};
  std::vector<std::string> names = {};  ///< declared registers
};

struct PtxProgram {
  std::vector<PtxStep> steps;
  std::string problem;  ///< what is not understood, as the end of a sentence; empty: nothing
};

/// With `has_operands`, %% in the text stands for %.
PtxProgram ptx_program(std::string_view text, bool has_operands);

}  // namespace tunesmith
