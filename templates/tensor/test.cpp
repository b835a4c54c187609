// SPDX-License-Identifier: Apache-2.0
// Tests tensor's language, its problems, and its typed functions on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "generator/device_facts.h"
#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "templates/tensor/op.h"
#include "tests/rounds.h"
#include "tunesmith/products.h"
#include "tunesmith/tensor.h"

namespace tunesmith::tensor_test {
namespace {

using testing::HasSubstr;
using testing::Not;

using namespace tensor_op;

std::string canonical(const std::string& text) {
  const ParseResult parsed = parse(text);
  return parsed.error.empty() ? canonical_text(parsed.expression) : parsed.error;
}

// Texts, each with a part of the sentence that refuses it.
using Refusals = std::vector<std::pair<std::string, std::string>>;
void expect_refusals(const Refusals& cases, const std::function<std::string(const std::string&)>& refusal) {
  for (const auto& [text, expected] : cases) {
    const std::string error = refusal(text);
    EXPECT_THAT(error, HasSubstr(expected)) << text << "\n" << error;
  }
}

TEST(TensorExpression, IsTheSameTextUnderOtherNames) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"c[i,j] += a[i,k]*b[k,j]", "out[a,b] += x0[a,c] * x1[c,b]"},
      {"result[ row , col ] += A[row,k0] * B[k0,col]", "out[a,b] += x0[a,c] * x1[c,b]"},
      {"out[n,o,y,x] += x[n,c,y+i,x+j] * w[o,c,i,j]", "out[a,b,c,d] += x0[a,e,c+f,d+g] * x1[b,e,f,g]"},
      {"y[i] = x[2*i - 1 + 3]", "out[a] = x0[2*a+2]"},
      {"y[i] = x[i*2*2 + i]", "out[a] = x0[5*a]"},
      {"y[i] = x[99 - i]", "out[a] = x0[-a+99]"},
      {"y[i] = x[0,i,-i+i]", "out[a] = x0[0,a,0]"},
      {"t += m[i,i]", "out += x0[a,a]"},
      {"t = s", "out = x0"},
      {"y[i] max= x[i+j] - w[j]", "out[a] max= x0[a+b] - x1[b]"},
      {"y[i] += (x[i] - z[j]) ** 2", "out[a] += (x0[a] - x1[b]) * (x0[a] - x1[b])"},
      {"y[i] = -(x[i] + 1) * (2 - (3 - x[i]))", "out[a] = -(x0[a] + 1) * (2 - (3 - x0[a]))"},
      {"y[i] = x[i] < 0 ? -x[i] : max(x[i], 0.1)",
       "out[a] = x0[a] < 0 ? -x0[a] : max(x0[a], 0.10000000000000001)"},
      {"y[i] = (x[i] < 2) == (x[i] > 1)", "out[a] = (x0[a] < 2) == (x0[a] > 1)"},
      {"y[i] = x[i] / (z[i] / x[i]) - 1e300", "out[a] = x0[a] / (x1[a] / x0[a]) - 1.0000000000000001e+300"},
      {"y[i] = (x[i] ? x[i] : 1) * 2", "out[a] = (x0[a] ? x0[a] : 1) * 2"},
      {"y[i] = hypot(x[i], gaussian_pdf(x[i], 0, 1))", ""},  // whatever that is written out
  };
  for (const auto& [text, expected] : cases) {
    if (!expected.empty()) {
      EXPECT_EQ(canonical(text), expected) << text;
    }
    EXPECT_EQ(canonical(canonical(text)), canonical(text)) << text;
  }
}

TEST(TensorExpression, AFinishIsATextOfItsOwn) {
  const auto stored = [](const std::string& text, const std::string& finish) {
    const ParseResult parsed = parse(text, finish);
    if (!parsed.error.empty()) return parsed.error;
    const std::string line = canonical_text(parsed.expression), its = canonical_finish(parsed.expression);
    const ParseResult again = parse(line, its);
    EXPECT_EQ(again.error, "") << its;
    EXPECT_EQ(canonical_text(again.expression), line);
    EXPECT_EQ(canonical_finish(again.expression), its);
    return its;
  };
  const std::string product = "c[i,j] += a[i,k] * b[k,j]";
  EXPECT_EQ(stored(product, "out"), "out");
  EXPECT_EQ(stored(product, " (c) "), "out");
  EXPECT_EQ(stored(product, "max(c + bias[j], 0)"), "max(out + x2[b], 0)");
  EXPECT_EQ(stored(product, "scale * out + a[i,0] - bias[2*j+1] * scale"),
            "x2 * out + x0[a,0] - x3[2*b+1] * x2");
  EXPECT_EQ(stored("t += m[i,i]", "sqrt(t)"), "sqrt(out)");
  const Refusals cases = {
      {"", "The finish does not name out, the value that it is a function of."},
      {"3 * bias[j]", "The finish does not name out"},
      {"out + bias[k]", "At character 12: The index k is reduced; a finish has the indices of c alone."},
      {"out + bias[q]", "At character 12: The index q is none of the expression's; a finish has"},
      {"out + c[i,j]",
       "At character 7: The array c is computed; it cannot be read as well, but for the "
       "element itself, out."},
      {"out + out[i]", "At character 7: The array out is computed"},
      {"out + a[i]", "At character 7: The array a has 1 indices here and 2 before."},
      {"out + j", "At character 7: The name j is an index's"},
      {"relu(out)", "At character 1: There is no function 'relu'"},
      {"out +", "A value was expected where the text ends."},
      {"out + p[0] + q[0] + r[0] + s[0] + t[0]", "more than 6 different accesses"},
      {"out + a[i,0] + a[i,1] + a[i,2] + b[0,j] + b[1,j]", "more than 6 different accesses"},
      {"out + \xff", "instead of"},
      {std::string(3000, 'y'), "It has 3000 characters; at most 2048 are allowed."},
  };
  expect_refusals(cases, [&](const std::string& finish) {
    const std::string error = parse(product, finish).error;
    EXPECT_TRUE(error.starts_with("Its finish is \"")) << error;
    return error;
  });
}

