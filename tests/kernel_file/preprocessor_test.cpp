// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/preprocessor.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

// A letter for each line: y if it is compiled, n if not, m if that is not known.
std::string lines_of(const CompiledText& text) {
  std::string letters;
  for (const Truth line : text.lines) letters += line == Truth::yes ? 'y' : line == Truth::no ? 'n' : 'm';
  return letters;
}

// The letter of a line within this condition.
char decided(const std::string& condition, const std::string& before = "") {
  const std::string text = before + condition + "\nhere\n#endif";
  const std::string lines = lines_of(compiled_texts(text, {}, {"AXIS"}).front());
  return lines[lines.size() - 2];
}

TEST(Preprocessor, DecidesWhatCanBeDecided) {
  for (const auto& [condition, wanted] : std::initializer_list<std::pair<const char*, char>>{
           {"#if 0", 'n'},
           {"#if 1", 'y'},
           {"#  if 0x10 == 16", 'y'},
           {"#ifdef TUNESMITH", 'y'},
           {"#ifndef TUNESMITH", 'n'},
           {"#if !defined(TUNESMITH)", 'n'},
           {"#if ! defined TUNESMITH || 0", 'n'},
           {"#if TUNESMITH", 'y'},
           {"#ifdef NOBODY_KNOWS", 'n'},
           {"#if NOBODY_KNOWS", 'n'},
           {"#if defined(NOBODY_KNOWS) && __CUDA_ARCH__ > 700", 'n'},
           {"#if defined(TUNESMITH) || __CUDA_ARCH__ > 700", 'y'},
           {"#if defined(TUNESMITH) && __CUDA_ARCH__ > 700", 'm'},
           {"#ifdef __CUDA_ARCH__", 'm'},
           {"#ifdef __CUDACC__", 'm'},
           {"#ifdef TUNESMITH_HOST", 'm'},
           {"#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)", 'n'},
           {"#if defined(__CUDACC__) || defined(TUNESMITH_HOST)", 'y'},
           {"#ifndef INFINITY", 'm'},
           {"#if CUDART_VERSION >= 12000", 'm'},
           {"#if __has_include(<mma.h>)", 'm'},
           {"#ifdef AXIS", 'y'},
           {"#ifndef AXIS", 'n'},
           {"#if AXIS", 'm'},
           {"#if AXIS > 2 && 0", 'n'},
           {"#if 2 + 3 * 4 - 1 == 13 && 7 / 2 == 3 && 7 % 4 == 3 && -1 < 0 && (1 <= 0) == 0", 'y'},
           {"#if 1 /", 'm'},
           {"#if 1 / 0", 'm'},
           {"#if (1", 'm'},
           {"#if 1 << 3", 'm'},
           {"#if ALL(1)", 'm'},
           {"#if", 'm'},
           {"#if 100u > 99LL", 'y'},
           {"#if 1 \\\n  && 0", 'n'}})
    EXPECT_EQ(decided(condition), wanted) << condition;
  for (const auto& [before, condition, wanted] :
       std::initializer_list<std::tuple<const char*, const char*, char>>{
           {"#define A 3\n", "#if A == 3", 'y'},
           {"#define A (B + 1)\n#define B 2\n", "#if A == 3", 'y'},
           {"#define A A\n", "#if A", 'm'},
           {"#define A\n", "#ifdef A", 'y'},
           {"#define A 3\n#undef A\n", "#ifdef A", 'n'},
           {"#if 0\n#define A 3\n#endif\n", "#ifdef A", 'n'},
           {"#ifdef __CUDA_ARCH__\n#define A 3\n#endif\n", "#ifdef A", 'm'},
           {"#define A(x) x\n", "#if A(1)", 'm'},
           {"#define AXIS 3\n", "#if AXIS == 3", 'm'},
           {"// #define A\n/* #define A */\n", "#ifdef A", 'n'}})
    EXPECT_EQ(decided(condition, before), wanted) << before << condition;
}

TEST(Preprocessor, TakesOneBranch) {
  const auto of = [](const std::string& text) {
    return lines_of(compiled_texts(text, {}, {"AXIS"}).front());
  };
  EXPECT_EQ(of("#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif\ne"), "ynyyynynyy");
  EXPECT_EQ(of("#if AXIS\na\n#elif 1\nb\n#else\nc\n#endif"), "ymymyny");
  EXPECT_EQ(of("#if AXIS\n#if 0\na\n#else\nb\n#endif\n#endif"), "ymnmmmy");
  EXPECT_EQ(of("#endif\na\n#else\n"), "yyyy") << "what is broken is a compiler's matter";
  const CompiledText text = compiled_texts("a\n#if 0\nbcd /* e */\n#endif\n", {}, {}).front();
  EXPECT_EQ(text.text, "a\n#if 0\n           \n#endif\n") << "all places stay";
}

TEST(Preprocessor, TheGuardOfAHeaderIsTakenOnce) {
  const auto of = [](const std::string& text) { return lines_of(compiled_texts(text, {}, {}).front()); };
  EXPECT_EQ(of("// a header\n#ifndef _OWN_H\n#define _OWN_H\na\n#endif"), "yyyyy");
  EXPECT_EQ(of("#ifndef _OWN_H\nb\n#define _OWN_H\n#endif"), "ymmy") << "it is no guard";
  EXPECT_EQ(of("#ifndef __CUDA_ARCH__\n#define __CUDA_ARCH__\na\n#endif"), "ymmy") << "the compiler's";
}

TEST(Preprocessor, FollowsIncludes) {
  const auto texts = compiled_texts(
      "#define FIRST\n#include \"a.cuh\"\n#ifdef OF_A\nyes\n#endif\n#if 0\n#include \"b.cuh\"\n#endif\n"
      "#ifdef __CUDA_ARCH__\n#include \"c.cuh\"\n#endif\n",
      {{"a.cuh", "#pragma once\n#ifdef FIRST\n#define OF_A\n#endif\n#include \"a.cuh\"\n"},
       {"b.cuh", "never\n"},
       {"c.cuh", "sometimes\n#include \"c.cuh\"\n"}},
      {});
  ASSERT_EQ(texts.size(), 4U);
  EXPECT_EQ(lines_of(texts[0])[3], 'y');
  EXPECT_EQ(lines_of(texts[1]), "yyyyyy");
  EXPECT_EQ(lines_of(texts[2]), "nn");
  EXPECT_EQ(lines_of(texts[3]), "mmm");
}

}  // namespace
}  // namespace tunesmith
