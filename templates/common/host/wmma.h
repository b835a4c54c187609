// SPDX-License-Identifier: Apache-2.0
// The host twin of <mma.h>: fragments of a warp's matrices of half, bfloat16, tf32, double and 8-bit
// integers. Which element of a matrix a lane has where is this file's own; CUDA promises only that it is the
// same for fragments of one type. Sums are rounded as in tensor_sum.h.
#pragma once

#include <stddef.h>

#include "common/host/aligned.h"
#include "common/host/half_types.h"
#include "common/host/tensor_sum.h"
#include "common/host/warp.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

}  // namespace wmma
}  // namespace nvcuda

namespace tunesmith_shim {

template <typename T>
struct StoredElement {
  using Type = T;
};
template <>
struct StoredElement<nvcuda::wmma::precision::tf32> {
  using Type = float;
};

template <typename Use, int M, int N, int K>
struct MatrixShape;
template <int M, int N, int K>
struct MatrixShape<nvcuda::wmma::matrix_a, M, N, K> {
  static constexpr int rows = M, columns = K;
};
template <int M, int N, int K>
struct MatrixShape<nvcuda::wmma::matrix_b, M, N, K> {
  static constexpr int rows = K, columns = N;
};
template <int M, int N, int K>
struct MatrixShape<nvcuda::wmma::accumulator, M, N, K> {
  static constexpr int rows = M, columns = N;
};

// True for the factors and shapes that tensor cores have.
template <typename T>
constexpr bool has_shape(int m, int n, int k) {
  const bool of_16 = k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  if (__is_same(T, nvcuda::wmma::precision::tf32)) return m == 16 && n == 16 && k == 8;
  if (__is_same(T, double)) return m == 8 && n == 8 && k == 4;
  if (__is_same(T, float)) return of_16 || (m == 16 && n == 16 && k == 8);  // sums
  return of_16;
}

// The value with which a product is computed.
inline double factor_of(double x, double*) { return x; }
inline double factor_of(float x, float*) { return tf32_number(x); }
template <typename T>
inline double factor_of(T x, T*) {
  return static_cast<double>(static_cast<float>(x));
}

// Waits for the whole warp, whose lanes must give the same pointer.
template <typename T>
inline void meet_at_matrix(const T* at, int line) {
  meet(~0u, operand(at), line);
  if (met != ~0u) fail(divergent_warp);
  for (int lane = 0; lane < warp_lanes; ++lane)
    if (given<const T*>(lane) != at) fail(differing_lanes);
}

static double matrix_of_a[32 * 16], matrix_of_b[32 * 16];  // of the products that are being computed
static unsigned long long matrices_of = 0;                 // the meeting at which the lanes brought them

}  // namespace tunesmith_shim

namespace nvcuda {
namespace wmma {

template <typename Use, int M, int N, int K, typename T, typename Layout = void>
class fragment {
  static_assert(
      tunesmith_shim::has_shape<T>(M, N, K),
      "wmma has no such shape, or the host does not emulate it; it has 16x16x16, 32x8x16 and 8x32x16 "
      "of half, bfloat16 and 8-bit integers, 16x16x8 of tf32 and 8x8x4 of double");

 public:
  using element_type = T;
  using storage_element_type = typename tunesmith_shim::StoredElement<T>::Type;
  using Shape = tunesmith_shim::MatrixShape<Use, M, N, K>;
  static constexpr int elements = Shape::rows * Shape::columns;
  // Lanes have the elements of factors of half twice or more, as on a GPU.
  static constexpr int num_elements =
      __is_same(T, __half) && !__is_same(Use, accumulator) ? 16 : elements / tunesmith_shim::warp_lanes;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];

  // The place in the matrix, row after row, of a lane's n-th element.
  static int place(int lane, int n) { return (n * tunesmith_shim::warp_lanes + lane) % elements; }
  double factor(int n) const {
    return tunesmith_shim::factor_of(x[n], static_cast<storage_element_type*>(nullptr));
  }
};

inline float __float_to_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return __uint_as_float((bits + 0x1000u) & 0xffffe000u);
}

template <typename Use, int M, int N, int K, typename T, typename Layout, typename Value>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& matrix, const Value& value) {
  for (auto& element : matrix.x)
    element = static_cast<typename tunesmith_shim::StoredElement<T>::Type>(value);
}