TEST(TensorExpression, WhatIsWrongIsASentenceWithItsPlace) {
  const Refusals cases = {
      {"", "At character 1: The array that is computed was expected"},
      {"y", "At character 2: One of = += max= min= was expected"},
      {"y[i] == x[i]", "One of = += max= min= was expected"},
      {"y[i] = x[i,", "At character 12: An index was expected where the text ends."},
      {"y[i] = x[i", "']' was expected behind an array's indices, where the text ends."},
      {"y[i] = x[j]",
       "At character 10: The index j is none of y's; write += to sum over it, or max= or min=."},
      {"y[i+1] = x[i]", "At character 3: Each place of y is one index"},
      {"y[2*i] = x[i]", "Each place of y is one index"},
      {"y[0] += x[i]", "Each place of y is one index"},
      {"y[i] = x[i*j]", "At character 12: Two indices are multiplied here"},
      {"y[i] = x[1.5*i]", "A number in an index is whole"},
      {"y[i] = x[9999999*i]", "A number in an index is whole and at most 1048576."},
      {"y[i] = x[1048576*i+i]", "At character 20: The factor of an index is at most 1048576."},
      {"y[i] = x[1048576*1048576*1048576*1048576*i]", "The factor of an index is at most 1048576."},
      {"y[i] = x[i] + x[i,0]", "At character 15: The array x has 2 indices here and 1 before."},
      {"y[i] = y[i]", "At character 8: The array y is computed; it cannot be read as well."},
      {"y[i] += x[i,j-j+1]", "At character 13: The index j cancels out: it moves no array."},
      {"y[i] += x[i,0*j]", "At character 15: The index j cancels out"},
      {"y[i] = i * x[i]", "At character 8: The name i is an index's"},
      {"y[i] = 3", "The expression reads no array"},
      {"y[i] = x[i] +", "A value was expected where the text ends."},
      {"y[i] = foo(x[i])", "At character 8: There is no function 'foo'"},
      {"y[i] = x[i] y[i]", "The array y is computed"},
      {"y[i] = x[i] z[i]", "An operator or the end was expected instead of"},
      {"y[a,b,c,d,e,f,g,h,i,j,k,l,m] = x[a]", "At character 27: An array has at most 12 dimensions."},
      {"y[a,b,c,d,e,f] += x[g,h,i,j,k,l,m]", "At character 33: The index m is one more than the 12"},
      {"y += x[a,b,c,d,e,f,g,h,i,j] * z[k,l,m,n,o,p,q,r,s,t] * w[u,v,z1,z2,z3,z4,z5,z6,z7,z8]",
       "At character 37: The index m is one more than the 12"},  // of 30
      {"y[i] = x[2147483648*i]", "At character 10: A number in an index is whole and at most 1048576."},
      {"y[i] = x[i+2147483648]", "At character 12: A number in an index is whole and at most 1048576."},
      {"y = a[0]+b[0]+c[0]+d[0]+e[0]+f[0]+g[0]", "The expression has more than 6 different accesses"},
      {"y[i] = x[i]; DROP", "instead of ';'"},
      {std::string(3000, 'y'), "It has 3000 characters; at most 2048 are allowed."},
  };
  expect_refusals(cases, [](const std::string& text) { return parse(text).error; });
}

// Values that double at each step have a text that doubles too.
TEST(TensorExpression, ATextThatGrowsWithoutBoundIsRefused) {
  std::string text = "x[i]";
  for (int n = 0; n < 8; ++n) text = "(" + text + ")**2";
  EXPECT_THAT(parse("y[i] = " + text).error, HasSubstr("it has more than 2048 characters"));
}

Problem complete(const std::string& text) {
  return complete_problem(find_op("tensor"), Problem::parse(text));
}

