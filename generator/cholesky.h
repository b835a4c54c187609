// SPDX-License-Identifier: Apache-2.0
// Cholesky's method for dense symmetric positive definite matrices: A = L L^T, L lower triangular. Plain
// loops.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tunesmith {

/// The size of a lower triangle that is stored row after row: 1 + 2 + … + n numbers.
constexpr std::size_t triangle_size(std::size_t n) { return n * (n + 1) / 2; }

class Cholesky {
 public:
  Cholesky() = default;
  /// Factors the matrix with this lower triangle. A pivot below `least_pivot` is replaced by it, so that a
  /// matrix that is singular only by rounding has a factor too. Takes n^3 / 6 products.
  explicit Cholesky(std::vector<double> lower_triangle, double least_pivot = 1e-12);

  std::size_t size() const { return size_; }
  /// Row i of L: i + 1 numbers.
  std::span<const double> row(std::size_t i) const { return {lower_.data() + triangle_size(i), i + 1}; }

  /// Adds a row and a column to A: `left` holds the entries left of the diagonal.
  void append(std::span<const double> left, double diagonal);

  /// Replaces b by L^-1 b. If b has fewer than size() numbers, only its first rows are solved.
  void solve_lower(std::span<double> b) const;
  /// Replaces b by A^-1 b.
  void solve(std::span<double> b) const;

  /// The diagonal of A^-1. Takes n^3 / 6 further products.
  std::vector<double> inverse_diagonal() const;

 private:
  std::size_t size_ = 0;
  double least_pivot_ = 1e-12;
  std::vector<double> lower_;  // the lower triangle of L, row after row
};

}  // namespace tunesmith
