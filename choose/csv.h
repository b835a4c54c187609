// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// A field as it stands in a record, in quotes where it needs them.
std::string csv_field(std::string_view text);

/// The fields of a record.
std::vector<std::string> csv_fields(std::string_view record);

/// Takes the first record off the text, with its line break, LF or CRLF; one inside quotes is the field's.
std::string_view take_csv_record(std::string_view& text);

}  // namespace tunesmith
