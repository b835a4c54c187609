// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/kernel_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OwnSource, CommentsAndLiteralsAreBlank) {
  EXPECT_EQ(blanked("a/*b\nc*/d//e\nf\"g\\\"h\"'i'"), "a   \n   d   \nf\"    \"' '");
  EXPECT_EQ(blanked("1'000"), "1'000") << "no character";
  EXPECT_EQ(blanked("/* open"), "       ");
}

TEST(OwnSource, FindsKernelsAndTheirParameters) {
  const auto kernels = kernels_of(R"(
// __global__ void no(int a);
#define KERNEL __global__ void neither(int a)
extern "C" __global__ void __launch_bounds__(256, 2) one(const float* __restrict__ x, float *y, const unsigned int n,
                                                        long long stride, Tuple<int, 2> t, int sizes[]) {}
template <typename T>
__global__ void two(T* x) {}
__global__ void three() {}
__global__ void three();
static const char* text = "__global__ void nor(int a) ";
)");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].name, "one");
  EXPECT_EQ(kernels[0].line, 4);
  ASSERT_EQ(kernels[0].parameters.size(), 6U);
  EXPECT_EQ(kernels[0].parameters[0].type, "float*");
  EXPECT_EQ(kernels[0].parameters[0].name, "x");
  EXPECT_TRUE(kernels[0].parameters[1].is_pointer);
  EXPECT_EQ(kernels[0].parameters[2].type, "unsigned int");
  EXPECT_EQ(kernels[0].parameters[3].type, "long long");
  EXPECT_EQ(kernels[0].parameters[4].type, "Tuple<int, 2>");
  EXPECT_TRUE(kernels[0].parameters[5].is_pointer);
  EXPECT_FALSE(kernels[0].is_template);
  EXPECT_TRUE(kernels[1].is_template);
  EXPECT_TRUE(kernels[2].parameters.empty());
}

TEST(OwnSource, AStaticKernelIsExported) {
  for (const char* text :
       {"__global__ static void k(float* y) {}\n", "static __global__ void k(float* y) {}\n"})
    EXPECT_EQ(kernel_body(text, {}).text.find("static"), std::string::npos) << text;
}

TEST(OwnSource, ParametersMayDependOnABranch) {
  const std::string vector = "#if WIDE == 2\ntypedef float2 vector;\n#else\ntypedef float vector;\n#endif\n";
  const auto line_of_others = [&](const std::string& list) {
    const auto kernels = kernels_of(vector + "__global__ void k(" + list + ") {}\n");
    return kernels.size() == 1 ? kernels[0].other_line : -1;
  };
  const std::string both =
      "\n#if TURNED\nvector* y, const float* x,\n#else\nfloat* y, const vector* x,\n#endif\nint n";
  EXPECT_EQ(line_of_others(both), 0);
  const auto kernels = kernels_of(vector + "__global__ void k(" + both + ") {}\n");
  ASSERT_EQ(kernels.at(0).parameters.size(), 3U);
  EXPECT_EQ(kernels[0].parameters[0].type, "vector*") << "the type that has several meanings";
  EXPECT_EQ(kernels[0].parameters[1].type, "vector*");
  EXPECT_EQ(kernels[0].parameters[2].name, "n");
  EXPECT_EQ(line_of_others("\n#if TURNED\nfloat* y, const float* x,\n#else\n   \n#endif\nint n"), 0)
      << "what is not compiled is blank";
  EXPECT_GT(line_of_others("\n#if TURNED\nfloat* y,\n#else\nint* y,\n#endif\nint n"), 0);
  EXPECT_GT(line_of_others("\n#if TURNED\nfloat* y, float* x,\n#else\nfloat* x, float* y,\n#endif\nint n"),
            0);
  EXPECT_GT(line_of_others("float* y\n#ifdef COUNTED\n, int n\n#endif\n"), 0);
  EXPECT_EQ(line_of_others("\n#if TURNED && \\\n    WIDE\nfloat* y,\n#else\nfloat* y,\n#endif\nint n"), 0)
      << "a condition that a backslash continues is no parameter";
  // In two definitions.
  const auto two = kernels_of(vector +
                              "#if TURNED\n__global__ void k(vector* y, int n) {}\n#else\n__global__ void "
                              "k(float* y, int n) {}\n#endif\n");
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(two[0].other_line, 0);
  EXPECT_EQ(two[0].parameters[0].type, "vector*");
}

bool is_cmath(const std::string& header) { return header == "<cmath>"; }

