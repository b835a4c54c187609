// SPDX-License-Identifier: Apache-2.0
// For the fragments NAME_layout.inl, which say where a kernel has what in shared memory: the kernel evaluates
// them when it is compiled, with common/shared_layout.cuh, and its template in C++ when it makes a launch. A
// template includes its fragment within its namespace; what the fragment defines bears the template's name.
#pragma once

#include "generator/work.h"

#define LAYOUT_FUNCTION constexpr

namespace tunesmith {

using LayoutSize = std::int64_t;
constexpr LayoutSize smaller(LayoutSize a, LayoutSize b) { return a < b ? a : b; }
constexpr LayoutSize larger(LayoutSize a, LayoutSize b) { return a > b ? a : b; }

}  // namespace tunesmith
