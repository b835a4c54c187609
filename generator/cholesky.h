// SPDX-License-Identifier: Apache-2.0
// Dense symmetric positive definite matrices by Cholesky's method: A = L L^T, L lower triangular. Plain
// loops.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tunesmith {

/// A lower triangle row after row: 1 + 2 + … + n numbers.
constexpr std::size_t triangle_size(std::size_t n) { return n * (n + 1) / 2; }

class Cholesky {
 public:
  Cholesky() = default;
  /// Of the matrix with this lower triangle. A pivot below `least_pivot` counts as that, so that a matrix
  /// that is singular but for rounding has a factor too. n^3 / 6 products.
  explicit Cholesky(std::vector<double> lower_triangle, double least_pivot = 1e-12);

  std::size_t size() const { return size_; }
  /// Of L: i + 1 numbers.
  std::span<const double> row(std::size_t i) const { return {lower_.data() + triangle_size(i), i + 1}; }

  /// A further row and column of A: what stands left of the diagonal, and the diagonal.
  void append(std::span<const double> left, double diagonal);

  /// L^-1 b, in the place of b; of its first numbers, if there are fewer than size().
  void solve_lower(std::span<double> b) const;
  /// A^-1 b, in the place of b.
  void solve(std::span<double> b) const;

  /// The diagonal of A^-1: n^3 / 6 further products.
  std::vector<double> inverse_diagonal() const;

 private:
  std::size_t size_ = 0;
  double least_pivot_ = 1e-12;
  std::vector<double> lower_;  // of L
};

}  // namespace tunesmith
