// SPDX-License-Identifier: Apache-2.0
// Tests inline PTX on the host: each instruction against a plain computation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "generator/random.h"
#include "runtime/ptx_translation.h"
#include "tests/host/loaded.h"
#include "tests/rounds.h"

namespace tunesmith {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

S32 s32(U32 x) { return static_cast<S32>(x); }
U32 u32(S64 x) { return static_cast<U32>(x); }
float f32(U32 x) { return std::bit_cast<float>(x); }
U32 bits(float x) { return std::bit_cast<U32>(x); }

// The upper half of the product.
U64 high_product(U64 a, U64 b) {
  const U64 low = 0xffffffffU, middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32),
            other = (a & low) * (b >> 32) + (middle & low);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

// An asm statement of %0 from %1, %2 and %3, and what it computes.
template <typename Word>
struct Case {
  std::string text;
  std::function<Word(Word, Word, Word)> expected;
};

// Computes each statement for each three numbers in turn.
template <typename Word>
std::vector<Word> results(const std::vector<Case<Word>>& cases, const std::vector<Word>& in) {
  const std::string type = sizeof(Word) == 4 ? "unsigned" : "unsigned long long",
                    letter = sizeof(Word) == 4 ? "r" : "l";
  std::string body = "#include \"common/ptx.cuh\"\nextern \"C\" __global__ void ENTRY(kernel)(" + type +
                     "* out, const " + type + "* in, int count) {\n  for (int n = 0; n + 2 < count; ++n) {\n";
  for (const Case<Word>& one : cases)
    body += "    asm volatile(\"" + one.text + "\" : \"=" + letter + "\"(*out++) : \"" + letter +
            "\"(in[n]), \"" + letter + "\"(in[n + 1]), \"" + letter + "\"(in[n + 2]));\n";
  LoadedBinary kernel = load(body + "  }\n}\n", {}, {}, 2, 0, {static_cast<std::int32_t>(in.size())});
  std::vector<Word> out(cases.size() * (in.size() - 2));
  std::vector<Word> copy = in;
  EXPECT_EQ(kernel.run({out.data(), copy.data()}), 0);
  return out;
}

template <typename Word>
void expect_all(const std::vector<Case<Word>>& cases, const std::vector<Word>& in,
                const std::function<bool(Word, Word)>& are_equal = std::equal_to<Word>()) {
  const std::vector<Word> out = results(cases, in);
  for (std::size_t n = 0; n + 2 < in.size(); ++n) {
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Word found = out[n * cases.size() + k], expected = cases[k].expected(in[n], in[n + 1], in[n + 2]);
      ASSERT_TRUE(are_equal(found, expected))
          << cases[k].text << " of " << in[n] << ", " << in[n + 1] << " and " << in[n + 2] << " is " << found
          << ", not " << expected;
    }
  }
}

template <typename Word>
std::vector<Word> some_words(std::size_t count) {
  std::vector<Word> words = {0, 1, 2, 31, 32, 33, 255, static_cast<Word>(-1), static_cast<Word>(-2)};
  Random random(5);
  while (words.size() < count)
    words.push_back(static_cast<Word>(random.next()) >> random.below(8 * sizeof(Word)));
  return words;
}

