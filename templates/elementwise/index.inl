// SPDX-License-Identifier: Apache-2.0
// The hints of accesses and the type of indices in broadcast.cu and broadcast_any.cu. Needs LOAD, STORE,
// INDEX and common/hinted_access.cuh.

// The names of LOAD and STORE are in the order of Hint.
constexpr Hint load_hint = static_cast<Hint>(LOAD);
constexpr Hint store_hint = static_cast<Hint>(STORE);

template <int BITS>
struct IndexOf {
  using type = long long;
};
template <>
struct IndexOf<32> {
  using type = unsigned;
};
using Index = typename IndexOf<INDEX>::type;
