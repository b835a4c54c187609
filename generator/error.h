// SPDX-License-Identifier: Apache-2.0
// The two exceptions of the library. A variant that fails raises neither: its failure is a verdict.
#pragma once

#include <stdexcept>

namespace tunesmith {

/// A failure of the environment: a full disk, a missing driver, a bad op description. Exit code 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A request that cannot be met: the message names the value, what is allowed and what to do. Exit code 2.
struct UsageError : Error {
  using Error::Error;
};

}  // namespace tunesmith
