// SPDX-License-Identifier: Apache-2.0
// Draws tensor problems such as users have: products of matrices and tensors, permutations, windows; and as
// often random expressions.

#include "generator/sample.h"

#include <algorithm>

#include "templates/tensor/drawer.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

const std::vector<std::string>& expressions() {
  static const std::vector<std::string> list = {
      "out[i,j] += a[i,k] * b[k,j]",
      "out[i,j] += a[i,k] * b[j,k]",
      "out[i,j] += a[k,i] * b[k,j]",
      "out[b,i,j] += x[b,i,k] * y[b,k,j]",
      "out[i] += a[i,k] * x[k]",
      "out[b,h,i,j] += q[b,i,h,k] * w[b,j,h,k]",
      "out[a,b,c] = x[b,a,c]",
      "out[a,b,c] = x[c,b,a]",
      "out[a,b,c,d] = x[a,d,b,c]",
      "out[a,b,c,d] = x[d,c,b,a]",
      "out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]",
      "out[n,c,y,x] += image[n,c,y+i,x+j] * w[c,i,j]",
      "out[i,j,k] += a[i,l,k] * b[l,j]",
      "out[a,b,i,j] += t[a,b,c,d] * v[c,d,i,j]",
      "out[i,j] = x[i] * y[j]",
      "out[i] += x[i,j]",
      "out[j] += x[i,j]",
      "out[y,x,d] += (l[y+i,x+j] - r[y+i,x+j+d]) ** 2",
  };
  return list;
}

// A random expression with up to 2^24 outputs of up to 2^14 terms.
void unusual_tensor(Random& random, Problem& problem) {
  Drawer drawer(random.next(), [&](bool is_reduced) { return draw_size(random, 1, is_reduced ? 24 : 4096); });
  const Expression e = parse(drawer.expression()).expression;
  problem.set("expression", canonical_text(e));
  problem.set("extents", joined(drawer.extents(e)));
}

void usual_tensor(Random& random, Problem& problem) {
  const Expression e = parse(draw(random, expressions())).expression;
  problem.set("expression", canonical_text(e));
  // The elements of the largest array are spread over its indices; windows are small.
  std::vector<std::int64_t> extents;
  const double each = 26.0 / static_cast<double>(std::max<std::size_t>(e.free, 2));
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    if (is_window(e, i)) {
      extents.push_back(static_cast<std::int64_t>(1 + 2 * random.below(6)));
    } else {
      extents.push_back(draw_size(random, 2, std::int64_t{1} << std::min(24, static_cast<int>(each) + 2)));
    }
  }
  problem.set("extents", joined(extents));
}

}  // namespace

void usual_tensors(Random& random, Problem& problem) {
  draw_chance(random, 50) ? usual_tensor(random, problem) : unusual_tensor(random, problem);
  for (const std::string_view name : array_names) problem.set(name, "dense");
  problem.set("out", "dense");
}

}  // namespace tunesmith::tensor_op
