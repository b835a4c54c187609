// SPDX-License-Identifier: Apache-2.0
// Reads scripts that call Kernel Tuner.
#pragma once

#include <string>

namespace tunesmith {

struct TunedScript {
  std::string file;  ///< the kernel's file, as the script names it; empty: the kernel stands in the script
  std::string text;  ///< the description in TOML; without a file the whole .cu with it
};

/// Reads the call of tune_kernel for the kernel, which may be empty if the script tunes one alone. The script
/// is read by Python's parser and is not run. Throws UsageError with a sentence on what is not understood.
TunedScript read_tuned_script(const std::string& script, const std::string& kernel);

}  // namespace tunesmith
