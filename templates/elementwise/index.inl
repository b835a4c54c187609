// SPDX-License-Identifier: Apache-2.0
// How broadcast.cu and broadcast_any.cu read, write and count. Needs LOAD, STORE, INDEX and
// common/hinted_access.cuh.

// The words of LOAD and STORE are in the order of Hint.
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