std::string refusal(const std::string& text) {
  try {
    complete(text);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(TensorProblem, IsWrittenInTheCallersNames) {
  const Problem problem = complete("expression=\"c[i,j] += left[i,k]*right[k,j]\" i=5 j=7 k=9");
  EXPECT_EQ(problem.string("expression"), "out[a,b] += x0[a,c] * x1[c,b]");
  EXPECT_EQ(problem.string("extents"), "5x7x9");
  EXPECT_EQ(complete_problem(find_op("tensor"), problem), problem);
  const Problem shaped = complete("expression=\"c[i,j] += left[i,k]*right[k,j]\" left=5x9 right=9x7:1x16");
  EXPECT_EQ(shaped.string("extents"), "5x7x9");
  EXPECT_EQ(shaped.string("x0"), "dense");
  EXPECT_EQ(shaped.string("x1"), "9x7:1x16");
  // An index and an array of the same name: a number is the index's extent.
  EXPECT_EQ(complete("expression=\"out[y,x] += x[y+i,x+j]\" x=20 y=10 i=3 j=3").string("extents"),
            "10x20x3x3");
  EXPECT_EQ(complete("expression=\"out[y,x] += x[2*y+i,x+j]\" x=20x30 i=3 j=5").string("extents"),
            "9x26x3x5");
}

TEST(TensorProblem, AnIndexThatIsLeftOpenIsAsLargeAsFits) {
  const auto extents = [](const std::string& text) {
    return complete("expression=\"" + text).string("extents");
  };
  EXPECT_EQ(extents("y[i] = x[12-i]\" x=20:1"), "13");
  EXPECT_EQ(extents("y[i] += x[2*i+3*j]\" x=20:1 j=4"), "6x4");
  EXPECT_EQ(extents("y[i] += x[2*i-j+3]\" x=20:1 j=4"), "9x4");
  EXPECT_EQ(extents("y[i] += x[i+j] * w[j]\" x=4:1 w=6:1"), "0x6");
  EXPECT_EQ(extents("y[i] += x[i+j] + z[2*i]\" x=40:1 z=7:1 j=3"), "4x3");
  EXPECT_EQ(extents("y[i,j] += x[i,k] * w[k,j]\" x=3x0 w=0x2"), "3x2x0");
}

TEST(TensorProblem, AnOutputOfTheInputsTypeIsTheSame) {
  const auto type = [](const std::string& types) {
    return complete("expression=\"y[i] = x[i]\" i=4 " + types).string("out_dtype");
  };
  EXPECT_EQ(type(""), "same");
  EXPECT_EQ(type("out_dtype=f32"), "same");
  EXPECT_EQ(type("dtype=f16 out_dtype=f16"), "same");
  EXPECT_EQ(type("dtype=f16 out_dtype=f32"), "f32");
}

TEST(TensorProblem, ArraysThatMayBeLeftSettleNoExtents) {
  const auto problem = [](const std::string& text) {
    return complete("expression=\"out[y] += image[y+i-1] * w[i]\" w=3 " + text);
  };
  const Problem padded = problem("image=9 y=9 zero_outside=image");
  EXPECT_EQ(padded.string("zero_outside"), "x0");
  EXPECT_EQ(padded.string("extents"), "9x3");
  EXPECT_EQ(complete_problem(find_op("tensor"), padded), padded);
  EXPECT_EQ(problem("image=9 y=9 zero_outside=\"w, image\"").string("zero_outside"), "x0,x1");
  ASSERT_EQ(nest_of(padded).inputs[0].bounds.size(), 1U);
  EXPECT_EQ(nest_of(padded).inputs[0].start, -1);
  EXPECT_TRUE(nest_of(padded).inputs[1].bounds.empty());
  // An index that stands alone along a dimension has its extent, unless that is given.
  EXPECT_EQ(complete("expression=\"out[y] = x[y]\" x=9:1 zero_outside=x").string("extents"), "9");
  EXPECT_EQ(complete("expression=\"out[y] = x[y]\" x=9:1 y=12 zero_outside=x").string("extents"), "12");
  EXPECT_EQ(complete("expression=\"out[y] = x[y] * w[y]\" x=9:1 w=7 zero_outside=x").string("extents"), "7");
}

TEST(TensorProblem, ContradictionsAreSentences) {
  const Refusals cases = {
      {"expression=\"c[i,j] += a[i,k]*b[k,j]\" a=5x9 b=8x7",
       "The index k has the extent 9 by dimension 1 of a at character 11 and 8 by dimension 0 of b at "
       "character 18; they must agree."},
      {"expression=\"c[i,j] += a[i,k]*b[k,j]\" a=5x9", "The index j has no extent"},
      {"expression=\"y[i] += x[i+j]\" x=10", "The index i has no extent"},
      {"expression=\"y[i] = x[i]\" x=10x10",
       "The array x has the shape 10x10, but 1 indices in the expression."},
      {"expression=\"y[i,j] += x[i]\" x=10",
       "The index j has no extent: it stands alone along no dimension of an array whose shape is known; give "
       "j=EXTENT. It is first named at character 5."},
      {"expression=\"y[i] = x[i,0]\" i=10 x=8x3",
       "has the extent 10 by what was given and 8 by dimension 0 of x"},
      {"expression=\"y[i] = x[i-1]\" i=10",
       "from -1 to 8 along dimension 0, whose extent is 9, at character 10; no access may be out of bounds "
       "but those of arrays that zero_outside names."},
      {"expression=\"y[i] = x[i-1]\" i=10 zero_outside=q",
       "The expression reads no array \"q\", which zero_outside names; it reads x."},
      {"expression=\"y[i] = x[i-1]\" i=10 zero_outside=\"x,\" w=3", "w=3 is not a parameter of tensor"},
      {"expression=\"y[i] += x[i+j-1]\" x=10 j=3 zero_outside=x", "The index i has no extent"},
      {"expression=\"y = x[0-1,0-1,0-1,0-1,0-1] * z[0-1,0-1,0-1,0-1,0-1]\" x=1x1x1x1x1 z=1x1x1x1x1 "
       "zero_outside=\"x,z\"",
       "whose accesses are out of bounds along 10 dimensions; at most 4 are allowed."},
      {"expression=\"y[i,j] = x[1048576*i,1048576*j]\" i=1048576 j=3 x=2x4:1099511627000x1 "
       "zero_outside=x",
       "reaches farther out of it, at character 12, than the 2^60 elements that can be counted."},
      {"expression=\"y[i] = x[2*i]\" i=10 x=18:1", "from 0 to 18 along dimension 0, whose extent is 18"},
      {"expression=\"y[i,j] = x[i]\" i=10 j=10 y=10x10:1x1", "two elements have one address"},
      {"expression=\"y[i] max= x[i,j]\" i=10 j=0", "no reduced extent may be 0"},
      {"expression=\"y[i] = x[i]\" i=10 z=5", "z=5 is not a parameter of tensor"},
      {"expression=\"y[i] = x[i]\" i=-1", "The extent i=-1 is not from 0 to 2^40."},
      {"expression=\"y[i] = x[i]\" extents=10x10", "which has 1 indices, but extents=10x10 are 2"},
      {"expression=\"y[i] = x[i]\" i=10 x1=10", "which has no array x1"},
      {"expression=\"y[i] = sqrt(x[i])\" i=10 dtype=i32", "is one of real numbers"},
      {"expression=\"y[i] = sqrt(x[i])\" i=10 dtype=u8 out_dtype=f32", "is one of real numbers"},
      {"expression=\"y[i] += x[i,j]\" i=10 j=10 out_dtype=i32",
       "out_dtype is i32, of whole numbers, and its dtype f32 of real ones; allowed then are "
       "out_dtype=f32, "},
      {"expression=\"y[i] = x[i]\" i=10 out_dtype=u8",
       "out_dtype is u8. Allowed are same and f32, f64, i32, i64, f16, bf16."},
      {"expression=\"y[i,j,k] = x[i,j,k]\" i=65536 j=65536 k=65536", "more than 2^40 elements"},
      {"expression=\"y[i] = x[i]\" i=4 x=4:1099511627776", "more than the 2^40 elements that are allowed"},
      {"expression=\"y[i] = x[i]\" i=4 x=4:-1", "Behind the colon stands a stride for each extent"},
      {"expression=\"y += "
       "x[1048576*a+1048576*b+1048576*c+1048576*d+1048576*e+1048576*f+1048576*g+1048576*h+1048576*i]\" a=1 "
       "b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1099511627776",
       "more than the 2^40 elements that are allowed"},
      {"expression=\"y += "
       "x[1048576*a+1048576*b+1048576*c+1048576*d+1048576*e+1048576*f+1048576*g+1048576*h+1048576*i]\" "
       "a=1099511627776 b=1099511627776 c=1099511627776 d=1099511627776 e=1099511627776 f=1099511627776 "
       "g=1099511627776 h=1099511627776 i=1099511627776",
       "more than 2^40 elements or terms"},
      {"expression=\"y[i] = x[i,0,0]\" i=4 x=4x1099511627776x1099511627776",
       "more than the 2^40 elements that are allowed"},
      {"expression=\"y[i] = x[\" i=4", "An index was expected where the text ends."},
      {"expression=\"y[i] = x[\" finish=\"out[\" i=4", "An index was expected where the text ends."},
      {"expression=\"y[i] = x[i]\" finish=\"out + \" i=4",
       "The expression is \"y[i] = x[i]\". Its finish is \"out + \". At character 7: A value was expected"},
      {"expression=\"y[i] = x[i]\" finish=3 i=4", "Its finish is \"3\". At character 1: The finish does not"},
      {"expression=\"y[i] = x[i]\" finish=\"sqrt(out)\" i=4 dtype=i32",
       "its finish \"sqrt(out)\". The function sqrt, which it uses, is one of real numbers"},
      {"expression=\"y[i] = x[i]\" finish=\"out+b[i]\" i=4 b=3",
       "the extent 4 by what was given and 3 by dimension 0 of b at character 5 of the finish"},
      {"expression=\"y[i] = x[i]\" finish=\"out+b[i+1]\" i=4 b=3",
       "whose extent is 3, at character 7 of the finish; no access may be out of bounds but"},
      {"expression=\"y[i] = x[i]\" finish=\"1+2+3+4+5+6+7+8+9+10+11+12+13+out\" i=4",
       "whose function has with its finish 41 accesses"},
  };
  expect_refusals(cases, refusal);
}

// A random text: pieces of the language and of other text, one after the other and inside expressions.
std::string drawn_text(Random& random) {
  static constexpr std::string_view characters = "yx[](),ijk+-*2= ?:<&/%_#\"\n$\\;{.e0!|";
  static constexpr std::array<std::string_view, 25> words = {
      "1048576", "+=",     "max",     "min",      "max=",
      "**",      "99",     "0.5",     "1e9",      "-1",
      "//",      "sqrt",   "x0[a,c]", "x1",       "out[a]",
      "a0",      "if",     "==",      "x0",       "é",
      "1e999",   "x[i+j]", "y[i,i]",  "y[i] += ", "9223372036854775808"};
  static const std::vector<std::string> whole = {
      "c[i,j] += a[i,k] * b[k,j]",
      "out[b,c,y,x,c,v,u] += f[c] * (m[b,k,y+i,x+j] * m[b,k,v+i,u+j] + g[b,k,y+i,x+j,k,v+i,u+j])",
      "out[y,x] max= x[2*y+i,2*x+j]",
      "out[y,x] = x[2*y,99-x]",
      "t += m[i,i]",
      "y[i] = x[i] > 0.25 ? 3 * x[i] : -0.5 - w[i] ** 2",
  };
  std::string text = random.below(3) == 0 ? "" : whole[random.below(whole.size())];
  for (std::uint64_t changes = random.below(text.empty() ? 16 : 5); changes > 0; --changes) {
    const std::size_t at = random.below(text.size() + 1);
    switch (random.below(4)) {
      case 0:
        text.erase(at, 1 + random.below(6));
        break;
      case 1:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(40)));
        break;
      default: {
        const std::size_t piece = random.below(characters.size() + words.size());
        text.insert(
            at, piece < characters.size() ? characters.substr(piece, 1) : words[piece - characters.size()]);
      }
    }
  }
  return text;
}