TEST(OwnSource, KnowsWhatTutorialsWrite) {
  const auto rendered = [](const std::string& text, const std::vector<std::string>& constants = {}) {
    const KernelBody body = kernel_body(text, constants, {.is_known_header = is_cmath});
    return body.text + body.behind;
  };
  EXPECT_EQ(
      rendered(
          "__device__ float f() { static __shared__ float s[32]; __shared__ static int t; return s[t]; }"),
      "__device__ float f() {        __shared__ float s[32]; __shared__        int t; return s[t]; }");
  // With dynamic shared memory at file scope, each function that names it has it.
  EXPECT_EQ(rendered("extern __shared__ float s[];\n__device__ void f(int n = 1) { s[n] = 0; }\n"
                     "__device__ void g(float* s) { *s = 0; }\nstruct P { int s; };\n"),
            "\n__device__ void f(int n = 1) { DYNAMIC_SHARED(float, s); s[n] = 0; }\n"
            "__device__ void g(float* s) { *s = 0; }\nstruct P { int s; };\n");
  EXPECT_EQ(
      rendered("extern \"C\" { __global__ void k() { extern __shared__ __align__(sizeof(int)) char c[]; } }"),
      "extern \"C\" { extern \"C\" __global__ void ENTRY(k)() { DYNAMIC_SHARED(char, c); } }");
  EXPECT_EQ(rendered("__device__ void f() { extern __shared__ float s[][ N ]\n[4]; s[1][2][3] = 0; }"),
            "__device__ void f() { using tunesmith_row_of_s = float[ N ] [4]; "
            "DYNAMIC_SHARED(tunesmith_row_of_s, s);\n s[1][2][3] = 0; }");
  // Branches of an #if may open the same braces.
  EXPECT_EQ(rendered("__device__ void f(int n) {\nextern __shared__ int s[];\n#if N == 2\nfor (;n > 3;) {\n"
                     "#elif N\nfor (;;) {\n#else\nwhile (n) {\n#endif\ns[n] = 0; }\n}\nint g();\n"),
            "__device__ void f(int n) {\nDYNAMIC_SHARED(int, s);\n#if N == 2\nfor (;n > 3;) {\n"
            "#elif N\nfor (;;) {\n#else\nwhile (n) {\n#endif\ns[n] = 0; }\n}\nint g();\n");
  EXPECT_EQ(rendered("namespace a { namespace b {\n__global__ void k(int n) {}\n} }\n"),
            "namespace a { namespace b {\nextern \"C\" __global__ void ENTRY(k)(int n) {}\n} }\n"
            "using a::b::ENTRY(k);\n");
  EXPECT_EQ(rendered("namespace {\n__global__ void k() {}\n}\n"),
            "inline namespace tunesmith_own {\nextern \"C\" __global__ void ENTRY(k)() {}\n}\n"
            "using tunesmith_own::ENTRY(k);\n");
  EXPECT_EQ(rendered("#define B 3\nint a[B];\n#undef B\n", {"B"}), "           \nint a[B];\n        \n");
  // Code in a condition on the device stays in it.
  const KernelBody body = kernel_body(
      "#include <a.h>\n#ifdef __CUDA_ARCH__\n#include <b.h>\n#include <cmath>\n#else\n#include "
      "<c.h>\n#endif\n"
      "#ifndef GUARD\n#include <d.h>\n#endif\n",
      {}, {.is_known_header = is_cmath});
  EXPECT_EQ(body.includes, "<a.h>\n<d.h>\n");
  EXPECT_THAT(body.text, HasSubstr("#ifdef __CUDA_ARCH__\n#include <b.h>\n"));
  EXPECT_THAT(body.text, HasSubstr("#else\n#include <c.h>\n#endif\n"));
  EXPECT_THAT(body.text, Not(HasSubstr("cmath")));
  EXPECT_TRUE(is_outside("../up.cuh"));
  EXPECT_TRUE(is_outside("/etc/hostname"));
  EXPECT_TRUE(is_outside("a/../../b"));
  EXPECT_FALSE(is_outside("detail/part.cuh"));
}

TEST(OwnSource, ADeclarationWithOtherParametersIsSeen) {
  const auto other_line = [](const std::string& text) {
    const auto kernels = kernels_of(text);
    return kernels.empty() ? -1 : kernels.front().other_line;
  };
  const std::string first = "__global__ void k(const float* x, int n) {}\n";
  EXPECT_EQ(other_line(first + "__global__ void k(const float* x, int n) {}\n"), 0) << "one of two branches";
  EXPECT_EQ(other_line("__global__ void k(const float*, int);\n" + first), 0);
  EXPECT_EQ(kernels_of("__global__ void k(const float*, int);\n" + first).front().parameters[1].name, "n");
  EXPECT_EQ(other_line(first + "__global__ void k(const float*, int);\n"), 0);
  for (const char* other :
       {"__global__ void k(const double* x, int n) {}\n", "__global__ void k(const float* n, int x) {}\n",
        "__global__ void k(const float* x) {}\n", "__global__ void k(const float* x, unsigned n);\n"}) {
    EXPECT_EQ(other_line(first + other), 2) << other;
    EXPECT_GT(other_line(other + first), 0) << other;
  }
  const auto function = function_of("void f(int a) {}\nint g() { return 1; }\nvoid f(long a) {}\n", "f");
  EXPECT_EQ(function->declared.other_line, 3);
  EXPECT_EQ(function->declared.line, 1);
}

