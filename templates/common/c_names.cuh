// SPDX-License-Identifier: Apache-2.0
// Names of C's headers that users' own kernels expect, which nvcc has and NVRTC lacks: integers of a stated
// size, limits, infinity, assert. It also defines TUNESMITH; such a file tests this macro around code that
// only its own program needs.
#pragma once

#define TUNESMITH 1
#define TUNESMITH_USING(name)  // before an overload; the text is in no namespace here

#ifndef __CUDACC_RTC__
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#else
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#endif
#ifndef assert
#define assert(condition) ((condition) ? static_cast<void>(0) : __trap())
#endif