std::string drawn_finish(Random& random) {
  static const std::vector<std::string> whole = {"max(out + b[i], 0)", "2 * out", "sqrt(out) * s - m[i,0]",
                                                 "out > b[y] ? x[i+1] : out"};
  static const std::vector<std::string> pieces = {"out", "[",   "]", "(",  ")",      "i",
                                                  "j",   "y",   "+", "0",  "out[i]", "b[k]",
                                                  " ",   "max", "é", "\n", "x0",     "c[i,j]"};
  std::string text = whole[random.below(whole.size())];
  for (std::uint64_t changes = random.below(3); changes > 0; --changes)
    text.insert(random.below(text.size() + 1), pieces[random.below(pieces.size())]);
  return text;
}

TEST(TensorProblem, OfAnyTextIsAProblemOrASentence) {
  const std::uint64_t rounds = fuzz_rounds(3000);
  const Op& op = find_op("tensor");
  const DeviceFacts device = facts_of_capability(90);
  Random random(11);
  std::uint64_t parsed = 0, complete_ones = 0, finished = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string text = drawn_text(random);
    const std::string finish = random.below(2) == 0 ? std::string(no_finish) : drawn_finish(random);
    const ParseResult result = parse(text, finish);
    if (!result.error.empty()) {
      EXPECT_TRUE(result.error.starts_with("Its finish is ") || result.error.starts_with("At character ") ||
                  result.error.starts_with("The expression ") || result.error.starts_with("It has ") ||
                  result.error.starts_with("There are "))
          << text << "\n"
          << result.error;
      continue;
    }
    ++parsed;
    const std::string stored = canonical_text(result.expression),
                      stored_finish = canonical_finish(result.expression);
    finished += stored_finish != no_finish;
    ASSERT_EQ(canonical(stored), stored) << text;
    ASSERT_EQ(canonical_finish(parse(stored, stored_finish).expression), stored_finish) << text << finish;
    ASSERT_EQ((stored + stored_finish)
                  .find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789 +-*/%<>=!?:&|.,()[]"),
              std::string::npos)
        << text << finish;
    // Extents of any size, and an array of any layout.
    static constexpr std::array<std::int64_t, 8> sizes = {3, 7, 1, 2, 40, 0, 65536, std::int64_t{1} << 40};
    const std::uint64_t most = random.below(2) == 0 ? 4 : sizes.size();
    std::vector<std::int64_t> extents(result.expression.indices.size());
    for (std::int64_t& extent : extents) extent = sizes[random.below(most)];
    Problem problem = {{"expression", stored}, {"extents", joined(extents)}, {"finish", stored_finish}};
    static const std::vector<std::string> zeros = {"none", "x0", "x1,x0", "x0,,", "x9", "0"};
    if (random.below(2) == 0) problem.set("zero_outside", zeros[random.below(zeros.size())]);
    if (random.below(4) == 0) problem.set("out_dtype", out_dtypes[random.below(out_dtypes.size())]);
    if (random.below(4) == 0) {
      std::vector<std::int64_t> shape(result.expression.ranks[0]), strides(shape.size());
      for (std::int64_t& extent : shape) extent = sizes[random.below(most)];
      for (std::int64_t& stride : strides) stride = sizes[random.below(most)];
      problem.set("x0", joined(shape) + ":" + joined(strides));
    }
    try {
      problem = complete_problem(op, problem);
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()), "");
      continue;
    }
    ++complete_ones;
    EXPECT_GE(op.flops(problem), 0);
    EXPECT_GE(op.bytes_moved(problem), 0);
    for (const Template& tmpl : op.templates) {
      if (why_not(tmpl, problem, device)) continue;
      const std::optional<Values> values = tmpl.untuned ? tmpl.untuned(problem, device) : Values();
      if (values) tmpl.work(problem, tmpl.space(problem, device).complete(*values), device);
    }
  }
  EXPECT_GT(parsed, rounds / 20) << "some texts are expressions";
  EXPECT_GT(finished, rounds / 200) << "some have a finish";
  EXPECT_GT(complete_ones, rounds / 50) << "some make a problem";
}

