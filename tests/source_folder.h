// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tunesmith {

/// The repository's root. Of all sources source_folder.cpp alone contains it, so that a compiler cache serves
/// each folder.
extern const char* const source_folder;

}  // namespace tunesmith
