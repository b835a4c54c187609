// SPDX-License-Identifier: Apache-2.0
// Draws tensor problems such as users have: products of matrices and tensors of all shapes and layouts,
// permutations, windows; and, one in six, random expressions.

#include "generator/sample.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "templates/tensor/drawer.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

// An expression, how often it is drawn, and the usual extents of its indices, the output's first, then the
// others as they first appear. Windows have odd extents. A layer with a stride has borders of zeros, so that
// its result has an element for each `stride` of the image, along the last dimensions or before the channels.
struct Usual {
  int weight;
  const char* expression;
  std::vector<UsualSizes> extents;
  std::int64_t stride = 0;
};

const std::vector<Usual>& usual() {
  constexpr std::int64_t million = std::int64_t{1} << 20;
  static const std::vector<Usual> list = {
      // Matrices in the four layouts.
      {6, "out[i,j] += a[i,k] * b[k,j]", {{16, 8192}, {16, 8192}, {16, 8192}}},
      {6, "out[i,j] += a[i,k] * b[j,k]", {{16, 8192}, {16, 8192}, {16, 8192}}},
      {4, "out[i,j] += a[k,i] * b[k,j]", {{16, 8192}, {16, 8192}, {16, 8192}}},
      {2, "out[i,j] += a[k,i] * b[j,k]", {{16, 8192}, {16, 8192}, {16, 8192}}},
      // Thin: few rows or columns.
      {4, "out[i,j] += a[i,k] * b[j,k]", {{1, 64}, {64, 32768}, {64, 16384}}},
      {2, "out[i,j] += a[i,k] * b[k,j]", {{1, 64}, {64, 32768}, {64, 16384}}},
      {3, "out[i,j] += a[i,k] * b[k,j]", {{64, 32768}, {1, 64}, {64, 16384}}},
      // Long sums of few results, and short sums of many.
      {3, "out[i,j] += a[k,i] * b[k,j]", {{1, 256}, {1, 256}, {4096, 4 * million}}},
      {2, "out[i,j] += a[i,k] * b[j,k]", {{1, 256}, {1, 256}, {4096, million}}},
      {2, "out[i,j] += a[i,k] * b[k,j]", {{256, 16384}, {256, 16384}, {1, 64}}},
      // Batches.
      {4, "out[b,i,j] += x[b,i,k] * y[b,k,j]", {{2, 4096}, {8, 512}, {8, 512}, {8, 512}}},
      {3, "out[b,i,j] += x[b,i,k] * y[b,j,k]", {{2, 4096}, {8, 512}, {8, 512}, {8, 512}}},
      {2, "out[b,h,i,j] += q[b,i,h,k] * w[b,j,h,k]", {{1, 16}, {4, 32}, {64, 2048}, {64, 2048}, {32, 128}}},
      {2, "out[b,i,h,k] += p[b,h,i,j] * v[b,j,h,k]", {{1, 16}, {64, 2048}, {4, 32}, {32, 128}, {64, 2048}}},
      // Functions of the operands: activations, levels with scales, zero points.
      {2, "out[i,j] += max(a[i,k], 0) * b[k,j]", {{16, 8192}, {16, 8192}, {16, 8192}}},
      {2, "out[i,j] += (a[i,k] - 8) * s[k] * b[j,k]", {{16, 8192}, {16, 8192}, {16, 8192}}},
      {1, "out[i,j] += (a[i,k] - 1) * (b[k,j] - 1)", {{16, 8192}, {16, 8192}, {16, 8192}}},
      // Matrices and vectors.
      {3, "out[i] += a[i,k] * x[k]", {{64, 131072}, {64, 32768}}},
      {2, "out[i] += a[k,i] * x[k]", {{64, 32768}, {64, 131072}}},
      {2, "out[b,i] += a[b,i,k] * x[b,k]", {{2, 1024}, {16, 2048}, {16, 2048}}},
      // Tensors.
      {1, "out[i,j,k] += a[i,l,k] * b[l,j]", {{2, 512}, {8, 1024}, {2, 512}, {8, 1024}}},
      {1, "out[a,b,i,j] += t[a,b,c,d] * v[c,d,i,j]", {{4, 64}, {4, 64}, {4, 64}, {4, 64}, {4, 64}, {4, 64}}},
      // Convolutions with channels, with a stride, and of each channel.
      {4,
       "out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]",
       {{1, 32}, {8, 512}, {4, 256}, {4, 256}, {3, 512}, {1, 7}, {1, 7}}},
      {2,
       "out[n,o,y,x] += image[n,c,2*y+i,2*x+j] * w[o,c,i,j]",
       {{1, 32}, {8, 512}, {4, 128}, {4, 128}, {3, 512}, {1, 7}, {1, 7}}},
      {2,
       "out[n,c,y,x] += image[n,c,y+i,x+j] * w[c,i,j]",
       {{1, 32}, {8, 512}, {4, 256}, {4, 256}, {3, 7}, {3, 7}}},
      // Layers with borders, channels first and last.
      {3,
       "out[n,o,y,x] += image[n,c,y+i-1,x+j-1] * w[o,c,i,j]",
       {{1, 64}, {16, 512}, {7, 224}, {7, 224}, {16, 512}, {3, 3}, {3, 3}},
       1},
      {3,
       "out[n,y,x,o] += image[n,y+i-1,x+j-1,c] * w[o,i,j,c]",
       {{1, 64}, {7, 224}, {7, 224}, {16, 512}, {3, 3}, {3, 3}, {16, 512}},
       1},
      {1,
       "out[n,o,y,x] += image[n,c,2*y+i-3,2*x+j-3] * w[o,c,i,j]",
       {{1, 64}, {16, 128}, {7, 112}, {7, 112}, {3, 4}, {7, 7}, {7, 7}},
       2},
      {1,
       "out[n,y,x,o] += image[n,y+i-2,x+j-2,c] * w[o,i,j,c]",
       {{1, 64}, {7, 224}, {7, 224}, {16, 256}, {5, 5}, {5, 5}, {16, 256}},
       1},
      // Windows.
      {2, "out[y,x] += g[i] * h[j] * v[y+i,x+j]", {{64, 8192}, {64, 8192}, {3, 31}, {3, 31}}},
      {1, "out[y,x] += v[y+i,x+j]", {{64, 8192}, {64, 8192}, {3, 31}, {3, 31}}},
      {2, "out[n,c,y,x] max= v[n,c,2*y+i,2*x+j]", {{1, 32}, {8, 512}, {4, 256}, {4, 256}, {2, 5}, {2, 5}}},
      {1, "out[y,x] max= v[y+i,x+j]", {{64, 8192}, {64, 8192}, {3, 31}, {3, 31}}},
      {1,
       "out[y,x,d] += (l[y+i,x+j] - r[y+i,x+j+d]) ** 2",
       {{32, 1024}, {32, 1024}, {4, 64}, {3, 9}, {3, 9}}},
      // Permutations and products without sums.
      {2, "out[a,b,c] = x[b,a,c]", {{2, 4096}, {2, 4096}, {2, 1024}}},
      {2, "out[a,b,c] = x[a,c,b]", {{2, 1024}, {2, 4096}, {2, 4096}}},
      {2, "out[a,b,c] = x[c,b,a]", {{2, 1024}, {2, 1024}, {2, 1024}}},
      {2, "out[a,b,c,d] = x[a,d,b,c]", {{1, 64}, {2, 512}, {2, 512}, {2, 512}}},
      {1, "out[a,b,c,d] = x[d,c,b,a]", {{2, 256}, {2, 256}, {2, 256}, {2, 256}}},
      {2, "out[a,b,c,d] = x[a,c,b,d]", {{1, 64}, {2, 512}, {2, 512}, {8, 256}}},
      {1, "out[i,j] = x[i] * y[j]", {{16, 16384}, {16, 16384}}},
      // Other reductions.
      {1, "out[i] += x[i,j]", {{16, 131072}, {16, 131072}}},
      {1, "out[j] += x[i,j]", {{16, 131072}, {16, 131072}}},
      {2, "out[i,j] += (a[i,k] - b[j,k]) ** 2", {{16, 4096}, {16, 4096}, {2, 1024}}},
      {1, "out[i,j] min= a[i,k] + b[k,j]", {{16, 2048}, {16, 2048}, {16, 2048}}},
      {1, "out[i,j] max= abs(a[i,k] - b[j,k])", {{16, 2048}, {16, 2048}, {2, 1024}}},
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
  static const int all = std::accumulate(usual().begin(), usual().end(), 0,
                                         [](int sum, const Usual& one) { return sum + one.weight; });
  auto left = static_cast<int>(random.below(static_cast<std::uint64_t>(all)));
  auto drawn = usual().begin();
  while (left >= drawn->weight) left -= (drawn++)->weight;
  const Expression e = parse(drawn->expression).expression;
  problem.set("expression", canonical_text(e));
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < e.indices.size(); ++i) {
    const auto& [least, most] = drawn->extents.at(i);
    extents.push_back(draw_size(random, least, most));
    if (is_window(e, i) && least % 2 == 1) extents.back() |= 1;
  }
  problem.set("extents", joined(extents));
  if (drawn->stride == 0) return;
  // The image's dimensions: the batch, the two that windows step along, and the channels.
  std::vector<std::int64_t> image;
  for (const Affine& dimension : e.accesses.front().dimensions) {
    const auto steps = [](std::int64_t factor) { return factor != 0; };
    const auto of_output = std::ranges::find_if(dimension.factors, steps);
    const auto place = static_cast<std::size_t>(of_output - dimension.factors.begin());
    image.push_back(extents.at(place) * (dimension.index() ? 1 : drawn->stride));
  }
  problem.set("x0", joined(image));
  problem.set("zero_outside", std::string("x0"));
}

// Most users compute in f32, networks in 16 bits, and scientists in f64.
void draw_dtype(Random& random, Problem& problem) {
  struct Share {
    std::uint64_t percent;
    const char* dtype;
  };
  static constexpr Share shares[] = {{34, "f32"}, {20, "f16"}, {17, "bf16"}, {13, "f64"},
                                     {4, "i32"},  {4, "i64"},  {4, "u8"},    {4, "i8"}};
  std::uint64_t left = random.below(100);
  const Share* share = std::begin(shares);
  while (left >= share->percent) left -= (share++)->percent;
  problem.set("dtype", std::string(share->dtype));
}

}  // namespace

void usual_tensors(Random& random, Problem& problem) {
  draw_chance(random, 83) ? usual_tensor(random, problem) : unusual_tensor(random, problem);
  draw_dtype(random, problem);
  if (!draw_chance(random, 15)) problem.set("may", std::string("reorder"));
  if (!draw_chance(random, 40)) problem.set("accuracy", std::string("full"));
  for (const std::string_view name : array_names)
    if (problem.find(name) == nullptr) problem.set(name, "dense");
  problem.set("out", "dense");
}

}  // namespace tunesmith::tensor_op