namespace tunesmith_matrix {

// CUDA asks of a matrix in memory that its first element lies at 32 bytes, and rows (or columns) begin at
// multiples of 16 bytes.
template <typename T>
inline void require_place(const T* at, unsigned stride) {
  tunesmith_shim::require_alignment(at, 32);
  if (sizeof(T) < 8 && stride * sizeof(T) % 16 != 0) tunesmith_shim::fail(tunesmith_shim::misaligned);
}

template <typename Fragment, typename T>
inline void load(Fragment& matrix, const T* from, unsigned stride, bool by_rows, int line) {
  tunesmith_shim::meet_at_matrix(from, line);
  require_place(from, stride);
  for (int n = 0; n < Fragment::num_elements; ++n) {
    const int at = Fragment::place(tunesmith_shim::running->lane, n);
    const int row = at / Fragment::Shape::columns, column = at % Fragment::Shape::columns;
    matrix.x[n] = from[by_rows ? static_cast<size_t>(row) * stride + static_cast<size_t>(column)
                               : static_cast<size_t>(column) * stride + static_cast<size_t>(row)];
  }
}

}  // namespace tunesmith_matrix

template <typename Use, int M, int N, int K, typename T, typename Layout, typename From>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& matrix, const From* from, unsigned stride,
                             tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  static_assert(!__is_same(Layout, void),
                "a sum's layout is given: load_matrix_sync(c, from, stride, layout)");
  tunesmith_matrix::load(matrix, from, stride, __is_same(Layout, row_major), at.line);
}
template <int M, int N, int K, typename T, typename From>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& matrix, const From* from, unsigned stride,
                             layout_t layout, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  tunesmith_matrix::load(matrix, from, stride, layout == mem_row_major, at.line);
}
template <int M, int N, int K, typename T, typename To>
inline void store_matrix_sync(To* to, const fragment<accumulator, M, N, K, T>& matrix, unsigned stride,
                              layout_t layout, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  using Fragment = fragment<accumulator, M, N, K, T>;
  tunesmith_shim::meet_at_matrix(to, at.line);
  tunesmith_matrix::require_place(to, stride);
  for (int n = 0; n < Fragment::num_elements; ++n) {
    const int place = Fragment::place(tunesmith_shim::running->lane, n);
    const size_t row = static_cast<size_t>(place / N), column = static_cast<size_t>(place % N);
    to[layout == mem_row_major ? row * stride + column : column * stride + row] = matrix.x[n];
  }
}

template <int M, int N, int K, typename T, typename LayoutA, typename LayoutB, typename Result, typename Sum>
TUNESMITH_UNWATCHED inline void mma_sync(fragment<accumulator, M, N, K, Result>& result,
                                         const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                         const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                                         const fragment<accumulator, M, N, K, Sum>& sum,
                                         bool saturates = false,
                                         tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
  using namespace tunesmith_shim;
  using A = fragment<matrix_a, M, N, K, T, LayoutA>;
  using B = fragment<matrix_b, M, N, K, T, LayoutB>;
  struct Factors {
    const A* a;
    const B* b;
  };
  static_assert(!__is_same(T, double) || __is_same(Sum, double), "products of double have sums of double");
  const Factors factors = {&a, &b};
  meet(~0u, operand(&factors), at.line);
  if (met != ~0u) fail(divergent_warp);
  if (matrices_of != meetings) {  // the first lane reads what all have brought
    matrices_of = meetings;
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const Factors& of_lane = *given<const Factors*>(lane);
      for (int n = 0; n < A::num_elements; ++n) matrix_of_a[A::place(lane, n)] = of_lane.a->factor(n);
      for (int n = 0; n < B::num_elements; ++n) matrix_of_b[B::place(lane, n)] = of_lane.b->factor(n);
    }
  }
  constexpr int terms = __is_same(T, precision::tf32) ? terms_at_once / 2 : terms_at_once;
  for (int n = 0; n < fragment<accumulator, M, N, K, Sum>::num_elements; ++n) {
    const int place = fragment<accumulator, M, N, K, Sum>::place(running->lane, n);
    const double* const row = matrix_of_a + place / N * K;
    const double* const column = matrix_of_b + place % N;
    if constexpr (__is_same(T, double)) {
      double total = sum.x[n];
      for (int k = 0; k < K; ++k) total = __builtin_fma(row[k], column[k * N], total);
      result.x[n] = total;
    } else if constexpr (__is_same(Sum, int)) {
      long long total = sum.x[n];
      for (int k = 0; k < K; ++k) total += static_cast<long long>(row[k] * column[k * N]);
      if (saturates)
        total = total > 0x7fffffff ? 0x7fffffff : total < -0x7fffffff - 1 ? -0x7fffffff - 1 : total;
      result.x[n] = static_cast<int>(total);
    } else {
      result.x[n] = sum_in_tensor_cores<terms>(static_cast<float>(sum.x[n]), row, column, N, K);
    }
  }
}

}  // namespace wmma
}  // namespace nvcuda
