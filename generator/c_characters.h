// SPDX-License-Identifier: Apache-2.0
// Character classes of C++ source text (white space, names), the same in every locale. Scanners of kernels
// and expressions use them.
#pragma once

namespace tunesmith {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace tunesmith
