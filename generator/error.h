// SPDX-License-Identifier: Apache-2.0
// The two kinds of failure that are exceptions. A variant that fails is neither: it is a verdict.
#pragma once

#include <stdexcept>

namespace tunesmith {

/// The world failed: a full disk, a missing driver, a bad op description. Exit code 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A person asked for something that cannot be: the message names the value, what is allowed and what to do.
/// Exit code 2.
struct UsageError : Error {
  using Error::Error;
};

}  // namespace tunesmith
