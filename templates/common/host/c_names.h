// SPDX-License-Identifier: Apache-2.0
// The twin of common/c_names.cuh.
#pragma once

#define TUNESMITH 1
#define TUNESMITH_USING(name) using ::name;

#include <float.h>
#include <limits.h>
#include <stdint.h>

#include "common/host/intrinsics.h"
#ifndef INFINITY
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif
#define __builtin_align__(bytes) __align__(bytes)
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#ifndef assert
#define assert(condition) ((condition) ? static_cast<void>(0) : __trap())
#endif
