// SPDX-License-Identifier: Apache-2.0
// Instructions of PTX on matrices of a warp.
#pragma once

#include "common/host/mma.h"
#include "common/host/ptx_operands.h"
#include "common/host/shared_window.h"

namespace tunesmith_ptx {

template <bool Turned, typename Register, int N>
inline void ldmatrix(Registers<Register, N> to, Address row, int line = __builtin_LINE()) {
  unsigned matrix[N];
  const bool has_row = tunesmith_shim::running->lane < 8 * N;  // the addresses of other lanes are not used
  tunesmith_shim::load_rows<Turned>(matrix, has_row ? pointer_of<Space::shared>(row) : nullptr, line);
  for (int n = 0; n < N; ++n) set(to[n], matrix[n]);
}
template <bool Turned, typename Register>
inline void ldmatrix(Register& to, Address row, int line = __builtin_LINE()) {
  ldmatrix<Turned>(vector(to), row, line);
}
template <bool Turned, typename Register, int N>
inline void stmatrix(Address row, Registers<Register, N> from, int line = __builtin_LINE()) {
  unsigned matrix[N];
  for (int n = 0; n < N; ++n) matrix[n] = get<u32>(from[n]);
  const bool has_row = tunesmith_shim::running->lane < 8 * N;
  tunesmith_shim::store_rows<Turned>(matrix, has_row ? pointer_of<Space::shared>(row) : nullptr, line);
}

// Turns a matrix whose row g stands in lanes 4 g to 4 g + 3.
template <typename Register, typename A>
inline void movmatrix(Register& to, const A& a, int line = __builtin_LINE()) {
  tunesmith_shim::meet(~0u, get<u32>(a), line);
  const int g = tunesmith_shim::running->lane / 4, t = tunesmith_shim::running->lane % 4;
  const auto of = [&](int row) {
    return tunesmith_shim::given<u32>(4 * row + g / 2) >> 16 * (g % 2) & 0xffffu;
  };
  set(to, of(2 * t) | of(2 * t + 1) << 16);
}

// Elements as the factors of mma.h have them.
template <typename T>
struct FactorOf {
  using Type = T;
};
template <>
struct FactorOf<f16> {
  using Type = Float16;
};
template <>
struct FactorOf<bf16> {
  using Type = BFloat16;
};

// The sums of a lane, which two halves in a register may be.
template <typename T, typename Sum, int Sums, typename Register, int N>
inline void read_sums(Sum (&sums)[Sums], Registers<Register, N> from) {
  constexpr int of_register = Sums / N;
  for (int n = 0; n < Sums; ++n) {
    if constexpr (of_register == 2) {
      const f16x2 halves = get<f16x2>(from[n / 2]);
      sums[n] = n % 2 == 0 ? halves.x : halves.y;
    } else {
      sums[n] = get<Sum>(from[n]);
    }
  }
}

template <int M, int N, int K, bool Saturates, typename TD, typename TA, typename TB, typename TC,
          typename RD, typename RA, typename RB, typename RC, int ND, int NA, int NB, int NC>
inline void mma(Registers<RD, ND> d, Registers<RA, NA> a, Registers<RB, NB> b, Registers<RC, NC> c,
                int line = __builtin_LINE()) {
  using A = typename FactorOf<TA>::Type;
  using B = typename FactorOf<TB>::Type;
  using Sum = decltype(tunesmith_shim::product_sum(
      TC(), static_cast<const typename tunesmith_shim::Factor<A>::Number*>(nullptr), nullptr, 0, false,
      false));
  constexpr int sums_of_lane = M / 4;
  static_assert(N == 8 && ND == (__is_same(TD, f16) ? sums_of_lane / 2 : sums_of_lane) &&
                    NC == (__is_same(TC, f16) ? sums_of_lane / 2 : sums_of_lane),
                "as many registers of sums as mma has for this shape");
  Sum sums[sums_of_lane];
  read_sums<TC>(sums, c);
  typename tunesmith_shim::Factor<A>::Register its_a[NA];
  typename tunesmith_shim::Factor<B>::Register its_b[NB];
  for (int n = 0; n < NA; ++n) its_a[n] = a[n];
  for (int n = 0; n < NB; ++n) its_b[n] = b[n];
  tunesmith_shim::multiply_add_fragments<A, B, M, K, Saturates>(sums, its_a, its_b, line);
  for (int n = 0; n < ND; ++n) {
    if constexpr (__is_same(TD, f16)) {
      set(d[n], f16x2{sums[2 * n], sums[2 * n + 1]});
    } else {
      set(d[n], static_cast<TD>(sums[n]));
    }
  }
}

}  // namespace tunesmith_ptx