// Both words __global__ belong to one declaration.
TEST(OwnSource, AnIfMayStandInADeclaration) {
  const std::string text =
      "#if MIN > 0\n__global__ __launch_bounds__(64, MIN)\n#else\n__global__ __launch_bounds__(64)\n#endif\n"
      "void k(float* y) {}\n";
  EXPECT_EQ(kernels_of(text).size(), 1U);
  EXPECT_EQ(kernel_body(text, {"MIN"}).text,
            "#if MIN > 0\nextern \"C\" __global__ __launch_bounds__(64, MIN)\n#else\nextern \"C\" __global__ "
            "__launch_bounds__(64)\n#endif\nvoid ENTRY(k)(float* y) {}\n");
}

TEST(OwnSource, WhatIsNeverCompiledIsNeverRead) {
  const std::string text =
      "#ifndef TUNESMITH\n#include <iostream>\n__global__ void host(int) {\n#endif\n#if 0\n#include "
      "<chrono>\n"
      "void broken( {\n#endif\n#include <mma.h>\n#ifdef __CUDA_ARCH__\n#include <cuda/barrier>\n#endif\n"
      "#if AXIS\n#include <cub/cub.cuh>\n#endif\n__global__ void k(float* y) {}\n";
  const KernelBody body =
      kernel_body(text, {"AXIS"}, {.is_known_header = is_cmath, .in_place = [](auto&) { return "here"; }});
  EXPECT_EQ(body.includes, "<mma.h>\n<cub/cub.cuh>\n");
  EXPECT_EQ(body.conditional_includes, "<iostream>\n<chrono>\n<cuda/barrier>\n");
  EXPECT_EQ(body.text,
            "#ifndef TUNESMITH\n#include <iostream>\n__global__ void host(int) {\n#endif\n#if 0\n#include "
            "<chrono>\nvoid broken( {\n#endif\nhere\n#ifdef __CUDA_ARCH__\n#include <cuda/barrier>\n#endif\n"
            "#if AXIS\nhere\n#endif\nextern \"C\" __global__ void ENTRY(k)(float* y) {}\n");
}

TEST(OwnSource, OwnDefinitionsGiveWayAndLinesStay) {
  const std::string text =
      "#include <cuda_runtime.h>\n"
      "#ifndef BLOCK\n"
      "#define BLOCK 32  // threads\n"
      "#endif\n"
      "constexpr int ITEMS = 4; static const unsigned WIDE = 2;\n"
      "using T = float;\n"
      "typedef float U;\n"
      "#define LONG \\\n  3\n"
      "__global__ void k(T* x) { extern __shared__ float tile[]; if (ITEMS == 4) x[0] = BLOCK; }\n";
  const KernelBody body = kernel_body(text, {"BLOCK", "ITEMS", "WIDE", "T", "U", "LONG"});
  EXPECT_EQ(std::count(body.text.begin(), body.text.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(body.includes, "<cuda_runtime.h>\n");
  EXPECT_EQ(body.notes.size(), 6U);
  EXPECT_EQ(body.notes[0], "BLOCK is defined by Tunesmith; line 3 gives way: #define BLOCK 32 // threads");
  for (const char* gone : {"define", "constexpr", "static", "using", "typedef", "include"})
    EXPECT_THAT(body.text, Not(HasSubstr(gone))) << gone;
  EXPECT_THAT(body.text, HasSubstr("#ifndef BLOCK\n"));
  EXPECT_THAT(body.text,
              HasSubstr("extern \"C\" __global__ void ENTRY(k)(T* x) { DYNAMIC_SHARED(float, tile); "
                        "if (ITEMS == 4) x[0] = BLOCK; }"));
}

TEST(OwnSource, WhatOnlyLooksLikeADefinitionStays) {
  const std::string text =
      "int f(int BLOCK = 3);\nint y = BLOCK;\n#undef BLOCK2\nif (x == BLOCK) BLOCK == 3;\n";
  EXPECT_EQ(kernel_body(text, {"BLOCK"}).text, text);
}

TEST(OwnSource, TheFormOfAConstantIsSeen) {
  EXPECT_EQ(form_of("int x = BLOCK;", "BLOCK"), ConstantForm::expression);
  EXPECT_EQ(form_of("#if BLOCK > 3\n#endif", "BLOCK"), ConstantForm::macro);
  EXPECT_EQ(form_of("#pragma unroll BLOCK\n", "BLOCK"), ConstantForm::expression);
  EXPECT_EQ(form_of("int BLOCK_X; // BLOCK", "BLOCK"), ConstantForm::none);
}

}  // namespace
}  // namespace tunesmith
