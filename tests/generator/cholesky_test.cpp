// SPDX-License-Identifier: Apache-2.0
// Tests factors of random positive definite matrices, with sizes around the number of rows that are computed
// at once.
#include "generator/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "generator/random.h"

namespace tunesmith {
namespace {

// B B^T + 0.1 I: its lower triangle.
std::vector<double> random_matrix(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> b(n * n);
  for (double& value : b) value = random.uniform() - 0.5;
  std::vector<double> a;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 0.1 : 0;
      for (std::size_t k = 0; k < n; ++k) sum += b[i * n + k] * b[j * n + k];
      a.push_back(sum);
    }
  }
  return a;
}

double at(const std::vector<double>& a, std::size_t i, std::size_t j) {
  return i < j ? at(a, j, i) : a[triangle_size(i) + j];
}

constexpr std::size_t sizes[] = {1, 2, 7, 8, 9, 16, 33, 100};

TEST(Cholesky, IsAFactorOfTheMatrix) {
  for (const std::size_t n : sizes) {
    const std::vector<double> a = random_matrix(n, n);
    const Cholesky factor(a);
    ASSERT_EQ(factor.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k <= j; ++k) sum += factor.row(i)[k] * factor.row(j)[k];
        EXPECT_NEAR(sum, at(a, i, j), 1e-12 * static_cast<double>(n)) << n;
      }
    }
  }
}

TEST(Cholesky, SolvesAndInverts) {
  for (const std::size_t n : sizes) {
    const std::vector<double> a = random_matrix(n, n);
    const Cholesky factor(a);
    const std::vector<double> diagonal = factor.inverse_diagonal();
    for (std::size_t column = 0; column < n; ++column) {
      std::vector<double> x(n, 0.0);
      x[column] = 1;
      factor.solve(x);
      EXPECT_NEAR(x[column], diagonal[column], 1e-9 * diagonal[column]) << n;
      for (std::size_t i = 0; i < n; ++i) {
        double product = 0;
        for (std::size_t j = 0; j < n; ++j) product += at(a, i, j) * x[j];
        EXPECT_NEAR(product, i == column ? 1 : 0, 1e-9) << n;
      }
    }
  }
}

TEST(Cholesky, ARowAfterTheOtherGivesTheSame) {
  const std::vector<double> a = random_matrix(33, 5);
  const Cholesky whole(a);
  Cholesky grown;
  for (std::size_t i = 0; i < 33; ++i)
    grown.append(std::span(a).subspan(triangle_size(i), i), a[triangle_size(i) + i]);
  std::vector<double> b(33, 1.0);
  std::vector<double> first(20, 1.0);
  grown.solve_lower(b);
  grown.solve_lower(first);
  for (std::size_t i = 0; i < 33; ++i) {
    for (std::size_t j = 0; j <= i; ++j) EXPECT_NEAR(grown.row(i)[j], whole.row(i)[j], 1e-12);
    if (i < 20) {
      EXPECT_EQ(first[i], b[i]);
    }
  }
}

TEST(Cholesky, TwoEqualRowsHaveAFactorToo) {
  const Cholesky factor({1, 1, 1}, 1e-6);
  EXPECT_NEAR(factor.row(1)[1], 1e-3, 1e-12);
}

}  // namespace
}  // namespace tunesmith
