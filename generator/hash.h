// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) of a text, which gives a source its identity.
#pragma once

#include <string>
#include <string_view>

namespace tunesmith {

/// Returns 64 lower-case hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace tunesmith
