// SPDX-License-Identifier: Apache-2.0
#include "generator/cholesky.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tunesmith {
namespace {

// The number of rows that are made together: each row above is read once for all of them, and they form a
// vector.
constexpr std::size_t pack_size = 8;
using Pack = std::array<double, pack_size>;

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

Cholesky::Cholesky(std::vector<double> lower_triangle, double least_pivot)
    : least_pivot_(least_pivot), lower_(std::move(lower_triangle)) {
  while (triangle_size(size_) < lower_.size()) ++size_;
  std::vector<Pack> block(size_);  // by column: the entries of the rows that are being made
  for (std::size_t top = 0; top < size_; top += pack_size) {
    const std::size_t rows = std::min(pack_size, size_ - top);
    for (std::size_t j = 0; j < top + rows; ++j) {
      const std::size_t first = j < top ? 0 : j - top;  // the rows that reach this column
      Pack rest{};
      for (std::size_t r = first; r < rows; ++r) rest[r] = lower_[triangle_size(top + r) + j];
      const double* const above = &lower_[triangle_size(j)];
      for (std::size_t k = 0; k < j; ++k)
        for (std::size_t r = 0; r < pack_size; ++r) rest[r] -= block[k][r] * above[k];
      double& pivot = lower_[triangle_size(j) + j];
      if (j >= top) pivot = std::sqrt(std::max(rest[first], least_pivot_));
      for (std::size_t r = 0; r < pack_size; ++r) rest[r] /= pivot;
      if (j >= top) rest[first] = pivot;
      block[j] = rest;
      for (std::size_t r = first; r < rows; ++r) lower_[triangle_size(top + r) + j] = rest[r];
    }
  }
}

void Cholesky::append(std::span<const double> left, double diagonal) {
  const std::size_t at = lower_.size();
  lower_.insert(lower_.end(), left.begin(), left.end());
  const std::span<double> row(lower_.data() + at, left.size());
  solve_lower(row);
  lower_.push_back(std::sqrt(std::max(diagonal - product(row, row), least_pivot_)));
  ++size_;
}

void Cholesky::solve_lower(std::span<double> b) const {
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = (b[i] - product(row(i).first(i), b.first(i))) / row(i)[i];
}

void Cholesky::solve(std::span<double> b) const {
  solve_lower(b);
  for (std::size_t i = b.size(); i-- > 0;) {
    const std::span<const double> its = row(i);
    b[i] /= its[i];
    for (std::size_t k = 0; k < i; ++k) b[k] -= its[k] * b[i];
  }
}

// Column j of L^-1 begins with its diagonal entry; the sum of its squares is entry (j, j) of A^-1.
std::vector<double> Cholesky::inverse_diagonal() const {
  std::vector<double> diagonal(size_);
  std::vector<double> inverse(lower_.size());  // L^-1, row after row
  std::vector<double> sums(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t k = 0; k < i; ++k) {
      const double left = row(i)[k];
      const double* const above = &inverse[triangle_size(k)];
      for (std::size_t j = 0; j <= k; ++j) sums[j] += left * above[j];
    }
    double* const its = &inverse[triangle_size(i)];
    its[i] = 1 / row(i)[i];
    for (std::size_t j = 0; j < i; ++j) its[j] = -sums[j] * its[i];
    for (std::size_t j = 0; j <= i; ++j) diagonal[j] += its[j] * its[j];
  }
  return diagonal;
}

}  // namespace tunesmith
