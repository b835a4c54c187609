// SPDX-License-Identifier: Apache-2.0
// Tests `tunesmith derive`: its output, and its complaints about wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/run.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Derive, PrintsTheCovarianceOfAConvolution) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith(
      "derive 'out[b,c0,y,x,c0,v,u] += c[c0] * (mu[b,k,y+i,x+j] * mu[b,k,v+i,u+j] + "
      "gamma[b,k,y+i,x+j,k,v+i,u+j])' --extents 'b=4 c0=3 y=32 x=32 v=32 u=32 k=3 i=3 j=3' --form 1");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.out,
      R"(Canonical: out[a,b,c,d,b,e,f] += x0[b] * (x1[a,g,c+h,d+i] * x1[a,g,e+h,f+i] + x2[a,g,c+h,d+i,g,e+h,f+i])

index  extent  out             c[c0]  mu[b,k,y+i,x+j]  mu[b,k,v+i,u+j]  gamma[b,k,y+i,x+j,k,v+i,u+j]
b           4  free                   free             free             free
c0          3  free, diagonal  free
y          32  free                   window                            window
x          32  free                   window                            window
v          32  free                                    window           window
u          32  free                                    window           window
k           3  reduced                contracted       contracted       contracted, diagonal
i           3  reduced                window           window           window, diagonal
j           3  reduced                window           window           window, diagonal

form  operations  bytes   times fewer operations  launches  allowed by
   0  1.35 G      243 MB                   1.000         1
   1  73.2 M      195 MB                   18.39         3  distribute
   2  88.9 M      157 MB                   15.14         2  distribute  cheapest

Form 1:
step                                                               operations  bytes
t0[b,y,x,v,u] += mu[b,k,y,x] * mu[b,k,v,u] + gamma[b,k,y,x,k,v,u]  42.8 M      85.6 MB
t1[b,y,x,v,u] += t0[b,y,x+j,v,u+j]                                 9.47 M      40.3 MB
t2[b,y,x,v,u] += t1[b,y+i,x,v+i,u]                                 8.39 M      18.9 MB
out[b,c0,y,x,c0,v,u] = c[c0] * t2[b,y,x,v,u]                       12.6 M      50.3 MB  in the same launch

for b in 0:4, y in 0:34, x in 0:34, v in 0:34, u in 0:34:
  for k in 0:3:
    t0[b,y,x,v,u] += mu[b,k,y,x] * mu[b,k,v,u] + gamma[b,k,y,x,k,v,u]
for b in 0:4, y in 0:34, x in 0:32, v in 0:34, u in 0:32:
  for j in 0:3:
    t1[b,y,x,v,u] += t0[b,y,x+j,v,u+j]
for b in 0:4, y in 0:32, x in 0:32, v in 0:32, u in 0:32:
  for i in 0:3:
    t2[b,y,x,v,u] += t1[b,y+i,x,v+i,u]
  for c0 in 0:3:
    out[b,c0,y,x,c0,v,u] = c[c0] * t2[b,y,x,v,u]
)");
}

TEST(Derive, PrintsTheMatrixChain) {
  const Scratch scratch;
  const Outcome outcome = scratch.tunesmith(
      "derive 'out[a,d] += A[a,b] * B[b,c] * C[c,d]' --problem 'A=4096x64 B=64x4096 C=4096x64'");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, R"(Canonical: out[a,b] += x0[a,c] * x1[c,d] * x2[d,b]

index  extent  out      A[a,b]      B[b,c]      C[c,d]
a        4096  free     free
d          64  free                             free
b          64  reduced  contracted  contracted
c        4096  reduced              contracted  contracted

form  operations  bytes    times fewer operations  launches  allowed by
   0  206 G       4.19 MB                   1.000         1
   1  66.8 M      4.23 MB                    3084         2  distribute  cheapest

Form 1:
step                          operations  bytes
t0[b,d] += B[b,c] * C[c,d]    33.6 M      2.11 MB
out[a,d] += A[a,b] * t0[b,d]  33.3 M      2.11 MB

for b in 0:64, d in 0:64:
  for c in 0:4096:
    t0[b,d] += B[b,c] * C[c,d]
for a in 0:4096, d in 0:64:
  for b in 0:64:
    out[a,d] += A[a,b] * t0[b,d]
)");
}

TEST(Derive, ReordersAloneWhereAsked) {
  const Scratch scratch;
  const std::string filter =
      "derive 'out[y,x] += g[i] * h[j] * image[y+i,x+j]' --extents 'image=99x99 g=4 h=4'";
  EXPECT_THAT(scratch.tunesmith(filter).out, HasSubstr("distribute"));
  const std::string alone = scratch.tunesmith(filter + " --may reorder").out;
  EXPECT_THAT(alone, HasSubstr("Form 0, as it is written:"));
  EXPECT_THAT(alone, Not(HasSubstr("distribute")));
}

TEST(Derive, FinishesSumsInTheSameLaunch) {
  const Scratch scratch;
  const Outcome found = scratch.tunesmith(
      "derive 'out[y,x] += g[i] * image[y+i-1,x]' --extents 'y=40 x=50 i=3' --zero-outside image --finish "
      "'max(out + b[x], 0)'");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const std::size_t step = found.out.find("out[y,x] = max(t0[y,x] + b[x], 0)");
  EXPECT_NE(found.out.find("in the same launch", step), std::string::npos) << found.out;
}

struct Mistake {
  std::string arguments;
  std::string sentence;
};

TEST(Derive, SaysWhatIsWrongAndWhere) {
  const Scratch scratch;
  const Mistake mistakes[] = {
      {"'out[y] += a[y+]'",
       "The expression cannot be read. At character 15: An index was expected instead of ']'.\n"
       "  out[y] += a[y+]\n"
       "                ^\n"},
      {"'out[y] = a[y,k]'",
       "The expression cannot be read. At character 14: The index k is none of out's; write += to sum over "
       "it, "
       "or max= or min=.\n"
       "  out[y] = a[y,k]\n"
       "               ^\n"},
      {"'out[y] += a[y,k]' --extents y=3",
       "The index k has no extent: it stands alone along no dimension of an array whose shape is known; give "
       "k=EXTENT. It is first named at character 15.\n"},
      {"'out[y] += a[y,k]' --extents q=3", "q=3 is of no index and no array; there are y, k, a.\n"},
      {"'out[y] += a[y,k]' --extents 'a=3x4 k=5'",
       "The index k has the extent 5 by what was given and 4 by dimension 1 of a at character 11; they must "
       "agree.\n"},
      {"'out[y] += a[y,k]' --extents 'y=3x4 k=5'",
       "y=3x4 is no extent; an index has a whole number from 0 to 2^40, such as y=100, an array one for each "
       "dimension, such as image=100x80.\n"},
      {"'out[y] += a[y-k]' --extents 'y=3 k=5'",
       "The access a[y-k] begins at -4 along dimension 0; it has to begin at 0 or above, so add 4 there, or "
       "name the array in --zero-outside.\n"},
      {"'out[y] += a[y,k]' --form 9", "There is no form 9; the forms are 0 to 0.\n"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = scratch.tunesmith("derive " + mistake.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << mistake.arguments;
    EXPECT_EQ(outcome.out, "") << mistake.arguments;
    EXPECT_EQ(outcome.err, "tunesmith: " + mistake.sentence) << mistake.arguments;
  }
}

}  // namespace
}  // namespace tunesmith
