// SPDX-License-Identifier: Apache-2.0
// The identity of a kernel: its text as a compiler sees it. Comments, blank lines, indentation and the text's
// origin are not part of it, so that a better comment leaves all measurements valid.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// Returns the text without comments. One blank stands between tokens that white space or a comment divides;
/// each preprocessor line keeps a line of its own. Literals stay as they are.
std::string without_comments(std::string_view text);

/// True if the text converts the categorical constant `name` to a number: then the number is part of what the
/// compiler sees. A body may spell this only as static_cast<int>(NAME).
bool reads_as_number(std::string_view text, std::string_view name);

}  // namespace tunesmith
