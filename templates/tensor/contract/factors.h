// SPDX-License-Identifier: Apache-2.0
// Terms that are products of two factors, each a function of accesses, such as max(a[i,k], 0) * b[k,j]. A
// launch writes the factors that are no elements of an array into the workspace; what is left is a product of
// two arrays, a problem of `contract`. Private to this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "generator/dtype.h"
#include "generator/problem.h"
#include "generator/work.h"
#include "templates/tensor/derive/derivation.h"
#include "templates/tensor/notation/expression.h"

namespace tunesmith::tensor_op {

struct Factors {
  std::array<Body, 2> bodies;
  DType dtype = DType::f32;  ///< in which both are multiplied: it holds every value of them
};
/// The factors of a sum's terms: each moves along an index of the output along which the other one does not.
/// They depend on the expression and the dtype alone. Nothing: terms are no such products, or plain ones of
/// two accesses.
const std::optional<Factors>& factors_of(const Problem& problem);

/// The values of a factor in the workspace.
struct FactorCopy {
  struct Dimension {
    std::size_t index = 0;  ///< of the expression
    std::int64_t extent = 1, pitch = 1;
  };
  std::vector<Dimension> dimensions;  ///< the nearest first
  std::int64_t zeros = 0;             ///< at the end of the nearest
  std::int64_t elements = 0;          ///< 0: the factor is an access, which is read where it is
};

/// The product of the factors' arrays.
struct FactorProduct {
  Problem problem;
  std::array<FactorCopy, 2> copies;
  std::array<int, most_arrays> arguments = {};  ///< of the problem's arrays; -1 and -2: the copies
};
/// Of a problem that has factors and terms.
const FactorProduct& product_of_factors(const Problem& problem);

/// The work of the problem from that of the product: first the launch that writes the copies.
Work work_of_factors(const Problem& problem, Work product, bool overlaps);

}  // namespace tunesmith::tensor_op
