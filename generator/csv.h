// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180), for timing tables and winners files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// Writes a field of a record, in quotes if it needs them.
std::string csv_field(std::string_view text);

/// Splits a record into its fields.
std::vector<std::string> csv_fields(std::string_view record);

/// Removes and returns the first record of the text, with its line break, LF or CRLF; a line break inside
/// quotes belongs to the field.
std::string_view take_csv_record(std::string_view& text);

}  // namespace tunesmith
