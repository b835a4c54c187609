// SPDX-License-Identifier: Apache-2.0
// The names on which the number of turns of a kernel's loops may depend. It reads words, not meanings: too
// many names are possible, too few where a name is written through a pointer.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tunesmith {

/// Returns the names in the ends of all loops, and those from which they are computed. A loop whose turns are
/// shared among threads does not count. `is_any`: a loop has no such end, as in while (true).
std::set<std::string, std::less<>> names_in_loop_ends(std::string_view code, bool& is_any);

}  // namespace tunesmith
