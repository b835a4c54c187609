// SPDX-License-Identifier: Apache-2.0
// Makes texts from outside (names in others' files, compilers' messages) safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// Returns the text with its control characters written as \xNN, so that no terminal takes them for commands.
/// Line breaks, tabs and all other UTF-8 stay; bytes that are not UTF-8 are treated as control characters.
std::string printable(std::string_view text);

}  // namespace tunesmith