TEST(Ptx, WholeNumbersOf32Bits) {
  const std::vector<Case<U32>> cases = {
      {"mov.u32 %0, %1;", [](U32 a, U32, U32) { return a; }},
      {"mov.b32 %0, 0x1F;", [](U32, U32, U32) { return 31U; }},
      {"mov.s32 %0, -5;", [](U32, U32, U32) { return u32(-5); }},
      {"add.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return a + b; }},
      {"add.s32 %0, %1, -7;", [](U32 a, U32, U32) { return a - 7; }},
      {"add.sat.s32 %0, %1, %2;",
       [](U32 a, U32 b, U32) {
         return u32(std::clamp<S64>(S64{s32(a)} + s32(b), std::numeric_limits<S32>::min(),
                                    std::numeric_limits<S32>::max()));
       }},
      {"sub.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return a - b; }},
      {"mul.lo.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return a * b; }},
      {"mul.hi.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return static_cast<U32>(U64{a} * b >> 32); }},
      {"mul.hi.s32 %0, %1, %2;", [](U32 a, U32 b, U32) { return u32(S64{s32(a)} * s32(b) >> 32); }},
      {"mad.lo.s32 %0, %1, %2, %3;", [](U32 a, U32 b, U32 c) { return a * b + c; }},
      {"mad.hi.u32 %0, %1, %2, %3;",
       [](U32 a, U32 b, U32 c) { return static_cast<U32>(U64{a} * b >> 32) + c; }},
      {"{ .reg .u32 low; add.cc.u32 low, %1, %2; addc.u32 %0, %3, 0; }",
       [](U32 a, U32 b, U32 c) { return c + (U64{a} + b > 0xffffffffU ? 1 : 0); }},
      {"{ .reg .u32 low; sub.cc.u32 low, %1, %2; subc.u32 %0, %3, 0; }",
       [](U32 a, U32 b, U32 c) { return c - (a < b ? 1 : 0); }},
      {"{ .reg .u32 low; mad.lo.cc.u32 low, %1, %2, %3; madc.hi.u32 %0, %1, %2, 0; }",
       [](U32 a, U32 b, U32 c) { return static_cast<U32>((U64{a} * b + c) >> 32); }},
      {"mul24.lo.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return (a & 0xffffffU) * (b & 0xffffffU); }},
      {"min.s32 %0, %1, %2;", [](U32 a, U32 b, U32) { return u32(std::min(s32(a), s32(b))); }},
      {"max.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return std::max(a, b); }},
      {"and.b32 %0, %1, %2;", [](U32 a, U32 b, U32) { return a & b; }},
      {"or.b32 %0, %1, %2;", [](U32 a, U32 b, U32) { return a | b; }},
      {"xor.b32 %0, %1, %2;", [](U32 a, U32 b, U32) { return a ^ b; }},
      {"not.b32 %0, %1;", [](U32 a, U32, U32) { return ~a; }},
      {"shl.b32 %0, %1, %2;", [](U32 a, U32 b, U32) { return b > 31 ? 0 : a << b; }},
      {"shr.u32 %0, %1, %2;", [](U32 a, U32 b, U32) { return b > 31 ? 0 : a >> b; }},
      {"shr.s32 %0, %1, %2;", [](U32 a, U32 b, U32) { return u32(s32(a) >> std::min(b, 31U)); }},
      {"shf.l.wrap.b32 %0, %1, %2, %3;",
       [](U32 a, U32 b, U32 c) { return static_cast<U32>((U64{b} << 32 | a) << (c & 31) >> 32); }},
      {"shf.r.clamp.b32 %0, %1, %2, %3;",
       [](U32 a, U32 b, U32 c) { return static_cast<U32>((U64{b} << 32 | a) >> std::min(c, 32U)); }},
      {"lop3.b32 %0, %1, %2, %3, 0xEA;", [](U32 a, U32 b, U32 c) { return (a & b) | c; }},
      {"lop3.b32 %0, %1, %2, %3, 0x96;", [](U32 a, U32 b, U32 c) { return a ^ b ^ c; }},
      {"prmt.b32 %0, %1, %2, 0x5410;", [](U32 a, U32 b, U32) { return (a & 0xffffU) | b << 16; }},
      {"prmt.b32 %0, %1, %2, 0x7632;", [](U32 a, U32 b, U32) { return a >> 16 | (b & 0xffff0000U); }},
      {"bfe.u32 %0, %1, 4, 8;", [](U32 a, U32, U32) { return a >> 4 & 255U; }},
      {"bfe.s32 %0, %1, 8, 8;", [](U32 a, U32, U32) { return u32(static_cast<std::int8_t>(a >> 8)); }},
      {"bfi.b32 %0, %1, %2, 4, 8;", [](U32 a, U32 b, U32) { return (b & ~0xff0U) | (a & 255U) << 4; }},
      {"popc.b32 %0, %1;", [](U32 a, U32, U32) { return static_cast<U32>(std::popcount(a)); }},
      {"clz.b32 %0, %1;", [](U32 a, U32, U32) { return static_cast<U32>(std::countl_zero(a)); }},
      {"bfind.u32 %0, %1;", [](U32 a, U32, U32) { return 31U - static_cast<U32>(std::countl_zero(a)); }},
      {"brev.b32 %0, %1;",
       [](U32 a, U32, U32) {
         U32 made = 0;
         for (int n = 0; n < 32; ++n) made |= (a >> n & 1U) << (31 - n);
         return made;
       }},
      {"dp4a.s32.s32 %0, %1, %2, %3;",
       [](U32 a, U32 b, U32 c) {
         for (int n = 0; n < 32; n += 8)
           c += u32(static_cast<std::int8_t>(a >> n) * static_cast<std::int8_t>(b >> n));
         return c;
       }},
      {"vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;",
       [](U32 a, U32 b, U32 c) {
         for (int n = 0; n < 32; n += 8)
           c += static_cast<U32>(std::abs(s32(a >> n & 255U) - s32(b >> n & 255U)));
         return c;
       }},
      {"sad.u32 %0, %1, %2, %3;", [](U32 a, U32 b, U32 c) { return c + (a < b ? b - a : a - b); }},
      {"{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %3, p; }",
       [](U32 a, U32 b, U32 c) { return s32(a) < s32(b) ? a : c; }},
      {"{\\n\\t.reg .pred p, q; // two\\n\\tsetp.hi.u32 p|q, %1, %2;\\n\\t@q mov.u32 %0, %2; /* smaller */ "
       "@!q "
       "mov.u32 %0, %1;\\n}",
       [](U32 a, U32 b, U32) { return std::max(a, b); }},
      {"{ .reg .pred p, q; setp.eq.u32 p, %1, 0; setp.lt.and.u32 q, %2, %3, !p; selp.u32 %0, 1, 0, q; }",
       [](U32 a, U32 b, U32 c) { return a != 0 && b < c ? 1U : 0U; }},
      {"{ .reg .pred p; setp.ne.b32 p, %1, 0; not.pred p, p; selp.u32 %0, %2, %3, p; }",
       [](U32 a, U32 b, U32 c) { return a == 0 ? b : c; }},
      {"set.lt.u32.s32 %0, %1, %2;", [](U32 a, U32 b, U32) { return s32(a) < s32(b) ? ~0U : 0U; }},
      {"{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }",
       [](U32 a, U32, U32) { return a << 16 | a >> 16; }},
      {"{ .reg .b32 r<3>; mov.b32 r0, %1; add.u32 r1, r0, %2; { .reg .b32 r0; mov.b32 r0, 7; add.u32 r1, r1, "
       "r0; } mov.b32 r2, r1; mov.b32 %0, r2; }",
       [](U32 a, U32 b, U32) { return a + b + 7; }},
      {"cvt.s32.s8 %0, %1;", [](U32 a, U32, U32) { return u32(static_cast<std::int8_t>(a)); }},
      {"cvt.sat.u8.s32 %0, %1;", [](U32 a, U32, U32) { return u32(std::clamp(s32(a), 0, 255)); }},
      {"{ .reg .u64 wide; mul.wide.u32 wide, %1, %2; shr.u64 wide, wide, 16; cvt.u32.u64 %0, wide; }",
       [](U32 a, U32 b, U32) { return static_cast<U32>(U64{a} * b >> 16); }},
  };
  expect_all(cases, some_words<U32>(300));
}

TEST(Ptx, WholeNumbersOf64Bits) {
  const std::vector<Case<U64>> cases = {
      {"mov.u64 %0, %1;", [](U64 a, U64, U64) { return a; }},
      {"add.s64 %0, %1, %2;", [](U64 a, U64 b, U64) { return a + b; }},
      {"mad.lo.u64 %0, %1, %2, %3;", [](U64 a, U64 b, U64 c) { return a * b + c; }},
      {"mul.hi.u64 %0, %1, %2;", [](U64 a, U64 b, U64) { return high_product(a, b); }},
      {"{ .reg .u64 low; mad.lo.cc.u64 low, %1, %2, %3; madc.hi.u64 %0, %1, %2, 0; }",
       [](U64 a, U64 b, U64 c) { return high_product(a, b) + (a * b + c < c ? 1 : 0); }},
      {"{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; mov.b64 %0, {hi, lo}; }",
       [](U64 a, U64, U64) { return a << 32 | a >> 32; }},
      {"shr.s64 %0, %1, 9;", [](U64 a, U64, U64) { return static_cast<U64>(static_cast<S64>(a) >> 9); }},
      {"bfe.u64 %0, %1, 20, 30;", [](U64 a, U64, U64) { return a >> 20 & 0x3fffffffU; }},
      {"{ .reg .u32 n; popc.b64 n, %1; cvt.u64.u32 %0, n; }",
       [](U64 a, U64, U64) { return static_cast<U64>(std::popcount(a)); }},
      {"min.s64 %0, %1, %2;",
       [](U64 a, U64 b, U64) {
         return static_cast<U64>(std::min(static_cast<S64>(a), static_cast<S64>(b)));
       }},
      {"div.u64 %0, %1, %2;", [](U64 a, U64 b, U64) { return b == 0 ? ~U64{0} : a / b; }},
      {"rem.u64 %0, %1, %2;", [](U64 a, U64 b, U64) { return b == 0 ? a : a % b; }},
  };
  expect_all(cases, some_words<U64>(300));
}

// The nearest half, for numbers that are neither tiny nor huge.
U32 half_bits(float x) {
  const U32 sign = bits(x) >> 16 & 0x8000U, size = bits(x) & 0x7fffffffU;
  const U32 rounded = size + 0xfffU + (size >> 13 & 1U);
  return sign | (rounded - (112U << 23)) >> 13;
}
U32 bfloat_bits(float x) { return (bits(x) + 0x7fffU + (bits(x) >> 16 & 1U)) >> 16; }
float number_of_half(U32 half) {
  return std::ldexp(static_cast<float>((half & 0x3ffU) | 0x400U), static_cast<int>(half >> 10 & 31U) - 25) *
         ((half & 0x8000U) != 0 ? -1.0F : 1.0F);
}

TEST(Ptx, FloatingPointNumbers) {
  const auto of = [](float x) { return bits(x); };
  const std::vector<Case<U32>> cases = {
      {"mov.b32 %0, 0f3F800000;", [&](U32, U32, U32) { return of(1); }},
      {"add.f32 %0, %1, %2;", [&](U32 a, U32 b, U32) { return of(f32(a) + f32(b)); }},
      {"add.f32 %0, %1, 1.5;", [&](U32 a, U32, U32) { return of(f32(a) + 1.5F); }},
      {"sub.rn.f32 %0, %1, %2;", [&](U32 a, U32 b, U32) { return of(f32(a) - f32(b)); }},
      {"mul.ftz.f32 %0, %1, %2;", [&](U32 a, U32 b, U32) { return of(f32(a) * f32(b)); }},
      {"mul.ftz.f32 %0, %1, 0f00000001;", [&](U32 a, U32, U32) { return bits(std::copysign(0.0F, f32(a))); }},
      {"fma.rn.f32 %0, %1, %2, %3;",
       [&](U32 a, U32 b, U32 c) { return of(std::fma(f32(a), f32(b), f32(c))); }},
      {"fma.rn.sat.f32 %0, %1, %2, %3;",
       [&](U32 a, U32 b, U32 c) { return of(std::clamp(std::fma(f32(a), f32(b), f32(c)), 0.0F, 1.0F)); }},
      {"min.f32 %0, %1, %2;", [&](U32 a, U32 b, U32) { return of(std::min(f32(a), f32(b))); }},
      {"max.f32 %0, %1, %2;", [&](U32 a, U32 b, U32) { return of(std::max(f32(a), f32(b))); }},
      {"abs.f32 %0, %1;", [&](U32 a, U32, U32) { return of(std::fabs(f32(a))); }},
      {"neg.f32 %0, %1;", [&](U32 a, U32, U32) { return of(-f32(a)); }},
      {"add.rz.f32 %0, %1, %2;",
       [&](U32 a, U32 b, U32) {
         const double exact = static_cast<double>(f32(a)) + static_cast<double>(f32(b));
         const auto near = static_cast<float>(exact);
         return std::fabs(static_cast<double>(near)) > std::fabs(exact) ? of(std::nextafter(near, 0.0F))
                                                                        : of(near);
       }},
      {"rcp.approx.ftz.f32 %0, %1;", [&](U32 a, U32, U32) { return of(1 / f32(a)); }},
      {"sqrt.rn.f32 %0, 2.0;", [&](U32, U32, U32) { return of(std::sqrt(2.0F)); }},
      {"{ .reg .f32 t; abs.f32 t, %1; rsqrt.approx.f32 %0, t; }",
       [&](U32 a, U32, U32) { return of(1 / std::sqrt(std::fabs(f32(a)))); }},
      {"ex2.approx.ftz.f32 %0, %1;", [&](U32 a, U32, U32) { return of(std::exp2(f32(a))); }},
      {"{ .reg .f32 t; abs.f32 t, %1; lg2.approx.f32 %0, t; }",
       [&](U32 a, U32, U32) { return of(std::log2(std::fabs(f32(a)))); }},
      {"tanh.approx.f32 %0, %1;", [&](U32 a, U32, U32) { return of(std::tanh(f32(a))); }},
      {"cvt.rni.s32.f32 %0, %1;", [&](U32 a, U32, U32) { return u32(std::lrint(f32(a))); }},
      {"cvt.rzi.u32.f32 %0, %1;",
       [&](U32 a, U32, U32) { return f32(a) <= 0 ? 0U : static_cast<U32>(f32(a)); }},
      {"{ .reg .s32 t; cvt.rzi.s32.f32 t, %1; cvt.rn.f32.s32 %0, t; }",
       [&](U32 a, U32, U32) { return of(std::trunc(f32(a)) + 0.0F); }},
      {"cvt.rn.bf16x2.f32 %0, %1, %2;",
       [&](U32 a, U32 b, U32) { return bfloat_bits(f32(a)) << 16 | bfloat_bits(f32(b)); }},
      {"cvt.rn.f16x2.f32 %0, %1, %2;",
       [&](U32 a, U32 b, U32) { return half_bits(f32(a)) << 16 | half_bits(f32(b)); }},
      {"cvt.rna.tf32.f32 %0, %1;", [&](U32 a, U32, U32) { return (a + 0x1000U) & 0xffffe000U; }},
      {"{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }",
       [&](U32 a, U32, U32) { return of(number_of_half(half_bits(f32(a)))); }},
      {"{ .reg .b32 x, y; cvt.rn.f16x2.f32 x, %1, %2; cvt.rn.f16x2.f32 y, %2, %1; add.f16x2 %0, x, y; }",
       [&](U32 a, U32 b, U32) {
         const U32 sum = half_bits(number_of_half(half_bits(f32(a))) + number_of_half(half_bits(f32(b))));
         return sum << 16 | sum;
       }},
      {"{ .reg .b64 x, y; mov.b64 x, {%1, %2}; mov.b64 y, {%3, %3}; fma.rn.f32x2 x, x, x, y; .reg .b32 u, v; "
       "mov.b64 {u, v}, x; sub.f32 %0, u, v; }",
       [&](U32 a, U32 b, U32 c) {
         return of(std::fma(f32(a), f32(a), f32(c)) - std::fma(f32(b), f32(b), f32(c)));
       }},
      {"{ .reg .f64 x, y; cvt.f64.f32 x, %1; cvt.f64.f32 y, %2; fma.rn.f64 x, x, y, 0d3FF0000000000000; "
       "cvt.rn.f32.f64 %0, x; }",
       [&](U32 a, U32 b, U32) {
         return of(
             static_cast<float>(std::fma(static_cast<double>(f32(a)), static_cast<double>(f32(b)), 1.0)));
       }},
      {"{ .reg .pred p; setp.gt.f32 p, %1, %2; @p mov.b32 %0, %1; @!p mov.b32 %0, %2; }",
       [&](U32 a, U32 b, U32) { return of(std::max(f32(a), f32(b))); }},
      {"copysign.f32 %0, %1, %2;", [&](U32 a, U32 b, U32) { return of(std::copysign(f32(b), f32(a))); }},
  };
  std::vector<U32> in;
  Random random(7);
  while (in.size() < 300)
    in.push_back(
        bits(static_cast<float>(static_cast<int>(random.below(20001)) - 10000) / 1024.0F + 0x1p-12F));
  // Functions of the C library may differ in the last digit between double and float.
  expect_all<U32>(cases, in, [](U32 found, U32 expected) {
    return found == expected || std::abs(s32(found) - s32(expected)) <= 2;
  });
}

TEST(Ptx, LoadsAndStores) {
  LoadedBinary kernel = load(R"(#include "common/ptx.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned* out, const unsigned* in) {
  __shared__ __align__(16) unsigned words[8];
  unsigned a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in));
  asm volatile("st.global.cs.v2.b32 [%0 + 8], {%1, %2};" :: "l"(out), "r"(a), "r"(d) : "memory");
  asm volatile("ld.global.cg.u8 %0, [%1+5];" : "=r"(a) : "l"(in));
  asm volatile("ld.global.s8 %0, [%1+16];" : "=r"(b) : "l"(in));
  asm volatile("st.global.wt.u32 [%0], %1;\n\tst.u32 [%0+4], %2;" :: "l"(out), "r"(a), "r"(b) : "memory");
  const unsigned at = (unsigned)__cvta_generic_to_shared(words);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %1, 9};" :: "r"(at), "r"(c), "r"(d));
  out[4] = words[0] + words[1] + words[2] + words[3];
  unsigned long long wide;
  asm volatile("{ .reg .u64 s; cvta.to.shared.u64 s, %1; ld.shared.u64 %0, [s + 8]; }" : "=l"(wide) : "l"(words));
  out[5] = (unsigned)(wide >> 32);
  unsigned long long generic;
  asm("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"(__cvta_generic_to_shared(words + 3)));
  out[6] = *(const unsigned*)generic + (generic == (unsigned long long)__cvta_shared_to_generic(at + 12));
  asm volatile("red.global.add.u32 [%0], %1;" :: "l"(out + 7), "r"(5));
  asm volatile("atom.shared.add.u32 %0, [%1], 3;" : "=r"(a) : "r"(at));
  asm volatile("atom.global.cas.b32 %0, [%1], 5, 6;" : "=r"(b) : "l"(out + 7));
  asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(out + 8), "r"(words[0] - a) : "memory");
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(c) : "l"(out + 8) : "memory");
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(d) : "l"(out + 8) : "memory");
  out[9] = b + c + d;
  float f;
  asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(f) : "l"(out + 10), "f"(1.5f));
  asm volatile("prefetch.global.L2 [%0];\nmembar.gl;\nfence.acq_rel.gpu;" :: "l"(in) "r"(a));
  asm volatile("" ::: "memory");
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(out[11]) : "l"(in + 1), "l"(policy));
  short h;
  asm volatile("ld.global.b16 %0, [%1];" : "=h"(h) : "l"(in));
  out[12] = (unsigned)h;
})",
                             {}, {}, 2);
  std::vector<U32> in = {11, 0x2200 + 22, 33, 44, 0xfe};
  std::vector<U32> out(13);
  out[10] = bits(2.0F);
  ASSERT_EQ(kernel.run({out.data(), in.data()}), 0);
  const std::vector<U32> expected = {0x22,      u32(-2),    11,    44, 33 + 44 + 33 + 9, 9, 10, 6, 3,
                                     5 + 3 + 3, bits(3.5F), in[1], 11};
  EXPECT_EQ(out, expected);
}

