// SPDX-License-Identifier: Apache-2.0
#include "tests/source_folder.h"

namespace tunesmith {

const char* const source_folder = TUNESMITH_SOURCE_FOLDER;

}  // namespace tunesmith
