// Expressions for tests: known ones, and random ones with 1 to 3 outputs, 1 to 4 reductions, windows,
// diagonals and 1 to 3 terms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "templates/tensor/expression.h"

namespace tunesmith::tensor_op {

struct KnownExpression {
  const char* name;
  const char* expression;
  const char* extents;
  const char* small;
  double operations;  // that a first derivation, which did not count signs and bytes, found enough
  double saved;       // times fewer operations than the loops as written
};

/// The sixteen expressions that derivations are judged by.
inline const std::vector<KnownExpression>& known_expressions() {
  static const std::vector<KnownExpression> list = {
      {"covariance",
       "out[b,c0,y,x,c0,v,u] += c[c0] * (mu[b,k,y+i,x+j] * mu[b,k,v+i,u+j] + gamma[b,k,y+i,x+j,k,v+i,u+j])",
       "b=4 c0=3 y=32 x=32 v=32 u=32 k=3 i=3 j=3", "b=2 c0=2 y=3 x=2 v=3 u=2 k=2 i=3 j=2", 78549568, 18},
      {"separable filter", "out[y,x] += g[i] * h[j] * image[y+i,x+j]", "y=4096 x=4096 i=13 j=13",
       "y=5 x=4 i=3 j=4", 873693184, 10},
      {"separable filter of a volume", "out[z,y,x] += f[l] * g[i] * h[j] * image[z+l,y+i,x+j]",
       "z=256 y=256 x=256 l=9 i=9 j=9", "z=3 y=4 x=3 l=2 i=3 j=2", 934576128, 55},
      {"box filter", "out[y,x] += image[y+i,x+j]", "y=4096 x=4096 i=15 j=15", "y=4 x=5 i=3 j=4", 470564864,
       7.9},
      {"block matching", "out[y,x,d] += (left[y+i,x+j] - right[y+i,x+j+d]) ** 2",
       "y=1080 x=1856 d=64 i=7 j=7", "y=4 x=3 d=5 i=3 j=2", 2447844096, 10},
      {"local covariance", "out[y,x] += a[y+i,x+j] * b[y+i,x+j]", "y=4096 x=4096 i=11 j=11",
       "y=4 x=5 i=3 j=4", 352813156, 11},
      {"weighted moment", "out[y,x] += g[i] * g[j] * a[y+i,x+j] * b[y+i,x+j]", "y=4096 x=4096 i=11 j=11",
       "y=4 x=5 i=3 j=3", 924098560, 11},
      {"any mask", "out[y,x] += mask[i,j] * image[y+i,x+j]", "y=4096 x=4096 i=13 j=13", "y=4 x=5 i=3 j=4",
       5670699008, 1},
      {"convolution of channels", "out[n,o,y,x] += w[o,k,i,j] * image[n,k,y+i,x+j]",
       "n=8 o=16 y=512 x=512 k=16 i=5 j=5", "n=2 o=3 y=4 x=3 k=2 i=2 j=3", 26843545600, 1},
      {"matrix chain", "out[a,d] += A[a,b] * B[b,c] * C[c,d]", "a=4096 b=64 c=4096 d=64", "a=4 b=3 c=5 d=2",
       67108864, 3084},
      {"linear attention", "out[i,d] += Q[i,e] * K[j,e] * V[j,d]", "i=4096 j=4096 e=64 d=64",
       "i=4 j=3 e=5 d=2", 67108864, 3084},
      {"four-index transform", "out[p,q,r,s] += W[a,p] * X[b,q] * Y[c,r] * Z[d,s] * V[a,b,c,d]",
       "p=64 q=64 r=64 s=64 a=64 b=64 c=64 d=64", "p=2 q=3 r=2 s=2 a=3 b=2 c=2 d=2", 8589934592, 163840},
      {"bilinear form", "out[n] += x[n,a] * M[a,b] * y[n,b]", "n=100000 a=64 b=64", "n=5 a=3 b=4", 832000000,
       1.47},
      {"bilinear form, one side shared", "out[n] += x[a] * M[a,b] * y[n,b]", "n=100000 a=64 b=64",
       "n=5 a=3 b=4", 12808192, 95},
      {"permutation", "out[c,a,b] = image[a,b,c]", "a=256 b=512 c=512", "a=2 b=3 c=4", 0, 1},
      {"trace", "out[a,d] += A[a,b,b,d]", "a=512 b=64 d=512", "a=3 b=4 d=2", 16777216, 1},
  };
  return list;
}

/// Draws an expression and extents.
class Drawer {
 public:
  explicit Drawer(std::uint64_t seed, std::size_t most_extent = 4)
      : random_(seed), most_extent_(most_extent) {}

