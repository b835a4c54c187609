// The files of a kernel of a user's own, read into an OwnText.
#pragma once

#include <filesystem>

#include "generator/own_op.h"

namespace tunesmith {

/// FILE.cu; FILE.toml beside it, if there is one; and what it includes from its own folder. Throws
/// UsageError.
OwnText read_own_text(const std::filesystem::path& path);

}  // namespace tunesmith
