// SPDX-License-Identifier: Apache-2.0
// A total order of the elements of each type: NaN after all numbers, all NaN equal, and -0 before 0. Keys are
// unsigned integers in the same order. All templates of rank_filter use it.
#pragma once

template <typename T>
struct Keys {  // signed and unsigned integers
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr int bits = 8 * sizeof(T);
  using Key = unsigned;
  static constexpr Key sign = is_signed ? 1u << (bits - 1) : 0u, mask = ~0u >> (32 - bits);
  static __device__ __forceinline__ Key key(T value) { return (static_cast<Key>(value) ^ sign) & mask; }
  static __device__ __forceinline__ T value(Key key) { return static_cast<T>(key ^ sign); }
};
template <>
struct Keys<long long> {
  static constexpr int bits = 64;
  using Key = unsigned long long;
  static constexpr Key sign = 1ull << 63;
  static __device__ __forceinline__ Key key(long long value) { return static_cast<Key>(value) ^ sign; }
  static __device__ __forceinline__ long long value(Key key) { return static_cast<long long>(key ^ sign); }
};

// The key of a floating-point number by its bits, of which the first is the sign. `infinity` has no sign.
template <typename Unsigned, Unsigned sign, Unsigned infinity>
__device__ __forceinline__ Unsigned key_of_bits(Unsigned bits) {
  constexpr Unsigned all = sign | (sign - 1);
  const Unsigned size = bits & (sign - 1);
  if (size > infinity) bits = sign - 1;  // a NaN
  return bits ^ ((bits & sign) != 0 ? all : sign);
}
template <typename Unsigned, Unsigned sign>
__device__ __forceinline__ Unsigned bits_of_key(Unsigned key) {
  constexpr Unsigned all = sign | (sign - 1);
  return key ^ ((key & sign) != 0 ? sign : all);
}

template <>
struct Keys<float> {
  static constexpr int bits = 32;
  using Key = unsigned;
  static __device__ __forceinline__ Key key(float value) {
    return key_of_bits<Key, 0x80000000u, 0x7f800000u>(__float_as_uint(value));
  }
  static __device__ __forceinline__ float value(Key key) {
    return __uint_as_float(bits_of_key<Key, 0x80000000u>(key));
  }
};
template <>
struct Keys<double> {
  static constexpr int bits = 64;
  using Key = unsigned long long;
  static constexpr Key sign = 1ull << 63;
  static __device__ __forceinline__ Key key(double value) {
    return key_of_bits<Key, sign, 0x7ffull << 52>(static_cast<Key>(__double_as_longlong(value)));
  }
  static __device__ __forceinline__ double value(Key key) {
    return __longlong_as_double(static_cast<long long>(bits_of_key<Key, sign>(key)));
  }
};
template <typename Half, unsigned infinity>
struct HalfKeys {
  static constexpr int bits = 16;
  using Key = unsigned;
  static __device__ __forceinline__ Key key(Half value) {
    return key_of_bits<Key, 0x8000u, infinity>(value.bits);
  }
  static __device__ __forceinline__ Half value(Key key) {
    Half half;
    half.bits = static_cast<unsigned short>(bits_of_key<Key, 0x8000u>(key));
    return half;
  }
};
template <>
struct Keys<Float16> : HalfKeys<Float16, 0x7c00u> {};
template <>
struct Keys<BFloat16> : HalfKeys<BFloat16, 0x7f80u> {};

// The value outside an image as an element; the type holds it exactly.
template <typename T>
__device__ __forceinline__ T from_outside(double value) {
  return static_cast<T>(value);
}
template <>
__device__ __forceinline__ Float16 from_outside<Float16>(double value) {
  return from_float<Float16>(static_cast<float>(value));
}
template <>
__device__ __forceinline__ BFloat16 from_outside<BFloat16>(double value) {
  return from_float<BFloat16>(static_cast<float>(value));
}
