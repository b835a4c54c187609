// SPDX-License-Identifier: Apache-2.0
// What a wrong word was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// " Did you mean status?", of the name that is nearest to the word; empty where none is near: some letters
/// differ or have changed places, or the word is how the name begins.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace tunesmith
