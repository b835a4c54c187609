// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run.h"

namespace tunesmith {

const char* const program_path = TUNESMITH_PROGRAM_PATH;

}  // namespace tunesmith
