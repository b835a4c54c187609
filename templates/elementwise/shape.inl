// SPDX-License-Identifier: Apache-2.0
// The output's extents and the inputs' strides as kernel arguments, for broadcast.cu and broadcast_any.cu.
// Dimension 0 is the innermost. Needs elementwise/index.inl.

struct Divisor {
  unsigned multiplier;
  int shift;
};

// Divides as in Granlund and Montgomery, Division by invariant integers using multiplication, figure 4.1. The
// sum does not overflow for values below 2^31.
__device__ __forceinline__ unsigned divide(unsigned value, unsigned /*divisor*/, const Divisor& by) {
  return (__umulhi(value, by.multiplier) + value) >> by.shift;
}
__device__ __forceinline__ long long divide(long long value, long long divisor, const Divisor& /*by*/) {
  return value / divisor;
}

#define SIX(name)                                                                                \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4, \
      long long name##5
#define SIX_VALUES(type, name)                                                             \
  {                                                                                        \
    static_cast<type>(name##0), static_cast<type>(name##1), static_cast<type>(name##2),    \
        static_cast<type>(name##3), static_cast<type>(name##4), static_cast<type>(name##5) \
  }

struct Shape {
  Index extents[6];
  Index strides[6][6];
  Divisor divisors[5];
};
