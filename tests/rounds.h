// SPDX-License-Identifier: Apache-2.0
// How often a test repeats what it draws.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tunesmith {

/// The number in the environment's variable, or else the usual one.
inline std::uint64_t rounds_of(const char* variable, std::uint64_t usual) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? usual : std::stoull(given);
}

/// Of a fuzzer: TUNESMITH_FUZZ_MUTATIONS.
inline std::uint64_t fuzz_rounds(std::uint64_t usual) { return rounds_of("TUNESMITH_FUZZ_MUTATIONS", usual); }

}  // namespace tunesmith
