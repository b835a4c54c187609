// SPDX-License-Identifier: Apache-2.0
// Types of PTX, and its operands: registers, numbers, vectors of registers and addresses.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/half_types.h"
#include "common/host/mma.h"
#include "common/host/shared_window.h"

namespace tunesmith_ptx {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long long;
using b8 = u8;
using b16 = u16;
using b32 = u32;
using b64 = u64;
using f16 = __half;
using bf16 = __nv_bfloat16;
using f32 = float;
using f64 = double;
using f16x2 = __half2;
using bf16x2 = __nv_bfloat162;
using tf32 = tunesmith_shim::Tf32;
using pred = bool;
struct f32x2 {
  float x, y;
};

template <size_t Size>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = u8;
};
template <>
struct UnsignedOf<2> {
  using Type = u16;
};
template <>
struct UnsignedOf<4> {
  using Type = u32;
};
template <>
struct UnsignedOf<8> {
  using Type = u64;
};
template <size_t Size>
using Unsigned = typename UnsignedOf<Size>::Type;

template <typename T>
constexpr bool is_number = false;
template <>
inline constexpr bool is_number<bool> = true;
template <>
inline constexpr bool is_number<u8> = true;
template <>
inline constexpr bool is_number<u16> = true;
template <>
inline constexpr bool is_number<u32> = true;
template <>
inline constexpr bool is_number<u64> = true;
template <>
inline constexpr bool is_number<s8> = true;
template <>
inline constexpr bool is_number<s16> = true;
template <>
inline constexpr bool is_number<s32> = true;
template <>
inline constexpr bool is_number<s64> = true;

// Operands that are no registers: a whole number, a constant of the program, a decimal fraction.
struct Number {
  long long value;
};
template <long long N>
struct Constant {
  static constexpr long long value = N;
};
struct Decimal {
  double value;
};

// The operand as a number of the instruction's type: the low bytes of its register.
template <typename T, typename Register>
inline T get(const Register& from) {
  static_assert(sizeof(T) <= sizeof(Register), "the register is narrower than the instruction's type");
  T value;
  memcpy(static_cast<void*>(&value), &from, sizeof(T));
  return value;
}
template <typename T>
inline T get(Number from) {
  if constexpr (is_number<T>) {
    return static_cast<T>(from.value);
  } else {
    return get<T>(static_cast<u64>(from.value));
  }
}
template <typename T, long long N>
inline T get(Constant<N>) {
  return get<T>(Number{N});
}
template <typename T>
inline T get(Decimal from) {
  return static_cast<T>(from.value);
}

// Puts a result in a register. A wider one gets the sign or zeros in front.
template <typename Register, typename T>
inline void set(Register& to, T value) {
  static_assert(sizeof(T) <= sizeof(Register), "the register is narrower than the instruction's type");
  if constexpr (is_number<T>) {
    to = static_cast<Register>(value);
  } else {
    Unsigned<sizeof(T)> bits;
    memcpy(&bits, &value, sizeof(T));
    to = bits;
  }
}

// Registers in braces.
template <typename Register, int N>
struct Registers {
  Register* at[N];
  Register& operator[](int n) const { return *at[n]; }
};
template <typename First, typename... More>
inline Registers<First, 1 + static_cast<int>(sizeof...(More))> vector(First& first, More&... more) {
  return {{&first, &more...}};
}

// Two results: d|p
template <typename First, typename Second>
struct Both {
  First& first;
  Second& second;
};
template <typename First, typename Second>
inline Both<First, Second> both(First& first, Second& second) {
  return {first, second};
}
// Sets the result, and the predicate beside it if there is one.
template <typename Register, typename T>
inline void set_with(Register& to, T value, bool) {
  set(to, value);
}
template <typename First, typename Second, typename T>
inline void set_with(Both<First, Second> to, T value, bool second) {
  set(to.first, value);
  set(to.second, second);
}

struct Address {
  u64 number;
};
template <typename Base>
inline Address address(const Base& base, long long offset) {
  return {get<Unsigned<sizeof(Base)>>(base) + static_cast<u64>(offset)};
}
inline Address address(Number base, long long offset) { return {static_cast<u64>(base.value + offset)}; }

enum class Space { generic, global, shared };
template <Space S>
inline char* pointer_of(Address at) {
  if constexpr (S == Space::shared) {
    return tunesmith_shim::shared_pointer(at.number);
  } else {
    return reinterpret_cast<char*>(at.number);
  }
}

enum class Order { weak, volatile_access, relaxed, acquire, release, acq_rel, sc };
enum class Scope { gpu, cta, cluster, sys };
enum class Round { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };

// The register of an operand, by the letter of its constraint.
template <char Letter>
struct RegisterOf;
template <>
struct RegisterOf<'h'> {
  using Type = u16;
};
template <>
struct RegisterOf<'r'> {
  using Type = u32;
};
template <>
struct RegisterOf<'f'> {
  using Type = u32;
};
template <>
struct RegisterOf<'l'> {
  using Type = u64;
};
template <>
struct RegisterOf<'d'> {
  using Type = u64;
};

template <char Letter, typename T>
inline typename RegisterOf<Letter>::Type taken(T value) {
  static_assert(sizeof(T) == sizeof(typename RegisterOf<Letter>::Type),
                "an operand of asm has another size than its constraint says");
  return get<typename RegisterOf<Letter>::Type>(value);
}
template <typename T, typename Register>
inline void give(T& to, Register value) {
  static_assert(sizeof(T) == sizeof(Register), "an operand of asm has another size than its constraint says");
  memcpy(const_cast<void*>(static_cast<const volatile void*>(&to)), &value, sizeof(T));
}

}  // namespace tunesmith_ptx
