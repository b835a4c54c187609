// SPDX-License-Identifier: Apache-2.0
// For the fragments NAME_layout.inl, as templates/shared_layout.h has it for C++: numbers, functions of them,
// ceil_divide(), round_up(), smaller() and larger().
#pragma once

#include "common/integer.cuh"

#define LAYOUT_FUNCTION __host__ __device__ constexpr

using LayoutSize = int;
