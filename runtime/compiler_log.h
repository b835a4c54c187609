// SPDX-License-Identifier: Apache-2.0
// What a compiler wrote, cut to what a person reads: one wrong line of C++ can fill a hundred thousand.
#pragma once

#include <string>

namespace tunesmith {

/// The first 100 lines (16 KB at most); if none of them has an error, the first line that has one and what
/// follows it too. Says how many lines are left out.
std::string shortened_log(const std::string& log);

}  // namespace tunesmith
