// SPDX-License-Identifier: Apache-2.0
// Whether somebody else may have written a file whose content is run: checked as ssh checks keys.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tunesmith {

/// Why a file, or what SQLite keeps beside it, is not to be trusted, as a sentence with what to do about it;
/// nothing if the file that the name leads to and all folders above it, up to the user's home folder or the
/// root, belong to this user or to root, and nobody else may write them; likewise all above the name where it
/// is a link. A folder in which others can replace nothing (sticky, such as /tmp) is as good. A file that is
/// not there is trusted; what is no regular file is not.
std::optional<std::string> why_untrusted(const std::filesystem::path& file);

/// Why it is no regular file, as a sentence: a reader may wait for a pipe for ever. Nothing if it is not
/// there.
std::optional<std::string> why_no_file(const std::filesystem::path& path);

}  // namespace tunesmith