  std::string expression() {
    outputs_.clear();
    reductions_.clear();
    accesses_.clear();
    extents_.clear();
    const std::size_t outputs = 1 + below(3), reductions = 1 + below(4);
    for (std::size_t n = 0; n < outputs; ++n) add(outputs_, "yxv"[n]);
    for (std::size_t n = 0; n < reductions; ++n) add(reductions_, "ijkl"[n]);
    std::string output = outputs_;
    if (below(6) == 0) output += outputs_[below(outputs_.size())];  // a diagonal is written
    std::string text = "out[" + spread(output) + "]";
    const std::size_t kind = below(8);
    text += kind == 0 ? " max= " : kind == 1 ? " min= " : " += ";
    const std::size_t terms = 1 + below(3);
    for (std::size_t t = 0; t < terms; ++t) text += (t == 0 ? "" : below(3) == 0 ? " - " : " + ") + term();
    return text;
  }

  std::vector<std::int64_t> extents(const Expression& e) const {
    std::vector<std::int64_t> all;
    for (const Index& index : e.indices) all.push_back(extents_.at(index.name[0]));
    return all;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  void add(std::string& names, char name) {
    names += name;
    extents_[name] = 1 + static_cast<std::int64_t>(below(most_extent_));
  }

  static std::string spread(const std::string& names) {
    std::string text;
    for (const char name : names) text += (text.empty() ? "" : ",") + std::string(1, name);
    return text;
  }

  char index() {
    const std::string& of = below(2) == 0 ? outputs_ : reductions_;
    return of[below(of.size())];
  }

  std::string dimension() {
    const char first = index();
    std::string text(1, first);
    std::int64_t offset = static_cast<std::int64_t>(below(8) == 0 ? below(3) : 0);
    if (below(8) == 0) text = "2*" + text;
    if (below(5) < 2) {
      const char second = below(3) == 0 ? index() : reductions_[below(reductions_.size())];
      const std::size_t kind = second == first ? 2 : below(6);  // an index minus itself is none
      text += (kind == 0 ? "-" : kind == 1 ? "+2*" : "+") + std::string(1, second);
      if (kind == 0) offset += extents_[second] - 1;
    }
    return text + (offset > 0 ? "+" + std::to_string(offset) : "");
  }

  // A new one, or one that there is already: six are allowed.
  std::string access() {
    if (accesses_.size() == most_arrays || (!accesses_.empty() && below(4) == 0))
      return accesses_[below(accesses_.size())];
    std::string text;
    for (std::size_t rank = 1 + below(3); rank > 0; --rank) text += (text.empty() ? "" : ",") + dimension();
    // A window's accesses often look alike: the last one's indices once more.
    if (!accesses_.empty() && below(3) == 0) {
      const std::string& last = accesses_[below(accesses_.size())];
      text = last.substr(2, last.size() - 3);
    }
    const char name = below(8) == 0 && !accesses_.empty() ? accesses_.front()[0]
                                                          : static_cast<char>('A' + accesses_.size());
    std::string all = std::string(1, name) + "[" + text + "]";
    const auto rank_of = [](const std::string& words) { return std::count(words.begin(), words.end(), ','); };
    for (const std::string& other : accesses_) {
      if (other[0] == name && rank_of(other) != rank_of(all))
        all[0] = static_cast<char>('A' + accesses_.size());
    }
    if (std::find(accesses_.begin(), accesses_.end(), all) == accesses_.end()) accesses_.push_back(all);
    return all;
  }

  std::string factor() {
    switch (below(12)) {
      case 0:
        return "(" + access() + " + " + access() + ")";
      case 1:
        return "(" + access() + " - " + access() + ")";
      case 2:
        return "(" + access() + " - " + access() + ") ** 2";
      case 3:
        return "abs(" + access() + " - " + access() + ")";
      case 4:
        return "max(" + access() + ", " + access() + ")";
      case 5:
        return std::to_string(1 + below(3)) + " * " + access();
      case 6:
        return "-" + access();
      default:
        return access();
    }
  }

  std::string term() {
    std::string text = factor();
    for (std::size_t more = below(3); more > 0; --more) text += " * " + factor();
    return text;
  }

  std::mt19937_64 random_;
  std::size_t most_extent_;
  std::string outputs_, reductions_;
  std::vector<std::string> accesses_;
  std::map<char, std::int64_t> extents_;
};

}  // namespace tunesmith::tensor_op
