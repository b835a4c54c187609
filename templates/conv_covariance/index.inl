// SPDX-License-Identifier: Apache-2.0
// The type of offsets within one image's covariances, for the kernels of conv_covariance. Needs INDEX_BITS.

template <int BITS>
struct IndexOf {
  using type = int;
};
template <>
struct IndexOf<64> {
  using type = long long;
};
using Index = IndexOf<INDEX_BITS>::type;  // of an element within one image's covariances
