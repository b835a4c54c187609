// SPDX-License-Identifier: Apache-2.0
// Texts from elsewhere on a terminal: names in files that others wrote, what compilers say.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// The text with its control characters written as \xNN, so that no terminal takes them for commands. Line
/// breaks and tabs stay, and so does all other UTF-8; bytes that are none are control characters here.
std::string printable(std::string_view text);

}  // namespace tunesmith