// Copies arrive when they are waited for, in groups; until then their targets hold poison.
TEST(Ptx, AsynchronousCopiesArriveWhenTheyAreWaitedFor) {
  LoadedBinary kernel = load(R"(#include "common/ptx.cuh"
template <int N>
__device__ void wait() { asm volatile("cp.async.wait_group %0;\n" :: "n"(N) : "memory"); }
extern "C" __global__ void ENTRY(kernel)(unsigned* out, const unsigned* in) {
  __shared__ __align__(16) unsigned words[16];
  const unsigned at = (unsigned)__cvta_generic_to_shared(words);
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" :: "r"(at), "l"(in), "n"(16));
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.ca.shared.global [%0 + 16], [%1], 8, %2;\n" :: "r"(at), "l"(in), "r"(4));
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared::cta.global [%0], [%1], 4; }" :: "r"(at + 24), "l"(in + 1), "r"(0));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared::cta.global [%0], [%1], 4; }" :: "r"(at + 28), "l"(in + 1), "r"(1));
  out[0] = words[0];
  wait<1>();
  out[1] = words[0];
  out[2] = words[4];
  asm volatile("cp.async.wait_group 0;");
  out[3] = words[4];
  out[4] = words[5];
  out[5] = words[7];
  asm volatile("cp.async.wait_all;\n" ::);
  out[6] = words[7];
  out[7] = words[6];
})",
                             {}, {}, 2);
  std::vector<U32> in = {11, 22, 33, 44};
  std::vector<U32> out(8);
  ASSERT_EQ(kernel.run({out.data(), in.data()}), 0);
  const U32 poison = out[0];
  EXPECT_NE(poison, 11U);
  EXPECT_EQ(out, (std::vector<U32>{poison, 11, poison, 11, 0, poison, 22, poison}));
}

