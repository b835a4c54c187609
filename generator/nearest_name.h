// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelt words in error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// Returns " Did you mean status?" with the name that is nearest to the word. Empty if none is near. A name
/// is near if some letters differ or have changed places, or if it begins with the word.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace tunesmith
