// SPDX-License-Identifier: Apache-2.0
// Tests which expressions are chains of windows, and the kernels of `separable` on the host where tiles, runs
// and rows end raggedly.
#include "templates/tensor/separable/separable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "templates/tensor/op.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"

namespace tunesmith::tensor_op::separable_test {
namespace {

using testing::HasSubstr;

Problem complete(const std::string& text) {
  return complete_problem(find_op("tensor"), Problem::parse(text));
}

TEST(TensorSeparable, RefusesWhatIsNoChainOfWindows) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"expression=\"o[y,x] += g[i] * h[j] * v[y+i,x+j]\" y=9 x=9 i=3 j=3 may=distribute", ""},
      {"expression=\"o[y,x] += g[i] * h[j] * v[y+i,x+j]\" y=9 x=9 i=3 j=3", "allow it by may=distribute."},
      {"expression=\"o[y,x] += -v[y+i,x+j] * w[x+j]\" y=9 x=9 i=3 j=3", ""},
      {"expression=\"o[y,x] max= l[y+i,x+j] - m[b+1] * v[2*y+2*i,x+j]\" y=9 x=9 i=3 j=3 b=1", ""},
      {"expression=\"o[y,x] += g[i,j] * v[y+i,x+j]\" y=9 x=9 i=3 j=3", ""},
      {"expression=\"o[b,y,x] max= v[b,y+i,x+j] - g[b,i,j]\" b=2 y=9 x=9 i=3 j=3", ""},
      {"expression=\"o[b,y,x] += g[i,j] * v[b,y+i,x+j] * h[b]\" b=2 y=9 x=9 i=3 j=3", "allow it by may="},
      {"expression=\"o[y,x] += abs(g[i,j] - v[y+i,x+j]) * h[i]\" y=9 x=9 i=3 j=3 may=distribute",
       "A mask is for"},
      {"expression=\"o[y,x] += g[y,i,j] * v[y+i,x+j]\" y=9 x=9 i=3 j=3", "A mask is for windows along two"},
      {"expression=\"o[y,x,c] += g[i,j,c] * v[y+i,x+j,c]\" y=9 x=9 c=9 i=3 j=3",
       "A mask is for windows along"},
      {"expression=\"o[z,y,x] += g[i,j,k] * v[z+i,y+j,x+k]\" z=9 y=9 x=9 i=3 j=3 k=3",
       "A mask is for windows"},
      {"expression=\"o[y,x] += v[2*y+i,x+j]\" y=9 x=9 i=3 j=3", "The reduced index c does not stand"},
      {"expression=\"o[y,x] += v[y+i,x+j] - m[y,x]\" y=9 x=9 i=3 j=3", "A mask is for windows along two"},
      {"expression=\"o[y,x] max= g[i] * v[y+i,x+j]\" y=9 x=9 i=3 j=3", ""},
      {"expression=\"o[y,x] += abs(g[i,j] - v[y+i,x+j])\" y=9 x=9 i=24 j=24",
       "has 576 weights, of 2 operations"},
      {"expression=\"o[y,x] += v[y+i,x] * g[i]\" y=9 x=9 i=3", ""},
      {"expression=\"o[x] += g[j] * v[x+j] * h[j]\" x=9 j=3", "allow it by may=distribute."},
      {"expression=\"o[x] += abs(g[j] - v[x+j])\" x=9 j=3", "A mask is for windows along two"},
      {"expression=\"o[y,x] = v[y+1,x]\" y=9 x=9", "Nothing is read in windows"},
      {"expression=\"o[y,x] += v[y+i,x+j]\" y=9 x=9 i=3 j=200", "has 200 elements"},
      {"expression=\"o[y,x] += v[y+i,x+j]\" y=9 x=9 i=120 j=2 dtype=f64", "for at most 97 of this type."},
      {"expression=\"o[y,x] += v[y+i,x+j]\" y=9 x=0 i=3 j=2", "There is nothing to reduce"},
      {"expression=\"o[z,y,x,c] += v[z+k,y+i,x+j,c]\" z=5 y=9 x=9 c=2 i=3 j=2 k=2",
       "along three dimensions, of"},
      {"expression=\"o[i,j] += a[i,k] * b[k,j]\" i=9 j=9 k=3", "Nothing is read in windows"},
      {"expression=\"o[j] += a[i] * b[j]\" i=9 j=9 may=distribute", "Nothing is read in windows"},
  };
  const Template& tmpl = find_template(find_op("tensor"), "separable");
  for (const auto& [problem, expected] : cases) {
    const std::string why = tmpl.refuses(complete(problem));
    EXPECT_THAT(why, HasSubstr(expected)) << problem << "\n" << why;
    EXPECT_EQ(why.empty(), expected.empty()) << problem << "\n" << why;
  }
}