TEST(Ptx, ThreadsMeet) {
  LoadedBinary kernel = load(R"(#include "common/ptx.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned* out) {
  __shared__ unsigned words[64];
  const unsigned t = threadIdx.x;
  unsigned lane, warp, less, x, count;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp) :);
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
  asm("mad.lo.u32 %0, %%ctaid.x, %%ntid.x, %%tid.x;" : "=r"(x) : "r"(0));
  out[t] = lane + 100 * warp + (x == t ? 10000 : 0);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 7; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(count) : "r"(lane));
  out[64 + t] = count & less;
  int up, from;
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 3, 0x0, 0xffffffff; selp.s32 %1, 1, 0, p; }" : "=r"(up), "=r"(from) : "r"(t));
  out[128 + t] = (unsigned)(up * 2 + from);
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(out[192 + t]) : "r"(t), "r"(5));
  asm volatile("shfl.sync.idx.b32 %0, %1, 1, 0x181f, 0xffffffff;" : "=r"(out[256 + t]) : "r"(t));
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(out[320 + t]) : "r"(t));
  words[t] = t;
  asm volatile("bar.sync 0;" ::: "memory");
  out[384 + t] = words[63 - t];
  // One warp arrives at a barrier and goes on, the other waits for what it has written.
  asm volatile("bar.sync 0;" ::: "memory");
  if (warp == 1) {
    words[t] = t + 1000;
    asm volatile("bar.arrive %0, %1;" :: "r"(3), "r"(64) : "memory");
    out[448 + t] = 0;
  } else {
    asm volatile("bar.sync %0, %1;" :: "r"(3), "n"(64) : "memory");
    out[448 + t] = words[63 - t];
  }
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(out[512 + t]));
})",
                             {}, {64});
  std::vector<U32> out(576);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  for (U32 t = 0; t < 64; ++t) {
    const U32 lane = t % 32;
    EXPECT_EQ(out[t], lane + t / 32 * 100 + 10000);
    EXPECT_EQ(out[64 + t], 127U & ((1U << lane) - 1));
    EXPECT_EQ(out[128 + t], lane < 3 ? 2 * t : 2 * (t - 3) + 1);
    EXPECT_EQ(out[192 + t], t ^ 5U);
    EXPECT_EQ(out[256 + t], (t & ~7U) + 1);
    EXPECT_EQ(out[320 + t], t < 32 ? 496U : 1520U);
    EXPECT_EQ(out[384 + t], 63 - t);
    EXPECT_EQ(out[448 + t], t < 32 ? 63 - t + 1000 : 0);
    EXPECT_EQ(out[512 + t], lane == 0 ? 1U : 0U);
  }
}

