// Comma-separated values as RFC 4180 has them, one record per line: no field of ours holds a line break.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// A field as it stands in a record, in quotes where it needs them.
std::string csv_field(std::string_view text);

/// The fields of a record.
std::vector<std::string> csv_fields(std::string_view record);

}  // namespace tunesmith
