// SPDX-License-Identifier: Apache-2.0
// The names of the C++ library that kernels use, on a GPU by <cuda/std/...>: types, limits, pairs, minima,
// and std:: names of the mathematical functions. Headers that declare C functions are not included, because
// math.h has its own.
#pragma once

#pragma push_macro("__noinline__")
#undef __noinline__
#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#if __has_include(<bits/stl_function.h>)
#include <bits/stl_function.h>
#endif
#pragma pop_macro("__noinline__")
#include <stdint.h>

#include "common/host/intrinsics.h"
#include "common/host/math.h"

#define TUNESMITH_STD(name) using ::name, ::name##f;
namespace std {
using ::abs, ::isfinite, ::isinf, ::isnan, ::signbit;
TUNESMITH_STD(sqrt)
TUNESMITH_STD(cbrt)
TUNESMITH_STD(exp)
TUNESMITH_STD(exp2)
TUNESMITH_STD(expm1)
TUNESMITH_STD(log)
TUNESMITH_STD(log2)
TUNESMITH_STD(log10)
TUNESMITH_STD(log1p)
TUNESMITH_STD(logb)
TUNESMITH_STD(sin)
TUNESMITH_STD(cos)
TUNESMITH_STD(tan)
TUNESMITH_STD(asin)
TUNESMITH_STD(acos)
TUNESMITH_STD(atan)
TUNESMITH_STD(sinh)
TUNESMITH_STD(cosh)
TUNESMITH_STD(tanh)
TUNESMITH_STD(asinh)
TUNESMITH_STD(acosh)
TUNESMITH_STD(atanh)
TUNESMITH_STD(erf)
TUNESMITH_STD(erfc)
TUNESMITH_STD(tgamma)
TUNESMITH_STD(lgamma)
TUNESMITH_STD(floor)
TUNESMITH_STD(ceil)
TUNESMITH_STD(trunc)
TUNESMITH_STD(round)
TUNESMITH_STD(rint)
TUNESMITH_STD(nearbyint)
TUNESMITH_STD(fabs)
TUNESMITH_STD(pow)
TUNESMITH_STD(fmod)
TUNESMITH_STD(remainder)
TUNESMITH_STD(hypot)
TUNESMITH_STD(atan2)
TUNESMITH_STD(copysign)
TUNESMITH_STD(fmin)
TUNESMITH_STD(fmax)
TUNESMITH_STD(fdim)
TUNESMITH_STD(nextafter)
TUNESMITH_STD(fma)
TUNESMITH_STD(ldexp)
TUNESMITH_STD(lrint)
TUNESMITH_STD(llrint)
TUNESMITH_STD(lround)
TUNESMITH_STD(llround)
TUNESMITH_STD(ilogb)
TUNESMITH_STD(modf)
TUNESMITH_STD(frexp)
TUNESMITH_STD(scalbn)
using ::int8_t, ::int16_t, ::int32_t, ::int64_t, ::uint8_t, ::uint16_t, ::uint32_t, ::uint64_t, ::intptr_t,
    ::uintptr_t;
}  // namespace std
#undef TUNESMITH_STD

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