TEST(TensorSeparable, IsRightAtEveryEnd) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      // Aligned rows, of which the next tile begins beside a vector's beginning.
      {"expression=\"o[a,b,y,x] += v[a,b,y+i,x+j] * w[b,i,j]\" a=2 b=3 y=9 x=60 i=5 j=5",
       "BLOCK_X=32 OUTPUTS=1 VECTOR=16"},
      {"expression=\"o[b,y,x] += v[b,y+i,x+j] * w[b,i,j]\" b=3 y=9 x=136 i=3 j=9 dtype=f16",
       "BLOCK_X=32 OUTPUTS=4 VECTOR=16"},
      // Whole tiles, and one more column, row and step; rows that are aligned, and not.
      {"expression=\"o[y,x] += g[i] * g[j] * v[y+i,x+j]\" y=33 x=129 i=17 j=17 may=distribute",
       "OUTPUTS=4 RUN=16"},
      {"expression=\"o[y,x] += g[i] * h[j] * v[y+i,x+j]\" y=16 x=256 i=9 j=9 v=24x264 o=16x256:260x1 "
       "may=distribute",
       "OUTPUTS=8 RUN=16 STAGES=2"},
      {"expression=\"o[y,x] += g[i] * h[j] * v[y+i,x+j]\" y=2 x=61 i=5 j=40 dtype=f64 may=distribute",
       "OUTPUTS=2"},
      {"expression=\"o[y,x] += g[i] * h[j] * v[y+i,x+j]\" y=5 x=2 i=41 j=42 dtype=f16 may=distribute",
       "OUTPUTS=4"},
      {"expression=\"o[b,y,c,x] += 3 * f[y] * -v[c,y+i,b,x+j]\" b=2 c=3 y=7 x=90 i=2 j=3 may=distribute "
       "dtype=i32",
       "BLOCK_X=64 OUTPUTS=1 STAGES=3"},
      {"expression=\"o[y,x,c] min= v[y+i,x+j,c]\" y=18 x=35 c=3 i=4 j=6 dtype=bf16",
       "BLOCK_Y=2 OUTPUTS=4 RUN=16"},
      {"expression=\"o[y,x] max= v[y+i,x+j+1]\" y=40 x=70 i=70 j=3 v=109x74:75x1", "OUTPUTS=2 RUN=32"},
      {"expression=\"o[z,y,x] += f[i] * g[j] * h[k] * v[z+i,y+j,x+k]\" z=17 y=9 x=65 i=3 j=9 k=5 "
       "may=distribute",
       "BLOCK_X=32 BLOCK_Y=2 OUTPUTS=4 RUN=16 STAGES=2"},
      {"expression=\"o[z,y,x] += g[i] * g[j] * g[k] * v[z+i,y+j,x+k]\" z=4 y=33 x=32 i=25 j=25 k=25 "
       "may=distribute",
       "BLOCK_X=32 BLOCK_Y=4 OUTPUTS=8 STAGES=2"},
      // One window: of signals side by side, of one signal, of a function of two arrays.
      {"expression=\"o[b,x] += v[b,x+j] * g[j]\" b=5 x=700 j=31", "BLOCK_X=64 OUTPUTS=8 RUN=16 STAGES=3"},
      {"expression=\"o[x] += g[j] * v[x+j]\" x=5003 j=101 dtype=f64", "BLOCK_X=128 OUTPUTS=4 STAGES=2"},
      {"expression=\"o[x] += g[j] * v[x+j]\" x=5003 j=255", "BLOCK_X=128 OUTPUTS=12 STAGES=2"},
      {"expression=\"o[b,x] max= v[b,x+j]\" b=2 x=900 j=96 dtype=i32", "OUTPUTS=12"},
      {"expression=\"o[x,b] max= abs(v[b,x+j] - u[b,x+j])\" b=70 x=19 j=4 dtype=f16", "OUTPUTS=1 RUN=16"},
      // Masks: planes that share one, that have their own, and none; a row in registers, and not; skipped
      // rows.
      {"expression=\"o[n,c,y,x] += v[n,c,y+i,x+j] * w[c,i,j]\" n=5 c=3 y=19 x=28 i=3 j=3",
       "BLOCK_Y=2 OUTPUTS=4 RUN=16"},
      {"expression=\"o[n,c,y,x] += w[c,i,j] * v[n,c,y+i,x+j]\" n=3 c=2 y=20 x=24 i=13 j=13 dtype=f16",
       "BLOCK_Y=4 OUTPUTS=8 RUN=16 STAGES=3"},
      {"expression=\"o[b,y,x] += w[b,i,j] * v[b,y+i,x+j]\" b=3 y=17 x=56 i=5 j=9 dtype=i32",
       "BLOCK_Y=4 OUTPUTS=8 RUN=16"},
      {"expression=\"o[c,y,x] += abs(v[y+i,c,x+j] - w[c,j,i])\" c=5 y=35 x=37 i=7 j=6 v=42x5x48",
       "BLOCK_Y=4 OUTPUTS=8 RUN=16 STAGES=2"},
      {"expression=\"o[y,x] max= v[y+i,x+j] - w[i,j]\" y=33 x=300 i=9 j=11 dtype=bf16", "OUTPUTS=4 RUN=16"},
      {"expression=\"o[y,b,x] += -w[i,j] * f[y] * v[y+i,x+j] * g[i]\" b=2 y=20 x=67 i=4 j=5 dtype=f64 "
       "may=distribute",
       "OUTPUTS=2 RUN=32"},
  };
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "separable");
  std::vector<VariantCase> variants;
  for (const auto& [text, config] : cases) {
    const Problem problem = complete(text);
    ASSERT_EQ(tmpl.refuses(problem), "") << text;
    variants.push_back({problem, tmpl.space(problem).complete(Values::parse(config))});
  }
  check_on_host({&op, &tmpl}, in_turn(variants, 3, {&op, &tmpl}));
}

}  // namespace
}  // namespace tunesmith::tensor_op::separable_test
