// SPDX-License-Identifier: Apache-2.0
// Shortens a compiler's log to what a person reads: one wrong line of C++ can fill a hundred thousand lines.
#pragma once

#include <string>

namespace tunesmith {

/// Returns the first 100 lines (16 KB at most). If none of them has an error, adds the first line that has
/// one and the lines after it. States the number of lines left out.
std::string shortened_log(const std::string& log);

}  // namespace tunesmith
