// SPDX-License-Identifier: Apache-2.0
// The definitions that fragments NAME_layout.inl need in kernels: numbers, functions of them, ceil_divide(),
// round_up(), smaller() and larger(). templates/shared_layout.h has them for C++.
#pragma once

#include "common/integer.cuh"

#define LAYOUT_FUNCTION __host__ __device__ constexpr

using LayoutSize = int;