// Lane l gives the row l % 8 of matrix l / 8, and gets elements 2 (l % 4) and one further of row l / 4, or
// turned of that column.
TEST(Ptx, MatricesFromSharedMemory) {
  LoadedBinary kernel = load(R"(#include "common/ptx.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned* out) {
  __shared__ __align__(16) unsigned short rows[32][8];
  const int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) rows[t][k] = 8 * t + k;
  __syncwarp();
  const unsigned at = (unsigned)__cvta_generic_to_shared(rows[t]);
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  for (int m = 0; m < 4; ++m) out[m * 32 + t] = r[m];
  asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(r[0]), "=r"(r[1]) : "r"(t < 16 ? at : 0u));
  for (int m = 0; m < 2; ++m) out[128 + m * 32 + t] = r[m];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\n" : "=r"(r[0]) : "r"(at));
  out[192 + t] = r[0];
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};\n" :: "r"(at + 256), "r"(r[0]));
  __syncwarp();
  out[224 + t] = rows[16 + t / 4][2 * (t % 4)];
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out[256 + t]) : "r"(r[0]));
})",
                             {}, {32});
  std::vector<U32> out(288);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  for (U32 t = 0; t < 32; ++t) {
    const U32 g = t / 4, pair = t % 4 * 2;
    for (U32 m = 0; m < 4; ++m) {
      const U32 first = 64 * m + 8 * g + pair;
      EXPECT_EQ(out[32 * m + t], first | (first + 1) << 16);
    }
    for (U32 m = 0; m < 2; ++m) {
      const U32 first = 64 * m + 8 * pair + g;
      EXPECT_EQ(out[128 + 32 * m + t], first | (first + 8) << 16);
    }
    EXPECT_EQ(out[192 + t], out[t]);
    EXPECT_EQ(out[224 + t], 8 * pair + g);
    EXPECT_EQ(out[256 + t], (8 * pair + g) | (8 * pair + 8 + g) << 16);
  }
}

