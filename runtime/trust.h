// Whether somebody else may have written a file whose content is run: checked as ssh checks keys.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tunesmith {

/// Why a file, or what SQLite keeps beside it, is not to be trusted, as a sentence with what to do about it;
/// nothing if the file and its folder belong to this user or to root, and nobody else may write them. A
/// folder in which others can replace nothing (sticky, such as /tmp) is as good. A file that is not there is
/// trusted.
std::optional<std::string> why_untrusted(const std::filesystem::path& file);

}  // namespace tunesmith
