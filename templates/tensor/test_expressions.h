// SPDX-License-Identifier: Apache-2.0
// Well-known expressions, for tests.
#pragma once

#include <vector>

namespace tunesmith::tensor_op {

struct KnownExpression {
  const char* name;
  const char* expression;
  const char* extents;
  const char* small;
  double operations;  // that sufficed in a first derivation, which did not count signs and bytes
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

}  // namespace tunesmith::tensor_op