// A shape of mma.sync: how elements are in the registers, by the tables of the PTX ISA.
struct Shape {
  std::string shape, types;
  int m, k, bits;
  std::string number;    // code that makes the bits of a small whole number `v`
  std::string sum;       // letter of the sums' registers
  int sums_of_register;  // 2: halves
};

TEST(Ptx, ProductsOfMatrices) {
  const std::string half = "(unsigned)__half_as_ushort(__half(v))",
                    bfloat = "(unsigned)__bfloat16_as_ushort(__nv_bfloat16(v))";
  const std::vector<Shape> shapes = {
      {"m16n8k16", "f32.f16.f16.f32", 16, 16, 16, half, "f", 1},
      {"m16n8k8", "f32.f16.f16.f32", 16, 8, 16, half, "f", 1},
      {"m16n8k16", "f32.bf16.bf16.f32", 16, 16, 16, bfloat, "f", 1},
      {"m16n8k8", "f32.bf16.bf16.f32", 16, 8, 16, bfloat, "f", 1},
      {"m16n8k16", "f16.f16.f16.f16", 16, 16, 16, half, "r", 2},
      {"m16n8k8", "f32.tf32.tf32.f32", 16, 8, 32, "__float_as_uint((float)v)", "f", 1},
      {"m16n8k4", "f32.tf32.tf32.f32", 16, 4, 32, "__float_as_uint((float)v)", "f", 1},
      {"m16n8k32", "s32.s8.s8.s32", 16, 32, 8, "(unsigned)v & 255u", "r", 1},
      {"m16n8k16", "s32.s8.s8.s32", 16, 16, 8, "(unsigned)v & 255u", "r", 1},
      {"m16n8k32", "s32.u8.u8.s32", 16, 32, 8, "(unsigned)(v + 4) & 255u", "r", 1},
      {"m8n8k16", "s32.s8.s8.s32", 8, 16, 8, "(unsigned)v & 255u", "r", 1},
      {"m8n8k4", "f64.f64.f64.f64", 8, 4, 64, "(unsigned long long)__double_as_longlong((double)v)", "d", 1},
      {"m16n8k8", "f64.f64.f64.f64", 16, 8, 64, "(unsigned long long)__double_as_longlong((double)v)", "d",
       1},
  };
  for (const Shape& one : shapes) {
    const int of_register = one.bits == 64 ? 1 : 32 / one.bits, na = one.m * one.k / 32 / of_register,
              nb = 8 * one.k / 32 / of_register, nd = one.m / 4 / one.sums_of_register;
    const bool is_double = one.bits == 64;
    const std::string word = is_double ? "unsigned long long" : "unsigned", in = is_double ? "d" : "r",
                      number = one.sum == "f"              ? "float"
                               : one.sum == "d"            ? "double"
                               : one.sums_of_register == 2 ? "unsigned"
                                                           : "int";
    const auto list = [](int first, int count) {
      std::string text = "{";
      for (int n = 0; n < count; ++n) text += (n == 0 ? "%" : ", %") + std::to_string(first + n);
      return text + "}";
    };
    const auto operands = [](const std::string& letter, const std::string& name, int count) {
      std::string text;
      for (int n = 0; n < count; ++n)
        text += (n == 0 ? "\"" : ", \"") + letter + "\"(" + name + "[" + std::to_string(n) + "])";
      return text;
    };
    const std::string take = is_double ? "__longlong_as_double((long long)word)" : "word";
    // a[r] has row l / 4 + 8 (r % 2), or row l / 4 of 8 rows; its terms begin at 4 * (r / 2) + l % 4
    // registers.
    const std::string body =
        "#include \"common/ptx.cuh\"\nextern \"C\" __global__ void ENTRY(kernel)(double* out, const int* a, "
        "const "
        "int* b) {\n  constexpr int halves = " +
        std::to_string(one.m / 8) + ", of_register = " + std::to_string(of_register) +
        ", K = " + std::to_string(one.k) + ";\n  const int l = threadIdx.x;\n  " +
        (is_double ? "double" : "unsigned") + " ra[" + std::to_string(na) + "], rb[" + std::to_string(nb) +
        "];\n  for (int r = 0; r < " + std::to_string(na) + "; ++r) {\n    " + word +
        " word = 0;\n    for (int n = 0; n < of_register; ++n) {\n" +
        "      const int v = a[(l / 4 + 8 * (r % halves)) * K + (4 * (r / halves) + l % 4) * of_register + "
        "n];\n" +
        "      word |= (" + word + ")(" + one.number + ") << " + std::to_string(is_double ? 0 : one.bits) +
        " % 32 * n;\n    }\n    ra[r] = " + take + ";\n  }\n  for (int r = 0; r < " + std::to_string(nb) +
        "; ++r) {\n    " + word + " word = 0;\n    for (int n = 0; n < of_register; ++n) {\n" +
        "      const int v = b[((4 * r + l % 4) * of_register + n) * 8 + l / 4];\n      word |= (" + word +
        ")(" + one.number + ") << " + std::to_string(is_double ? 0 : one.bits) +
        " % 32 * n;\n    }\n    rb[r] = " + take + ";\n  }\n  " + number + " d[" + std::to_string(nd) +
        "] = {};\n  for (int times = 0; times < 2; ++times)\n" + "    asm volatile(\"mma.sync.aligned." +
        one.shape + ".row.col." + one.types + " " + list(0, nd) + ", " + list(nd, na) + ", " +
        list(nd + na, nb) + ", " + list(0, nd) + ";\\n\" : " + operands("+" + one.sum, "d", nd) + " : " +
        operands(in, "ra", na) + ", " + operands(in, "rb", nb) + ");\n  for (int n = 0; n < " +
        std::to_string(one.m / 4) + "; ++n)\n    out[(l / 4 + 8 * (n / 2)) * 8 + 2 * " +
        "(l % 4) + n % 2] = " +
        (one.sums_of_register == 2
             ? "(double)(float)__ushort_as_half((unsigned short)(d[n / 2] >> 16 * (n % 2)))"
             : "(double)d[n]") +
        ";\n}\n";
    LoadedBinary kernel = load(body, {}, {32}, 3);
    std::vector<int> a(static_cast<std::size_t>(one.m * one.k)), b(static_cast<std::size_t>(8 * one.k));
    Random random(11);
    for (int& v : a) v = static_cast<int>(random.below(7)) - 3;
    for (int& v : b) v = static_cast<int>(random.below(7)) - 3;
    std::vector<double> out(static_cast<std::size_t>(one.m * 8));
    ASSERT_EQ(kernel.run({out.data(), a.data(), b.data()}), 0) << one.shape << one.types;
    const int more = one.types.find("u8") == std::string::npos ? 0 : 4;
    for (int row = 0; row < one.m; ++row) {
      for (int column = 0; column < 8; ++column) {
        int sum = 0;
        for (int k = 0; k < one.k; ++k)
          sum += (a[static_cast<std::size_t>(row * one.k + k)] + more) *
                 (b[static_cast<std::size_t>(k * 8 + column)] + more);
        ASSERT_EQ(out[static_cast<std::size_t>(row * 8 + column)], 2 * sum)
            << one.shape << " " << one.types << " row " << row << " column " << column;
      }
    }
  }
}

