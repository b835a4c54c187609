// SPDX-License-Identifier: Apache-2.0
// Checks if somebody else may have written a file whose content is run, as ssh checks keys.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tunesmith {

/// Returns a sentence on why a file, or what SQLite keeps next to it, is not to be trusted and what to do
/// about it; nothing if it is trusted. The file that the name leads to and all folders above it, up to the
/// user's home folder or the root, must belong to this user or to root, and nobody else may write them; if
/// the name is a link, the same holds for all folders above the name. A folder in which others can replace
/// nothing (sticky, such as /tmp) is trusted too, and so is a file that does not exist; anything but a
/// regular file is not.
std::optional<std::string> why_untrusted(const std::filesystem::path& file);

/// Returns a sentence if the path is no regular file, because a reader may wait for a pipe for ever; nothing
/// if it does not exist.
std::optional<std::string> why_no_file(const std::filesystem::path& path);

}  // namespace tunesmith
