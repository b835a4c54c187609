// SPDX-License-Identifier: Apache-2.0
// Numbers as text and back, the same in each locale: an application may have set one with a decimal comma.
#pragma once

#include <string>

namespace tunesmith {

/// What printf prints in the "C" locale: a decimal point, no groups.
[[gnu::format(printf, 1, 2)]] std::string printed(const char* pattern, ...);

/// The number that the text begins with, as strtod reads it in the "C" locale: 0 where there is none, and
/// where it is too small; infinite where it is too large.
double parsed_number(const std::string& text);

/// Whether the whole text is a number; "inf" and "nan" are.
bool reads_as_double(const std::string& text, double& value);

}  // namespace tunesmith
