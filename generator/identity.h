// SPDX-License-Identifier: Apache-2.0
// What makes a kernel the kernel that it is: the text as a compiler sees it. Comments, blank lines,
// indentation and where the text came from are no part of it, so that mending a comment makes no measurement
// stale.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// The text without comments, with one blank between tokens that whitespace or a comment divides, and each
/// preprocessor line as a line of its own. Literals stay as they are.
std::string without_comments(std::string_view text);

/// Whether the text converts the constant `name`, a category, to a number: then the number is part of what
/// the compiler sees. The one spelling that a body may use is static_cast<int>(NAME).
bool reads_as_number(std::string_view text, std::string_view name);

}  // namespace tunesmith