TEST(TensorNest, FusesWhatEveryAccessStepsOverAsOne) {
  const auto shape = [](const std::string& text) { return joined(fused(nest_of(complete(text))).extents); };
  EXPECT_EQ(shape("expression=\"y[a,b,c,d] = x[a,b,c,d]\" a=2 b=3 c=5 d=7"), "210");
  EXPECT_EQ(shape("expression=\"y[a,b,c,d] = x[c,d,a,b]\" a=2 b=3 c=5 d=7"), "6x35");
  EXPECT_EQ(shape("expression=\"y[a,b,c,d] = x[d,c,b,a]\" a=2 b=3 c=5 d=7"), "2x3x5x7");
  EXPECT_EQ(shape("expression=\"y[a,b] += x[a,b,c,d]\" a=2 b=3 c=5 d=7"), "6x35");
  EXPECT_EQ(shape("expression=\"y[a,b] += x[a,b,c,d]\" a=2 b=3 c=5 d=7 x=2x3x5x7:210x70x14x2"), "6x35");
  EXPECT_EQ(shape("expression=\"y[a,b] += x[a,b,c,d]\" a=2 b=3 c=5 d=7 x=2x3x5x7:400x100x14x2"), "2x3x35");
  EXPECT_EQ(shape("expression=\"y[a,b] = x[a,b]\" a=1 b=3"), "3");
  EXPECT_EQ(shape("expression=\"y[b,i,j] += l[b,i,k] * r[b,k,j]\" b=4 i=3 j=5 k=2"), "4x3x5x2");
}