std::string message(const std::string& statements) {
  const Compilation compiled = make_host_toolchain()->compile(host_source(
      "#include \"common/ptx.cuh\"\nextern \"C\" __global__ void ENTRY(kernel)(unsigned* out) {\n" +
      statements + "\n}\n"));
  return compiled.ok ? "" : compiled.log;
}

TEST(Ptx, WhatIsNotUnderstoodIsRefusedWithASentence) {
  const auto says = [](const std::string& statements, const std::string& words) {
    const std::string log = message(statements);
    EXPECT_NE(log.find("The host does not run this asm statement, because " + words), std::string::npos)
        << log;
  };
  says("asm volatile(\"wgmma.fence.sync.aligned;\\n\" ::: \"memory\");",
       "it does not know the instruction wgmma.fence.sync.aligned.");
  says("asm(\"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%0}, {%0}, {%0}, {%0};\" : \"+r\"(*out));",
       "it does not know the instruction mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32.");
  says("asm(\"mov.u32 %0, %%pm0;\" : \"=r\"(*out));", "the host has no register %pm0.");
  says("asm(\"mov.u32 %0, tile;\" : \"=r\"(*out));", "it names tile, which it does not declare.");
  says("asm(\"AGAIN: bra AGAIN;\");", "it has the label AGAIN:.");
  says("asm(\"{ .shared .b32 x; }\");", "it has .shared .b32 x.");
  says("#define ADD \"add.u32 \"\nasm(ADD \"%0, 1, 2;\" : \"=r\"(*out));",
       "its text is put together of macros.");
  // Where no thread comes to it, it is no error.
  EXPECT_EQ(message("if constexpr (sizeof(int) == 8) { asm(\"wgmma.fence.sync.aligned;\"); }"), "");
}

TEST(Ptx, OperandsHaveTheSizeOfTheirConstraint) {
  EXPECT_NE(message("asm(\"mov.u32 %0, 1;\" : \"=r\"(*(unsigned long long*)out));")
                .find("an operand of asm has another size than its constraint says"),
            std::string::npos);
}

