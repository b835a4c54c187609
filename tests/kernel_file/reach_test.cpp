// SPDX-License-Identifier: Apache-2.0
// Tests what of a text its kernels reach. Leaving out too much may choose another overload without a word, so
// most cases are of what must stay.
#include "kernel_file/reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "generator/random.h"
#include "kernel_file/kernel_source.h"

namespace tunesmith {
namespace {

const std::string tuned_k = "__global__ void k(float* y, int n) { y[0] = f(n); }\n";

std::vector<CompiledText> texts_of(const std::string& text) { return compiled_texts(text, {}, {"AXIS"}); }

// The text without what the kernel k does not reach.
std::string reached(std::string text, const std::vector<std::string>& used = {}) {
  leave_out(text, reach_of(texts_of(text), {"k"}, used).unreached.front());
  return text;
}

bool keeps(const std::string& text, const std::string& part, const std::vector<std::string>& used = {}) {
  return reached(text, used).find(part) != std::string::npos;
}

TEST(Reach, HostCodeAndOtherKernelsAreLeftOut) {
  const std::string host =
      "int main(int argc, char** argv) {\n  std::vector<float> x(10);\n  k<<<1, 32>>>(x.data(), 10);\n"
      "#ifdef DEBUG\n  std::cout << 1;\n#endif\n}\n";
  const std::string left = reached("float f(int n) { return n; }\n" + tuned_k + host);
  EXPECT_EQ(left.find("main"), std::string::npos) << left;
  EXPECT_EQ(left.find("cout"), std::string::npos) << left;
  EXPECT_NE(left.find("#ifdef DEBUG"), std::string::npos) << "lines of the preprocessor stay\n" << left;
  EXPECT_EQ(std::count(left.begin(), left.end(), '\n'), 9);
  for (const char* part : {"__global__ void other(cudaPitchedPtr p) { asm(\"\"); }\n",
                           "void launch(float* y) { k<<<1, 1>>>(y, 1); }\n",
                           "template <typename T>\nstruct Timer { std::vector<T> all; };\n",
                           "static cublasHandle_t handle;\n",
                           "using Clock = std::chrono::steady_clock;\n",
                           "typedef std::pair<int, int> Pair;\n",
                           "using namespace std;\n",
                           "std::ostream& operator<<(std::ostream& out, float4 v) { return out << v.x; }\n",
                           "enum class Backend { cublas, own };\n",
                           "Timer::Timer(int n) : a(n), b{1} { start(); }\n",
                           "template <typename T> void reduce(int n, T* x) { k<<<1, 1>>>(x, n); }\n",
                           "template void reduce<float>(int, float*);\n",
                           "void launch(int, float*);\n",
                           "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"k\", &k); }\n",
                           "TORCH_MODULE_OF(x, m) {\n  m.def(\"k\", &k);\n}\n",
                           "REGISTER_OF(k) { return 1; }\n",
                           "void (*callback)(int, float*) = launch;\n",
                           "static void (*all[])(int k,\n float* y) = {one, two,\n three};\n",
                           "std::function<void(int)> callback = [](int n) { run(n); };\n",
                           "extern \"C\" void run(float* y) { k<<<1, 1>>>(y, 1); }\n",
                           "bool operator==(const std::string& a, int b) { return a.size() == b; }\n",
                           "namespace fs = std::filesystem;\n",
                           "char *names[] = {\"a\", \"b;}\"}, *more;\n"}) {
    const std::string text = "float f(int n) { return n; }\n" + std::string(part) + tuned_k;
    EXPECT_EQ(reached(text).find_first_not_of(" \n", 29), text.size() - tuned_k.size())
        << part << reached(text);
  }
}

// A use of a macro has no semicolon where the macro is a whole function.
TEST(Reach, UsesOfMacrosThatLaunchKernelsAreLeftOut) {
  const std::string macros =
      "#define CALL(T) k<<<1, 1>>>((T*)y.data_ptr(), 1);\n"
      "#define BIND(name, T) \\\n  torch::Tensor name(torch::Tensor y) { \\\n    CALL(T) \\\n  }\n"
      "#define LOAD(name, T) __device__ T name(const T* x) { return *x; }\n"
      "#define LIMIT(n) __launch_bounds__(n)\n";
  const std::string uses =
      "BIND(k_f32, float)\nBIND(k_f64, double)\n\nLOAD(load, float)\n"
      "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"k\", &k); }\n";
  const std::string text =
      macros + uses + "LIMIT(128)\n__global__ void k(float* y, int n) { y[n] = load(y); }\n";
  const std::string left = reached(text);
  EXPECT_EQ(blanked(left).find("BIND("), macros.find("BIND(")) << left;
  EXPECT_EQ(left.find("BIND(k_f32"), std::string::npos) << left;
  EXPECT_EQ(left.find("BIND(k_f64"), std::string::npos) << left;
  EXPECT_EQ(left.find("PYBIND11"), std::string::npos) << left;
  EXPECT_NE(left.find("LOAD(load, float)"), std::string::npos) << left;
  EXPECT_NE(left.find("LIMIT(128)"), std::string::npos) << left;
}

TEST(Reach, BranchesMayOpenTheSameBraces) {
  std::string equals = "AXIS == WIDE";
  const auto with = [&](const std::string& first, const std::string& second, const std::string& behind) {
    return reached("#define WIDE 1\nfloat f(int n) {\n#if " + equals + "\n  " + first + "\n#else\n  " +
                   second + "\n#endif\n    n += 1;\n  " + behind + "\n  return n;\n}\n" + tuned_k +
                   "int main() { k<<<1, 32>>>(x, 10); }\n");
  };
  for (const auto& [first, second, behind] :
       std::vector<std::array<std::string, 3>>{{"for (int i = 0; i < n; ++i) {", "while (n < 9) {", "}"},
                                               {"if (n > 1) { if (n > 2) {", "{ for (;;) {", "} }"},
                                               {"n = max(n,", "n = min(n, (", "0));"}}) {
    const std::string left = with(first, second, behind);
    if (behind == "0));") {  // parentheses that differ: all stays
      EXPECT_NE(left.find("main"), std::string::npos) << left;
      continue;
    }
    EXPECT_EQ(left.find("main"), std::string::npos) << left;
    EXPECT_NE(left.find("#define WIDE"), std::string::npos) << left;
    EXPECT_NE(left.find(first), std::string::npos) << left;
    EXPECT_NE(left.find(second), std::string::npos) << left;
  }
  equals = "AXIS == \\\n  (WIDE ? WIDE : {2})";  // a backslash continues it; its brackets are no code
  const std::string left = with("for (;;) {", "while (n < 9) {", "}");
  EXPECT_EQ(left.find("main"), std::string::npos) << left;
}

TEST(Reach, AnOverloadSetIsKeptAsAWhole) {
  const std::string other = "double f(double x) { return std::abs(x); }\n";
  EXPECT_TRUE(keeps("__device__ float f(float x) { return x; }\n" + other + tuned_k, other));
  const std::string special = "template <> __device__ float g<float>(float x) { return 2 * x; }\n";
  const std::string of_template = "template <typename T> __device__ T g(T x) { return x; }\n" + special +
                                  "__device__ float f(int n) { return g(1.f * n); }\n";
  EXPECT_TRUE(keeps(of_template + tuned_k, special));
  const std::string traits = "template <> struct Traits<float> { static const int value = 2; };\n";
  EXPECT_TRUE(keeps("template <typename T> struct Traits { static const int value = 1; };\n" + traits +
                        "__device__ float f(int n) { return Traits<float>::value; }\n" + tuned_k,
                    traits));
}

TEST(Reach, OperatorsOfDeviceCodeStay) {
  const std::string times = "__device__ float4 operator*(float4 a, float b) { return a; }\n";
  EXPECT_TRUE(keeps("__device__ float f(int n) { return n; }\n" + times + tuned_k, times));
  // An operator without __device__ belongs to the same set, and so does one whose types the kernel has.
  const std::string plain = "float4 operator*(float4 a, double b) { return a; }\n";
  EXPECT_TRUE(keeps("__device__ float f(int n) { return n; }\n" + times + plain + tuned_k, plain));
  const std::string own = "struct V { int a; };\nbool operator<(V a, V b) { return a.a < b.a; }\n";
  EXPECT_TRUE(keeps(own + "__device__ float f(int n) { V v{n}; return v < v; }\n" + tuned_k, "operator<"));
  EXPECT_FALSE(keeps(own + "__device__ float f(int n) { return n < 2; }\n" + tuned_k, "operator<"));
}

// A parameter's name is no type: `b` is also a variable of the host.
TEST(Reach, NamesOfParametersLeaveAnOperator) {
  const std::string text =
      "std::vector<int> b;\nstruct V { int a; operator int() const; };\nbool operator<(const V a, const V b) "
      "{ return a.a > "
      "b.a; }\ntemplate <typename T> T operator-(T a, V b) { return a; }\ntypedef int T;\n"
      "__device__ float f(int n) { V v{n}; return v < v; }\n";
  EXPECT_TRUE(keeps(text + tuned_k, "operator<"));
  EXPECT_TRUE(keeps(text + tuned_k, "operator-"));
}

TEST(Reach, ACHeaderInCppIsRead) {
  const std::string text =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid host(FILE* file);\n#ifdef __cplusplus\n}\n#endif\n"
      "using namespace other;\n";
  EXPECT_FALSE(keeps(text + tuned_k, "FILE"));
  EXPECT_TRUE(keeps(text + tuned_k, "using namespace other"));
}

TEST(Reach, ADeviceFunctionIsReachedByItsNameAlone) {
  const std::string text =
      "__device__ float larger(float a, float b) { return a; }\n"
      "__device__ float f(int n) { { float larger = 1; } return apply<float, larger>(n); }\n";
  EXPECT_TRUE(keeps(text + tuned_k, "float larger(float"));
}

TEST(Reach, WhatIsReachedByWaysAroundStays) {
  for (const std::string& text : std::initializer_list<std::string>{
           // by a macro, by one that makes names, by an initialiser and by a type
           "#define F(x) helper(x)\nfloat helper(int x) { return x; }\n__device__ float f(int n) { return "
           "F(n); }\n",
           "#define NAME(x) hel##x\nfloat helper(int x) { return x; }\n__device__ float f(int n) { return "
           "NAME(per)(n); }\n",
           "constexpr int helper(int x) { return x; }\n__constant__ int two = helper(2);\n__device__ float "
           "f(int n) { "
           "return two; }\n",
           "struct helper { float x; };\ntypedef helper Other;\n__device__ float f(int n) { Other o; return "
           "o.x; }\n",
           "namespace a { __host__ __device__ float helper(int n) { return n; } }\n__device__ float f(int n) "
           "{ return "
           "a::helper(n); }\n",
           "float helper(int n) { return n; }\nfloat (*pointer)(int) = helper;\n__device__ float f(int n) { "
           "return "
           "pointer(n); }\n",
           "template <float (*F)(int)> __device__ float apply(int n) { return F(n); }\nfloat helper(int n) { "
           "return n; "
           "}\n__device__ float f(int n) { return apply<helper>(n); }\n",
           // in a form that is not read
           "DEFINE(x)\nfloat helper(int n) { return n; }\n",
           "MACRO_OF(helper) float helper(int n) { return n; }\n",
           "auto helper(int n) requires true { return n; }\n",
           "#if AXIS\nfloat helper(int n) {\n#else\nfloat helper(float n) {\n#endif\n  return n; }\n",
           "#ifdef __CUDA_ARCH__\n#define ATTRIBUTE __device__\n#endif\nATTRIBUTE\n#if AXIS\n#endif\nfloat "
           "helper(int n) { "
           "return n; }\n"}) {
    EXPECT_TRUE(keeps(text + tuned_k, "helper(int") || keeps(text + tuned_k, "struct helper") ||
                keeps(text + tuned_k, "helper(float"))
        << text << "---\n"
        << reached(text + tuned_k);
  }
  EXPECT_TRUE(keeps("struct Add { };\n" + tuned_k, "struct Add", {"Add"})) << "a template's argument";
}

TEST(Reach, ALocalVariableIsNoFunction) {
  const std::string sum = "float sum(const std::vector<float>& x) { return x[0]; }\n";
  EXPECT_FALSE(
      keeps(sum + "__device__ float f(int n) { float sum = n; float* start = &sum; return sum; }\n" + tuned_k,
            "vector"));
  EXPECT_TRUE(keeps(sum + "__device__ float f(int n) { float y = sum(n); return y; }\n" + tuned_k, "vector"));
  EXPECT_FALSE(keeps("void k(std::vector<float>& x) { k<<<1, 1>>>(x.data(), 1); }\n" + tuned_k, "vector"))
      << "a host function with the kernel's name";
}

TEST(Reach, MembersGoWithTheirClass) {
  const std::string text =
      "struct Box { __device__ float at(int n); float x; };\n__device__ float Box::at(int n) { return x; }\n"
      "struct Window { void at(int n); std::string name; };\nvoid Window::at(int n) { name = \"\"; }\n"
      "__device__ float f(int n) { Box box; return box.at(n); }\n";
  EXPECT_TRUE(keeps(text + tuned_k, "Box::at"));
  EXPECT_FALSE(keeps(text + tuned_k, "Window"));
}

TEST(Reach, CommentsOfLinesThatStayAreWhole) {
  const std::string text = "void host() {\n#define TWO 2 /* of\n  two */\n  run();\n}\n";
  const std::string left = reached(text + tuned_k);
  EXPECT_EQ(blanked(left).find("two"), std::string::npos) << left;
}

// Pieces are lost, doubled and moved: nothing is written outside of the text, and lines stay.
TEST(Reach, AnyTextIsAnswered) {
  const std::string good =
      "#include <x>\n#define M(a) a##b\ntemplate <int N, typename T = int> struct A : B<N> { int x[N]; "
      "};\nnamespace n {\n"
      "inline int f(int a = 2) { return a < 3 ? 1 : 2; }\n#if AXIS\nvoid g();\n#else\nint h{2}, *i = "
      "&h;\n#endif\n}\n"
      "A<2>::A() : a(1), b{2} {}\nbool operator()(int) { return true; }\n" +
      tuned_k;
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      const std::size_t size = std::min<std::size_t>(1 + random.below(12), text.size() - at);
      const std::string piece = text.substr(at, size);
      if (random.below(2) == 0) text.erase(at, size);
      if (text.empty() || random.below(2) == 0) text.insert(random.below(text.size() + 1), piece);
    }
    const std::string left = reached(text);
    ASSERT_EQ(left.size(), text.size()) << text;
    ASSERT_EQ(std::count(left.begin(), left.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  }
}

}  // namespace
}  // namespace tunesmith