Dispatcher host() { return Dispatcher({.device = "host", .database = "", .cache_folder = ""}); }

TEST(TensorOnHost, ArraysOfAnyStrides) {
  Dispatcher dispatcher = host();
  // NumPy: x = arange(2*3*4).reshape(2, 3, 4); einsum("abc,cd->bad", x, arange(8).reshape(4, 2))
  std::vector<double> x(24), w(8), out(12, -1);
  std::iota(x.begin(), x.end(), 0);
  std::iota(w.begin(), w.end(), 0);
  const std::string text = "out[b,a,d] += x[a,b,c] * w[c,d]";
  EXPECT_EQ(tensor_shape(text, {{2, 3, 4}, {4, 2}}), (std::vector<std::int64_t>{3, 2, 2}));
  ASSERT_TRUE(tensor(dispatcher, text, ElementType::f64, {{x.data(), {{2, 3, 4}}}, {w.data(), {{4, 2}}}},
                     out.data(), {{3, 2, 2}}));
  EXPECT_EQ(out, (std::vector<double>{28, 34, 172, 226, 76, 98, 220, 290, 124, 162, 268, 354}));
  // The same with w transposed in memory, into every second element.
  const std::vector<double> turned = {0, 2, 4, 6, 1, 3, 5, 7};
  std::vector<double> wide(24, -1);
  ASSERT_TRUE(tensor(dispatcher, text, ElementType::f64,
                     {{x.data(), {{2, 3, 4}}}, {turned.data(), {{4, 2}, {1, 4}}}}, wide.data(),
                     {{3, 2, 2}, {8, 4, 2}}));
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(wide[2 * i], out[i]);
    EXPECT_EQ(wide[2 * i + 1], -1);
  }
}

TEST(TensorOnHost, DiagonalsOfTheOutputLeaveTheRest) {
  Dispatcher dispatcher = host();
  const std::array<float, 3> x = {2, 3, 5};
  std::array<float, 9> out;
  out.fill(-1);
  ASSERT_TRUE(tensor(dispatcher, "out[i,i] = x[i] ** 2", ElementType::f32, {{x.data(), {{3}}}}, out.data(),
                     {{3, 3}}));
  EXPECT_EQ(out, (std::array<float, 9>{4, -1, -1, -1, 9, -1, -1, -1, 25}));
}

