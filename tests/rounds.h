// SPDX-License-Identifier: Apache-2.0
// The number of rounds in which a test repeats its random draws.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tunesmith {

/// The number in the environment variable, else the usual one.
inline std::uint64_t rounds_of(const char* variable, std::uint64_t usual) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? usual : std::stoull(given);
}

/// The rounds of a fuzzer, from TUNESMITH_FUZZ_MUTATIONS.
inline std::uint64_t fuzz_rounds(std::uint64_t usual) { return rounds_of("TUNESMITH_FUZZ_MUTATIONS", usual); }

}  // namespace tunesmith
