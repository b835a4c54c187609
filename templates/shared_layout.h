// SPDX-License-Identifier: Apache-2.0
// For the fragments NAME_layout.inl, which describe the layout of a kernel's shared memory. The kernel
// evaluates them when it is compiled, with common/shared_layout.cuh; its template evaluates them in C++ when
// it makes a launch. A template includes its fragment inside its namespace; definitions in the fragment begin
// with the template's name.
#pragma once

#include "generator/work.h"

#define LAYOUT_FUNCTION constexpr

namespace tunesmith {

using LayoutSize = std::int64_t;
constexpr LayoutSize smaller(LayoutSize a, LayoutSize b) { return a < b ? a : b; }
constexpr LayoutSize larger(LayoutSize a, LayoutSize b) { return a > b ? a : b; }

}  // namespace tunesmith