TEST(TensorOnHost, ProductsMayBeDistributed) {
  Dispatcher dispatcher = host();
  // (A B) C is one number here, and so is A (B C).
  const std::vector<std::int64_t> a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {1, -1};
  const std::string text = "out[i,l] += a[i,j] * b[j,k] * c[k,l]";
  const std::vector<TensorLayout> layouts = {{{2, 2}}, {{2, 2}}, {{2, 1}}};
  EXPECT_THAT(tensor_problem(text, ElementType::i64, layouts, {{2, 1}}, {.may = TensorMay::distribute}),
              HasSubstr("may=distribute"));
  std::array<std::int64_t, 2> out = {};
  ASSERT_TRUE(tensor(dispatcher, text, ElementType::i64,
                     {{a.data(), layouts[0]}, {b.data(), layouts[1]}, {c.data(), layouts[2]}}, out.data(),
                     {{2, 1}}, nullptr, {.may = TensorMay::distribute}));
  EXPECT_EQ(out, (std::array<std::int64_t, 2>{-3, -7}));
}

TEST(TensorOnHost, ProductsMayBeLessAccurate) {
  const std::string product = "c[i,j] += a[i,k] * b[k,j]";
  const std::vector<TensorLayout> layouts = {{{2, 3}}, {{3, 2}}};
  const auto problem = [&](const TensorOptions& options) {
    return tensor_problem(product, ElementType::f32, layouts, {{2, 2}}, options);
  };
  EXPECT_THAT(problem({.accuracy = TensorAccuracy::tf32}), HasSubstr("accuracy=tf32"));
  EXPECT_THAT(problem({.accuracy = TensorAccuracy::bf16}), HasSubstr("accuracy=bf16"));
  EXPECT_THAT(problem({}), Not(HasSubstr("accuracy")));
  EXPECT_THAT(gemm_problem(ElementType::f32, {.rows = 2, .columns = 2, .depth = 3},
                           {.accuracy = TensorAccuracy::tf32}),
              HasSubstr("accuracy=tf32"));

  Dispatcher dispatcher = host();
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 2, 3, 4, 5, 6};
  std::array<float, 4> c = {};
  ASSERT_TRUE(tensor(dispatcher, product, ElementType::f32, {{a.data(), layouts[0]}, {b.data(), layouts[1]}},
                     c.data(), {{2, 2}}, nullptr, {.accuracy = TensorAccuracy::tf32}));
  EXPECT_EQ(c, (std::array<float, 4>{22, 28, 49, 64}));
}

// Problems that compute the same are one: what accuracy has no effect on is computed in full, and nothing
// with less than 11 bits.
TEST(Tensor, StoresTheAccuracyThatHasAnEffect) {
  const Op& op = find_op("tensor");
  const auto stored = [&](const std::string& text) {
    const Problem problem = complete_problem(op, Problem::parse(text));
    EXPECT_EQ(complete_problem(op, problem), problem) << text;
    return problem.string("accuracy");
  };
  const std::string product = "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=4 j=5 k=6 ";
  EXPECT_EQ(stored(product), "full");
  EXPECT_EQ(stored(product + "accuracy=full"), "full");
  EXPECT_EQ(stored(product + "accuracy=tf32"), "tf32");
  EXPECT_EQ(stored(product + "accuracy=bf16"), "tf32");
  EXPECT_EQ(stored(product + "accuracy=tf32 out_dtype=f16 finish=\"max(out, 0)\""), "tf32");
  for (const std::string dtype : {"f64", "f16", "bf16", "i32", "i8"})
    EXPECT_EQ(stored(product + "accuracy=tf32 dtype=" + dtype), "full") << dtype;
  for (const std::string line : {"\"c[b,i,j] += a[b,i,k] * b[b,k,j]\" b=2 i=4 j=5 k=6",
                                 "\"o[n,f,y,x] += m[n,c,y+i,x+j] * w[f,c,i,j]\" n=1 f=3 y=4 x=5 c=2 i=3 j=3",
                                 "\"c[i,j] += max(a[i,k], 0) * (b[k,j] - s[k])\" i=4 j=5 k=6"})
    EXPECT_EQ(stored("expression=" + line + " accuracy=tf32"), "tf32") << line;
  for (const std::string line :
       {"\"c[i,j] = a[i] * b[j]\" i=4 j=5", "\"c[i] += a[i,k]\" i=4 k=5",
        "\"c[i,j] += a[i,k] + b[k,j]\" i=4 j=5 k=6", "\"c[i,j] max= a[i,k] * b[k,j]\" i=4 j=5 k=6",
        "\"c[i] += a[i,k] * a[i,k] * b[k]\" i=4 k=6",
        "\"o[y] += m[y+i-1] * w[i]\" y=9 m=9 i=3 zero_outside=m"})
    EXPECT_EQ(stored("expression=" + line + " accuracy=tf32"), "full") << line;
  EXPECT_THROW(stored(product + "accuracy=fp8"), UsageError);
  EXPECT_THROW(stored(product + "accuracy=3"), UsageError);

  const auto kind = [&](const std::string& rest) {
    return op.kind(complete_problem(op, Problem::parse(product + rest)));
  };
  EXPECT_EQ(kind(""), "f32, sum");
  EXPECT_EQ(kind("accuracy=tf32"), "f32, sum, rounded factors");
}