// Whatever an asm statement says, it becomes a block of C++ with closed brackets or a sentence, in the same
// lines, and the text around it stays.
TEST(Ptx, AnyTextIsAnswered) {
  const std::string statements[] = {
      "add.u32 %0, %2, %3;",
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p add.s32 %0, %2, 1; @!p mov.u32 %0, 7; }",
      "ld.global.v2.u32 {%0, %0}, [%4 + 16];",
      "cp.async.cg.shared.global.L2::128B [%2], [%4], 16, %3;",
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%1,%1,%1,%1}, {%2,%2,%2,%2}, {%3,%3}, "
      "{%1,%1,%1,%1};",
      "shfl.sync.idx.b32 %0|p, %2, 0x1f, 31, -1;",
      "fma.rn.f32 %1, %1, 0f3F800000, 1.5;",
      "{.reg .b32 r<4>; mov.b32 r0, %[i]; lop3.b32 %0, r0, %2, 010, 0b11101000;}",
      "atom.acq_rel.gpu.global.add.u32 %0, [%4], %2; // more\n",
      "mov.u32 %0, %%laneid; /* c */"};
  const std::string tokens[] = {"{",
                                "}",
                                "[",
                                "]",
                                "%",
                                "%0",
                                "%9",
                                "%[",
                                "%[i]",
                                "%[]",
                                "@",
                                "@!",
                                "!",
                                "|",
                                "_",
                                ",",
                                ";",
                                ".",
                                ":",
                                "-",
                                "+",
                                "<",
                                ">",
                                "$",
                                "\"",
                                "\\",
                                "//",
                                "/*",
                                "*/",
                                "\n",
                                " ",
                                "0x",
                                "0xFFFFFFFFFFFFFFFFF",
                                "99999999999999999999",
                                "018",
                                "0b102",
                                "1.5.5",
                                "1e9",
                                "0f3F8",
                                "0d3FF0000000000000",
                                "U",
                                "add.u32",
                                "ld.global",
                                ".reg .b32 r<2000>;",
                                ".reg",
                                ".pred",
                                "1024",
                                "label:",
                                "WARP_SZ",
                                "%tid.x",
                                "\xc3\xa9",
                                "p",
                                "r0",
                                std::string(100000, '{'),
                                std::string(100000, '['),
                                std::string(100000, '!')};
  const std::string before = "namespace tunesmith_ptx {}\nvoid f() {\n",
                    behind = "; }\nvoid g() { const char* asm_text = \"asm(\"; }\n";
  const std::uint64_t rounds = fuzz_rounds(5000);
  Random random(11);
  std::uint64_t translated = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string ptx = statements[random.below(std::size(statements))];
    for (std::uint64_t left = random.below(4); left > 0; --left) {
      const std::size_t at = random.below(ptx.size() + 1);
      const std::uint64_t kind = random.below(4);
      if (kind == 0) ptx.erase(at, random.below(6));
      if (kind == 1) ptx.resize(at);
      if (kind == 2) ptx.insert(at, tokens[random.below(std::size(tokens))]);
      if (kind == 3 && at < ptx.size()) ptx[at] = static_cast<char>(random.below(256));
    }
    std::string literal;
    for (const char c : ptx)
      literal += c == '\n' ? "\\n" : (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    const std::string text =
        before + "asm volatile(\"" + literal +
        "\"\n : \"=r\"(o), \"+f\"(x) : [i] \"r\"(i + 1), \"r\"(i), \"l\"(p) : \"memory\")" + behind;
    const std::string made = with_ptx_translated(text);
    const std::string why = "the statement " + ptx.substr(0, 300);
    ASSERT_EQ(std::count(made.begin(), made.end(), '\n'), std::count(text.begin(), text.end(), '\n')) << why;
    ASSERT_TRUE(made.ends_with(behind)) << why;
    const std::size_t body = made.find("void f()");
    const bool is_refused = made.find("tunesmith_ptx::not_on_the_host_0()", body) != std::string::npos;
    if (is_refused) continue;
    ++translated;
    std::string open;
    for (const char c : made.substr(body)) {
      constexpr std::string_view opening = "([{", closing = ")]}";
      if (opening.find(c) != std::string_view::npos) open += closing[opening.find(c)];
      if (closing.find(c) == std::string_view::npos) continue;
      ASSERT_TRUE(!open.empty() && open.back() == c) << why;
      open.pop_back();
      if (open.empty() && c == '}') break;  // f()'s
    }
    ASSERT_TRUE(open.empty()) << why;
  }
  EXPECT_GT(translated, rounds / 10) << "some are still instructions";
}

// Changes anywhere in a statement, and where it ends.
TEST(Ptx, AnyStatementIsRead) {
  const std::string whole =
      "namespace tunesmith_ptx {}\n#define M asm volatile(\"add.u32 %0, %1, 2;\" \\\n \"\" : \"=r\"(x) : "
      "\"r\"(y[f(2)]), [n] \"l\"('a') : \"memory\");\nasm(R\"x(mov.u32 %0, 1;)x\" : \"=r\"(a ? b : c::d)); "
      "// "
      "asm(\n\"asm(\"";
  const std::string marks = "\"'\\()[]{}:,/*R\n#";
  Random random(12);
  for (std::uint64_t round = 0; round < fuzz_rounds(5000); ++round) {
    std::string text = whole;
    const std::size_t first = text.find('\n') + 1;
    for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
      const std::size_t at = first + random.below(text.size() - first + 1);
      if (random.below(2) == 0) {
        text.insert(at, 1, marks[random.below(marks.size())]);
      } else {
        text.erase(at, random.below(8));
      }
    }
    const std::string made = with_ptx_translated(text);
    ASSERT_EQ(std::count(made.begin(), made.end(), '\n'), std::count(text.begin(), text.end(), '\n')) << text;
  }
}

TEST(Ptx, TheTextKeepsItsLines) {
  const std::string
      before = "namespace tunesmith_ptx {}\n",
      text = before +
             "#define COPY(to, from) \\\n  asm volatile(\"cp.async.ca.shared.global [%0], \" \\\n    "
             "\"[%1], 4;\" :: \"r\"(to), \"l\"(from))\nvoid f() {\n  asm(\"not.b32 %0, %0;\"\n   "
             "   : \"+r\"(x)); // asm(\"\")\n  const char* s = \"asm(\";\n}\n";
  const std::string made = with_ptx_translated(text);
  EXPECT_EQ(std::count(made.begin(), made.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(made.find("asm volatile"), std::string::npos);
  EXPECT_NE(made.find("// asm(\"\")\n  const char* s = \"asm(\";"), std::string::npos);
  EXPECT_EQ(with_ptx_translated(text.substr(before.size())), text.substr(before.size()));
}

}  // namespace
}  // namespace tunesmith
