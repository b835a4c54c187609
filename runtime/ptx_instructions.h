// SPDX-License-Identifier: Apache-2.0
// The instructions of PTX that the host runs, and the functions of templates/common/host/ptx*.h that do what
// they do. Private to runtime/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tunesmith {

struct PtxCall {
  std::string function;  ///< "tunesmith_ptx::add<tunesmith_ptx::Round::rn, false, false, tunesmith_ptx::f32>"
  bool takes_vectors = false;  ///< a register alone is given as one in braces
};

/// Returns the call for an instruction's name with all modifiers, "add.rn.f32", and its number of operands;
/// nothing if the host does not run it.
std::optional<PtxCall> ptx_call(std::string_view words, std::size_t operands);

/// Returns the call of the function that reads a special register, such as "%laneid"; empty: the host has
/// none.
std::string ptx_special(std::string_view name);

/// Returns the C++ type of a register that is declared as this type of PTX, such as "b32"; empty: none.
std::string_view ptx_register(std::string_view type);

}  // namespace tunesmith