TEST(TensorOnHost, SumsAreFinished) {
  Dispatcher dispatcher = host();
  const std::vector<float> a = {1, 2, 3, 4}, x = {5, 6}, bias = {-20, 1};
  std::array<float, 2> out = {};
  const std::string line = "y[i] += a[i,k] * x[k]", finish = "max(y + bias[i], 0)";
  EXPECT_EQ(tensor_arrays(line, finish), (std::vector<std::string>{"a", "x", "bias"}));
  EXPECT_EQ(tensor_shape(line, {{2, 2}, {2}, {2}}, {.finish = finish}), (std::vector<std::int64_t>{2}));
  ASSERT_TRUE(tensor(dispatcher, line, ElementType::f32,
                     {{a.data(), {{2, 2}}}, {x.data(), {{2}}}, {bias.data(), {{2}}}}, out.data(), {{2}},
                     nullptr, {.finish = finish}));
  EXPECT_EQ(out, (std::array<float, 2>{0, 40}));
  // Without terms the result is the finish of 0.
  ASSERT_TRUE(tensor(dispatcher, line, ElementType::f32,
                     {{nullptr, {{2, 0}}}, {nullptr, {{0}}}, {bias.data(), {{2}}}}, out.data(), {{2}},
                     nullptr, {.finish = finish}));
  EXPECT_EQ(out, (std::array<float, 2>{0, 1}));
}

TEST(TensorOnHost, ElementsOutOfBoundsAreZero) {
  Dispatcher dispatcher = host();
  const std::vector<std::int64_t> x = {1, 2, 3, 4}, w = {1, 10, 100};
  std::array<double, 5> out = {};
  ASSERT_TRUE(tensor(dispatcher, "y[i] += x[i+j-1] * w[j]", ElementType::i64,
                     {{x.data(), {{4}}}, {w.data(), {{3}}}}, out.data(), {{5}}, nullptr,
                     {.extents = {{"i", 5}}, .out_type = ElementType::f64, .zero_outside = {"x"}}));
  EXPECT_EQ(out, (std::array<double, 5>{210, 321, 432, 43, 4}));
}

TEST(TensorOnHost, WrongArraysAreSentences) {
  Dispatcher dispatcher = host();
  const auto error = [&](const std::string& text, const std::vector<TensorLayout>& inputs,
                         const TensorLayout& out, const TensorExtents& extents = {}) {
    try {
      tensor_plan(dispatcher, text, ElementType::f32, inputs, out, {.extents = extents});
      return std::string("no error");
    } catch (const UsageError& wrong) {
      return std::string(wrong.what());
    }
  };
  EXPECT_THAT(error("y[i] = x[i]", {{{3}}, {{3}}}, {{3}}),
              HasSubstr("It reads 1 arrays (x), but 2 were given."));
  EXPECT_THAT(error("y[i] = x[i]", {{{3}}}, {{3}}, {{"k", 2}}), HasSubstr("It has no index k"));
  EXPECT_THAT(error("y[i] = x[i]", {{{3}}}, {{2}}),
              HasSubstr("from 0 to 2 along dimension 0, whose extent is 2"));
  EXPECT_THAT(error("y[i] = x[i", {{{3}}}, {{2}}), HasSubstr("']' was expected"));
}

TEST(TensorOnHost, TheCommandThatTunesItCanBePasted) {
  Dispatcher dispatcher({.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""});
  const std::string problem = "expression=\"y[i] += a[i,k] * x[k]\" finish=\"max(out, 0)\" i=20 k=30";
  const std::string text = dispatcher.explain("tensor", problem);
  const std::size_t begin = text.find("tunesmith tune ");
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string command = text.substr(begin, text.find('\n', begin) - begin);
  std::FILE* const shell =
      popen(("tunesmith() { for word; do echo \"$word\"; done; }\n" + command).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string words;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) words += static_cast<char>(c);
  EXPECT_EQ(pclose(shell), 0) << command;
  const std::string before = "tune\ntensor\n--problem\n";
  ASSERT_TRUE(words.starts_with(before)) << words;
  EXPECT_EQ(complete(words.substr(before.size(), words.size() - before.size() - 1)), complete(problem));
}

TEST(TensorOnHost, NothingIsZeroOrNothing) {
  Dispatcher dispatcher = host();
  std::array<float, 3> out = {7, 7, 7};
  ASSERT_TRUE(
      tensor(dispatcher, "y[i] += x[i,j]", ElementType::f32, {{nullptr, {{3, 0}}}}, out.data(), {{3}}));
  EXPECT_EQ(out, (std::array<float, 3>{0, 0, 0}));
  ASSERT_TRUE(tensor(dispatcher, "y[i] += x[i,j]", ElementType::f32, {{nullptr, {{0, 3}}}}, nullptr, {{0}}));
}

}  // namespace
}  // namespace tunesmith::tensor_test
