// SPDX-License-Identifier: Apache-2.0
// Tests descriptions of users' kernels: the op that a good one gives, and the sentence for each bad one, in
// tests/golden/descriptions.txt (TUNESMITH_UPDATE_GOLDEN=1 writes it anew).
#include "kernel_file/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

#include "generator/compiler_flags.h"
#include "generator/error.h"
#include "generator/op.h"
#include "generator/random.h"
#include "kernel_file/described_op.h"
#include "kernel_file/read.h"
#include "kernel_file/user_kernel.h"
#include "tests/rounds.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string good = R"cu(/* tunesmith
kernel = "scale"
dtype = ["f32", "f64"]
type = "T"
compiled_in = ["taps"]
flops = "2 * n"
alignment_bytes = "VECTOR * dtype_bytes"
tolerance = { relative = 1e-5 }
examples = ["n=100"]
companions = ["n=4"]

[problem]
n = [16, 1000000]
taps = { default = 3, maximum = 9, what = "taps" }
mode = ["same", "valid"]

[arrays]
x = ["n + taps - 1"]
y = { extents = ["n"], role = "output" }
count = { extents = "1", role = "inout", dtype = "i32", values = [0, 5] }

[axes]
BLOCK = [64, 128]
VECTOR = { values = [1, 2, 4], what = "elements per access" }

[rules]
problem = { rule = "n % 4 == 0", why = "Rows are padded to multiples of 4." }
must = ["n % VECTOR == 0"]
worth = "BLOCK >= 128"

[launch]
grid = ["ceil_div(n, BLOCK * VECTOR)"]
block = "BLOCK"
shared_bytes = "BLOCK * dtype_bytes"
arguments = ["x", "y", "count", "n", "mode == 'valid'", 0.5]

[reference]
kernel = "plain"
arguments = ["x", "y", "count", "n"]
*/
#include <cuda_fp16.h>
#define BLOCK 64
constexpr int taps = 3;
#ifndef TUNESMITH
int main() {}
#endif
__global__ void scale(const T* in, T* out, int* count, long long size, int valid, float factor) {
  const T vector = VECTOR * taps * BLOCK;
}
__global__ void plain(const T* in, T* out, int* count, long long size) {}
template <int N> __global__ void general(float* in) {}
)cu";

KernelFile text_of(std::string cu) { return {.path = "scale.cu", .cu = std::move(cu), .description = {}}; }

std::string complaint(const KernelFile& text) {
  try {
    static_cast<void>(described_op(text, {}));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : std::string(text).replace(at, from.size(), to);
}

TEST(Description, AParameterWithoutANameNeedsArguments) {
  const std::string text = replaced(good, "arguments = [\"x\", \"y\", \"count\", \"n\"]\n*/", "*/");
  const std::string nameless =
      replaced(text, "plain(const T* in, T* out, int* count, long long size)", "plain(const T* x, T*)");
  EXPECT_THAT(
      complaint(text_of(nameless)),
      HasSubstr("The parameter 2 of plain has no name, so what it is given is not known; give it a name, or "
                "give arguments = [\"…\"] in the kernel's order."));
}

TEST(Description, BecomesAnOp) {
  const auto own = described_op(text_of(good), {});
  const Op& op = own->op;
  EXPECT_EQ(op.name, "scale");
  EXPECT_FALSE(own->reference_is_base);
  EXPECT_EQ(own->compared, "The reference of scale is the kernel plain of scale.cu.");
  const Problem problem = complete_problem(op, Problem::parse("n=1000 mode=valid dtype=f64"));
  EXPECT_EQ(problem.text(), "n=1000 taps=3 mode=valid dtype=f64") << "the order is the description's";
  EXPECT_EQ(elements(op.arguments[0], problem), 1002);
  EXPECT_EQ(op.arguments[2].dtype(problem), DType::i32);
  EXPECT_EQ(op.arguments[1].role, Role::output);
  EXPECT_EQ(op.flops(problem), 2000);
  const Template& tmpl = op.templates.front();
  const Space space = tmpl.space(problem);
  EXPECT_EQ(space.count(), 6);
  EXPECT_EQ(space.count(Space::Subset::promising), 3);
  const Config config = space.legal(Values::parse("BLOCK=128 VECTOR=2"));
  const Work work = tmpl.work(problem, config);
  const auto& launch = std::get<Launch>(work.steps.at(0));
  EXPECT_EQ(launch.grid.x, 4);
  EXPECT_EQ(launch.block.x, 128);
  EXPECT_EQ(launch.dynamic_shared_bytes, 1024);
  EXPECT_EQ(std::get<std::int64_t>(launch.arguments[3]), 1000);
  EXPECT_EQ(std::get<std::int32_t>(launch.arguments[4]), 1);
  EXPECT_EQ(std::get<float>(launch.arguments[5]), 0.5f);
  EXPECT_EQ(alignment_bytes(tmpl, problem, config), 16);
  const Work of_reference = own->reference.work(problem, config);
  const auto& reference = std::get<Launch>(of_reference.steps.at(0));
  EXPECT_EQ(reference.grid.x, 4) << "a thread per element";
}

TEST(Description, IsRenderedWithTheFilesOwnNames) {
  const Files common = {{"common/c_names.cuh", "// names\n"},
                        {"common/half_types.cuh", "// halves\n"},
                        {"common/shared.cuh", "// shared\n"}};
  const auto own = described_op(text_of(good), common);
  const Problem problem = complete_problem(own->op, Problem::parse("n=1000"));
  const Template& tmpl = own->op.templates.front();
  const Config config = tmpl.space(problem).legal(Values::parse("BLOCK=128 VECTOR=2"));
  const Source source = render(own->op, tmpl, problem, config, "sm_90a", own->files);
  for (const char* part : {"#define BLOCK 128\n", "constexpr int VECTOR = 2;\n", "constexpr int taps = 3;\n",
                           "using T = float;\n", "#include <cuda_fp16.h>\n", "void ENTRY(scale)(const T* in",
                           "// The reference of scale is the kernel plain of scale.cu.\n"})
    EXPECT_THAT(source.text, HasSubstr(part)) << part << "\n" << source.text;
  EXPECT_THAT(source.text, Not(HasSubstr("#define BLOCK 64")));
  EXPECT_LT(source.text.find("cuda_fp16.h"), source.text.find("using T")) << "headers see no constants";
}

TEST(Description, ItsCompanionsAreSmallAndAllowed) {
  const auto own = described_op(text_of(good), {});
  const Problem problem = complete_problem(own->op, Problem::parse("n=1000 taps=5"));
  const std::vector<Problem> companions = own->op.companions(problem);
  EXPECT_GE(companions.size(), 5U);
  EXPECT_EQ(companions, own->op.companions(problem)) << "two processes find the same";
  for (const Problem& companion : companions) {
    EXPECT_EQ(complete_problem(own->op, companion).integer("n") % 4, 0) << companion.text();
    EXPECT_EQ(companion.integer("taps"), 5) << "it is compiled in";
  }
}

TEST(Description, AProblemThatCannotBeIsASentence) {
  const auto own = described_op(text_of(good), {});
  const auto why = [&](const char* problem) {
    try {
      complete_problem(own->op, Problem::parse(problem));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(why("n=1002"),
            "The scale problem n=1002 taps=3 mode=same dtype=f32 is not allowed: Rows are padded to "
            "multiples of 4.");
  const auto overflows = described_op(
      text_of(replaced(good, "flops = \"2 * n\"", "flops = \"n * n * n * n * n * n * n * n\"")), {});
  EXPECT_THROW(complete_problem(overflows->op, Problem::parse("n=1000000")), UsageError);
}

TEST(Description, WithoutAReferenceItIsTheKernelItself) {
  const std::string alone =
      replaced(replaced(replaced(good, "[reference]\n", ""), "kernel = \"plain\"\n", ""),
               "arguments = [\"x\", \"y\", \"count\", \"n\"]\n", "");
  const auto own = described_op(text_of(alone), {});
  EXPECT_TRUE(own->reference_is_base);
  EXPECT_THAT(own->compared, HasSubstr("its untuned kernel itself"));
}

TEST(Description, TheKernelThatIsNoReferenceIsTheOneThatIsTuned) {
  std::string cu = replaced(good, "kernel = \"scale\"\n", "");
  cu = replaced(cu, "template <int N> __global__ void general(float* in) {}\n", "");
  EXPECT_EQ(described_op(text_of(cu), {})->op.name, "scale");
}

TEST(Description, MayStandInAFileOfItsOwn) {
  const std::size_t end = good.find("*/");
  KernelFile text = text_of(good.substr(end + 2));
  text.description =
      good.substr(std::string("/* tunesmith").size(), end - std::string("/* tunesmith").size());
  EXPECT_EQ(described_op(text, {})->op.name, "scale");
  text.description = replaced(text.description, "n = [16, 1000000]", "n = \"many\"");
  EXPECT_EQ(complaint(text).rfind("scale.toml, line 13: ", 0), 0U) << complaint(text);
}

// The kernel count(x, y, c): the test gives the pointers' types and the array c.
KernelFile with_pointer(const std::string& type, const std::string& array, const std::string& before = "",
                        const std::string& more = "") {
  return text_of(
      "/* tunesmith\n[problem]\nn = [1, 1000]\n[arrays]\nx = [\"n\"]\nc = { extents = [\"n\"], role = "
      "\"inout\"" +
      array + " }\n[axes]\nBLOCK = [64]\n[launch]\ngrid = \"n\"\nblock = \"BLOCK\"\n*/\n" + before +
      "__global__ void count(const float* x, " + type + " c, int n) { if (BLOCK > n) c[0] = x[0]; " +
      (more.empty() ? more : more + " ") + "}\n");
}

TEST(Description, AnArrayHasTheTypeOfItsPointer) {
  const Problem problem = Problem::parse("n=100 dtype=f32");
  for (const auto& [type, dtype] :
       std::initializer_list<std::pair<const char*, DType>>{{"unsigned*", DType::u32},
                                                            {"short*", DType::i16},
                                                            {"bool*", DType::boolean},
                                                            {"unsigned long long*", DType::u64},
                                                            {"signed char*", DType::i8},
                                                            {"size_t*", DType::u64},
                                                            {"double*", DType::f64}}) {
    const auto own = described_op(with_pointer(type, ""), {});
    EXPECT_EQ(own->op.arguments[1].dtype(problem), dtype) << type;
  }
  const auto named = described_op(with_pointer("Key*", "", "using Key = unsigned long long;\n"), {});
  EXPECT_EQ(named->op.arguments[1].dtype(problem), DType::u64);
  // The elements are bits, if the description says so.
  EXPECT_EQ(described_op(with_pointer("unsigned*", ", dtype = \"i32\""), {})->op.arguments[1].dtype(problem),
            DType::i32);
  // An unknown type is not guessed: it is never silently f32.
  EXPECT_EQ(
      complaint(with_pointer("Particle*", "")),
      "scale.cu, line 6: The array c is taken by the kernel as Particle*, whose elements are not known here; "
      "set dtype = \"…\" to the type that its extents count: f32, f64, f16, bf16, i8, i16, i32, i64, u8, "
      "u16, u32, "
      "u64, bool. Of a struct these are its members, or u8 for its bytes.");
  // Extents count vectors, unless the description gives the type that they count.
  EXPECT_EQ(described_op(with_pointer("float4*", ""), {})->op.arguments[1].extents(problem),
            (std::vector<std::int64_t>{100, 4}));
  EXPECT_EQ(described_op(with_pointer("float4*", ", dtype = \"f32\""), {})->op.arguments[1].extents(problem),
            std::vector<std::int64_t>{100});
  // A vector of integers may be words that hold narrower numbers.
  EXPECT_EQ(described_op(with_pointer("int4*", ", dtype = \"f16\""), {})->op.arguments[1].dtype(problem),
            DType::f16);
  EXPECT_EQ(described_op(with_pointer("uint2*", ", dtype = \"u8\""), {})->op.arguments[1].extents(problem),
            std::vector<std::int64_t>{100});
  EXPECT_THAT(complaint(with_pointer("int*", ", dtype = \"f16\"")), HasSubstr("whose elements are i32 of 4"));
  EXPECT_THAT(complaint(with_pointer("float4*", ", dtype = \"f16\"")), HasSubstr("whose elements are f32"));
  EXPECT_EQ(complaint(with_pointer("unsigned long long*", ", dtype = \"i32\"")),
            "scale.cu, line 6: The array c has the dtype i32, but the kernel takes it as unsigned long "
            "long*, whose "
            "elements are u64 of 8 bytes.");
  const std::string one_array =
      " float**, a pointer to pointers: arrays hold numbers, so none can be given for it. Let the kernel "
      "take "
      "one array, and compute where each of its parts begins.";
  EXPECT_EQ(complaint(with_pointer("float**", "")),
            "scale.cu, line 6: The array c is taken by the kernel as" + one_array);
  EXPECT_EQ(complaint(with_pointer("float**", ", dtype = \"u64\"")),
            "scale.cu, line 6: The array c is taken by the kernel as" + one_array);
  // Wide types need their alignment.
  const auto alignment = [&](const KernelFile& text) {
    const auto own = described_op(text, {});
    const Template& tmpl = own->op.templates.front();
    return alignment_bytes(tmpl, problem, tmpl.space(problem).complete({}));
  };
  EXPECT_EQ(alignment(with_pointer("float4*", ", dtype = \"f32\"")), 16);
  EXPECT_EQ(alignment(with_pointer("Particle*", ", dtype = \"u8\"")), 16);
  EXPECT_EQ(alignment(with_pointer("unsigned*", "")), 4);
}

// If #if chooses a type, the one that is compiled is taken; if that is not known, the description has to say
// it.
TEST(Description, ATypeThatIsChosenIsNotGuessed) {
  const Problem problem = Problem::parse("n=100 dtype=f32");
  const auto choose = [](const std::string& condition) {
    return condition + "\ntypedef int real;\n#else\ntypedef float real;\n#endif\n";
  };
  const auto dtype = [&](const std::string& condition, const std::string& array = "") {
    return described_op(with_pointer("real*", array, choose(condition)), {})->op.arguments[1].dtype(problem);
  };
  EXPECT_EQ(dtype("#ifdef COUNTS_ONLY"), DType::f32);
  EXPECT_EQ(dtype("#ifndef COUNTS_ONLY"), DType::i32);
  EXPECT_EQ(dtype("#if defined(TUNESMITH) && 2 > 1"), DType::i32);
  EXPECT_EQ(dtype("#define PRECISION 1\n#if PRECISION == 2"), DType::f32);
  for (const char* unknown : {"#ifdef __CUDA_ARCH__", "#if BLOCK > 32", "#if CUDART_VERSION > 12000"}) {
    EXPECT_EQ(
        complaint(with_pointer("real*", "", choose(unknown))),
        "scale.cu, line 6: The array c is taken by the kernel as real*, and real is int or float: which "
        "one is compiled is not known here. Set dtype = \"…\" to it, or let Tunesmith define the type, by "
        "type = \"real\".");
    EXPECT_EQ(dtype(unknown, ", dtype = \"f32\""), DType::f32);
    KernelFile whole = with_pointer("real*", "", choose(unknown));
    whole.cu.insert(whole.cu.find("[problem]"), "dtype = \"i32\"\n");
    EXPECT_EQ(described_op(whole, {})->op.arguments[1].dtype(Problem::parse("n=100 dtype=i32")), DType::i32);
    whole.cu.replace(whole.cu.find("dtype = \"i32\""), 13, "type = \"real\"");
    EXPECT_EQ(described_op(whole, {})->op.arguments[1].dtype(problem), DType::f32);
  }
  // The same is true of a number.
  KernelFile number = with_pointer("float*", "", choose("#if BLOCK > 32"));
  number.cu.replace(number.cu.rfind("int n)"), 5, "real n");
  EXPECT_THAT(complaint(number), HasSubstr("has the type \"real\", and real is int or float"));
  KernelFile alias = with_pointer("float*", "", "typedef unsigned long long int count_t;\n");
  alias.cu.replace(alias.cu.rfind("int n)"), 5, "count_t n");
  EXPECT_EQ(complaint(alias), "");
}

TEST(Description, AnOpIsCalledAsItsKernelInSmallLetters) {
  KernelFile file = with_pointer("float*", "");
  for (std::size_t at = 0; (at = file.cu.find("count(", at)) != std::string::npos; at += 5)
    file.cu.replace(at, 5, "Count");
  EXPECT_EQ(complaint(file), "");
}

TEST(Description, AKernelThatIsChosenIsNotGuessed) {
  const KernelFile good_file = with_pointer("float*", "");
  const std::string kernel =
      "__global__ void count(const float* x, float* c, int n) { if (BLOCK > n) c[0] = x[0]; }";
  const auto with_other = [&](const std::string& condition, const std::string& other) {
    KernelFile file = good_file;
    file.cu = replaced(file.cu, kernel, condition + "\n" + other + "\n#else\n" + kernel + "\n#endif\n");
    return complaint(file);
  };
  const std::string swapped =
      "__global__ void count(float* c, const float* x, int n) { c[0] = BLOCK + x[0]; }";
  EXPECT_EQ(with_other("#if 0", swapped), "");
  EXPECT_EQ(with_other("#ifndef TUNESMITH", swapped), "");
  EXPECT_EQ(with_other("#if BLOCK > 32", kernel), "");
  EXPECT_THAT(with_other("#if BLOCK > 32", swapped),
              HasSubstr("The kernel count is declared with other parameters in line"));
}

TEST(Description, WhatNothingFillsIsRefused) {
  KernelFile file = with_pointer("float*", "", "__constant__ float weights[8];\n");
  EXPECT_EQ(complaint(file), "");
  file.cu = replaced(file.cu, "c[0] = x[0]", "c[0] = x[0] * weights[1]");
  EXPECT_EQ(
      complaint(file),
      "scale.cu: The kernel count reads the __constant__ variable weights, which has no initialiser and "
      "which "
      "nothing fills, so it would be zero. Give it an initialiser, or fill it before each launch, from an "
      "array "
      "by symbols = { weights = \"…\" }.");
}

// y = TIMES x, a template: its head, and more of the description.
KernelFile of_template(const std::string& head, const std::string& more = "dtype = \"f32\"",
                       const std::string& before = "") {
  return text_of(
      "/* tunesmith\n" + more +
      "\n[problem]\nn = [1, 1000]\nR = { default = 2, maximum = 9 }\nmode = [\"same\", "
      "\"valid\"]\n[arrays]\nx = [\"n\"]\ny = { extents = [\"n\"], role = \"output\" }\n"
      "[axes]\nBLOCK = [64, 300]\n[launch]\ngrid = \"n + R + (mode == 'same')\"\nblock = "
      "\"BLOCK\"\n*/\n" +
      before + head +
      "\n__global__ void __launch_bounds__(256) own(const T* x, T* y, int n) { if (BLOCK > n) y[0] = "
      "x[0]; }\n");
}

// The third argument that the kernel gets for n=100.
KernelArgument argument(const KernelFile& file) {
  const Problem problem = Problem::parse("n=100 dtype=f32");
  const auto own = described_op(file, {});
  const Template& tmpl = own->op.templates.front();
  const Work work = tmpl.work(problem, tmpl.space(problem).complete({}));
  return std::get<Launch>(work.steps.back()).arguments[2];
}

TEST(Description, NumbersHaveTheTypeOfTheirParameter) {
  const auto with_number = [](const std::string& type, const std::string& value,
                              const std::string& before = "") {
    KernelFile file = with_pointer("float*", "", before);
    file.cu = replaced(file.cu, "int n)", type + " n)");
    file.cu = replaced(file.cu, "block = \"BLOCK\"",
                       "block = \"BLOCK\"\narguments = [\"x\", \"c\", " + value + "]");
    return file;
  };
  EXPECT_EQ(std::get<std::int64_t>(
                argument(with_number("count_t", "\"n\"", "typedef unsigned long long int count_t;\n"))),
            100);
  EXPECT_EQ(std::get<double>(argument(with_number("Real_t", "0.5", "#define Real_t double\n"))), 0.5);
  for (const char* type : {"int unsigned", "short", "unsigned char", "char", "uint"})
    EXPECT_EQ(std::get<std::int32_t>(argument(with_number(type, "\"n\""))), 100) << type;
  EXPECT_EQ(std::get<std::int32_t>(argument(with_number("bool", "\"n > 5\""))), 1);
  // A value that the parameter cannot hold is refused.
  EXPECT_THAT(complaint(with_number("unsigned char", "256")),
              HasSubstr("The argument n of count is 256; its type u8 holds numbers from 0 to 255."));
  KernelFile file = with_number("bool", "\"n\"");
  file.cu = replaced(file.cu, "[problem]", "examples = [\"n=2\"]\n[problem]");
  EXPECT_THAT(complaint(file), HasSubstr("takes \"n\" as an integer from 0 to 1, and it is 2."));
  EXPECT_THAT(complaint(with_number("half2", "1")), HasSubstr("which cannot be given"));
  // Whole numbers keep all their digits, in every spelling.
  for (const char* value :
       {"9007199254740993", "0x20000000000001", "\"9007199254740993\"", "\"n - n + 9007199254740993\""})
    for (const char* type : {"long long", "size_t"})
      EXPECT_EQ(std::get<std::int64_t>(argument(with_number(type, value))), 9007199254740993)
          << type << value;
  EXPECT_EQ(std::get<std::int64_t>(argument(with_number("long long", "-9223372036854775808"))),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(std::get<std::int32_t>(argument(with_number("unsigned", "0x9e3779b9"))),
            static_cast<std::int32_t>(0x9e3779b9U));
  EXPECT_EQ(std::get<float>(argument(with_number("float", "16777217"))), 16777216.0F);
  EXPECT_EQ(std::get<std::int32_t>(argument(with_number("bool", "true"))), 1);
  EXPECT_THAT(complaint(with_number("unsigned", "-1")),
              HasSubstr("is -1; its type u32 holds numbers from 0 to 4294967295."));
  file = with_number("size_t", "\"n - 101\"");
  file.cu = replaced(file.cu, "[problem]", "examples = [\"n=100\"]\n[problem]");
  EXPECT_THAT(complaint(file), HasSubstr("as an integer from 0 to 9223372036854775807, and it is -1."));
  EXPECT_THAT(complaint(with_number("int", "3000000000")), HasSubstr("its type i32 holds numbers from"));
  EXPECT_THAT(complaint(with_number("float", "1e39")), HasSubstr("its type float holds numbers up to"));
  EXPECT_THAT(complaint(with_number("long long", "0.5")), HasSubstr("or a number of its type"));
}

TEST(Description, AStructByValueIsGivenByItsMembers) {
  const auto with_struct = [](const std::string& type, const std::string& given, const std::string& before) {
    KernelFile file = with_pointer("float*", "", before);
    file.cu = replaced(file.cu, "int n)", type + " n)");
    if (!given.empty())
      file.cu = replaced(file.cu, "block = \"BLOCK\"",
                         "block = \"BLOCK\"\narguments = [\"x\", \"c\", " + given + "]");
    return file;
  };
  const std::string params =
      "struct Params { short a; bool on{}; Params() = default; float at(int i) const { return w[i]; }\n"
      "  float w[2] = {1, 2}; unsigned char b, c; };\n";
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(argument(
                with_struct("Params", "{ a = -2, on = 1, w = [0.5, \"n\"], b = 3, c = \"n\" }", params))),
            (std::vector<std::int32_t>{0x1fffe, 0x3f000000, 0x42c80000, 0x6403}));
  const std::string wide = "typedef struct { int n; double x; } Wide;\n";
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(
                argument(with_struct("const Wide", "{ n = \"n\", x = -0.0 }", wide))),
            (std::vector<std::int64_t>{100, std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(argument(
                with_struct("struct Sizes", "", "struct Sizes { int n; };\nvoid f(struct Sizes s) {}\n"))),
            std::vector<std::int32_t>{100});
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(
                argument(with_struct("Long", "{ n = 9007199254740993, u = 4294967295, i = -1 }",
                                     "struct Long { long long n; unsigned u; int i; };\n"))),
            (std::vector<std::int64_t>{9007199254740993, -1}));
  EXPECT_EQ(
      std::get<std::vector<std::int32_t>>(argument(with_struct("int3", "{ x = \"n\", y = 2, z = 3 }", ""))),
      (std::vector<std::int32_t>{100, 2, 3}));
  const auto own = described_op(with_struct("Wide", "{ n = \"n\", x = 1 }", wide), {});
  EXPECT_THAT(
      own->files.at("count/count.cu"),
      HasSubstr("static_assert(sizeof(Wide) == 16 && alignof(Wide) == 8 && TUNESMITH_OFFSET(Wide, n) == 0 && "
                "sizeof(Wide::n) == 4 && TUNESMITH_OFFSET(Wide, x) == 8 && sizeof(Wide::x) == 8, "));
  struct Refused {
    std::string type, given, before, sentence;
  };
  for (const Refused& one : std::vector<Refused>{
           {"Wide", "{ n = \"n\" }", wide, "lacks x; give all members: { n = \"…\", x = \"…\" }."},
           {"Wide", "{ n = 1, x = 1, z = 1 }", wide, "Wide has no member z; it has n, x."},
           {"Wide", "\"n\"", wide, "of the struct n of count is \"n\"; give its members: { n = "},
           {"Wide", "{ n = 0.5, x = 1 }", wide,
            "is 0.5; give an expression in quotes, or a number of its type."},
           {"Wide", "", wide, "It stands for a member of the struct n of count; give arguments"},
           {"Params", "{ a = 40000, on = 1, w = [1, 2], b = 3, c = 4 }", params,
            "is 40000; its type i16 holds numbers from -32768 to 32767."},
           {"Params", "{ a = 4, on = 1, w = [1], b = 3, c = 4 }", params, "is an array of 2; give a list"},
           {"int", "{ n = 1 }", "", "has the type int, and its argument is a table"},
           {"S", "{ p = 1 }", "struct S { int* p; };\n",
            "has the type S, a struct that has a pointer among its members;"},
           {"S", "{ a = 1 }", "struct S { int a : 3; };\n", "a struct that has a bit-field."},
           {"S", "{ a = 1 }", "struct B { int b; };\nstruct S : B { int a; };\n",
            "a struct that has a base class."},
           {"S", "{ a = 1 }", "struct S { virtual int f(); int a; };\n",
            "a struct that has a virtual function."},
           {"S", "{ a = 1 }", "struct S { float2 a; };\n",
            "has the member a of the type float2; members may be"},
           {"S", "{ a = 1 }", "struct S { char a; };\n", "has 1 bytes, which is no multiple of 4."},
           {"S", "{ a = 1 }", "struct S { int a[N]; };\n", "whose extent must be a number from 1 to 64."},
           {"S", "{ a = 1 }",
            "#if __CUDA_ARCH__\nstruct S { int a; };\n#else\nstruct S { long long a; };\n#endif\n",
            "is defined more than once"}})
    EXPECT_THAT(complaint(with_struct(one.type, one.given, one.before)), HasSubstr(one.sentence))
        << one.before;
}

TEST(Description, ArraysOfStructsAreReadByTheirMembers) {
  const auto with_struct = [](const std::string& type, const std::string& array, const std::string& before) {
    return with_pointer(type + "*", array, before);
  };
  const std::string body =
      "typedef float Real;\nstruct Place { short layer; int cell[2]; };\ntypedef struct {\n  char tag;\n"
      "  Place place;\n  double3 speed;\n  Real m[2][3], mass;\n  __half2 h;\n} Body;\nusing B = Body;\n";
  const auto own = described_op(with_struct("B", ", values = { place = \"index(n)\" }", body), {});
  const UserRecord& record = own->records.at("c");
  std::string members;
  for (const StructMember& one : record.layout.members)
    members += one.name + " " + std::string(name(one.dtype)) + " at " + std::to_string(one.offset) + " " +
               std::to_string(one.numbers()) + "\n";
  EXPECT_EQ(members,
            "tag i8 at 0 1\nplace.layer i16 at 4 1\nplace.cell i32 at 8 2\nspeed f64 at 16 3\nm f32 at 40 6\n"
            "mass f32 at 64 1\nh f16 at 68 2\n");
  EXPECT_EQ(record.layout.bytes, 72);
  EXPECT_EQ(name_of_number(record.layout.members[4], 5), "m[1][2]");
  EXPECT_EQ(name_at(record.layout, 12), "place.cell[1]");
  EXPECT_EQ(name_at(record.layout, 24), "speed.y");
  EXPECT_EQ(name_at(record.layout, 2), "") << "padding";
  EXPECT_FALSE(record.usual[0]);
  EXPECT_TRUE(record.usual[1] && record.usual[2]) << "all of the struct within";
  const Problem problem = complete_problem(own->op, Problem::parse("n=10"));
  EXPECT_EQ(own->op.arguments[1].extents(problem), (std::vector<std::int64_t>{10, 72}));
  EXPECT_THAT(own->files.at("count/count.cu"),
              HasSubstr("TUNESMITH_OFFSET(B, place.layer) == 4 && sizeof(((B*)0)->place.layer) == 2"));

  const std::string small = "struct S { float a; int b; };\n";
  const auto bytes = described_op(with_struct("struct S", ", dtype = \"u8\"", small), {});
  EXPECT_EQ(bytes->records.at("c").layout.members.size(), 2U);
  EXPECT_EQ(bytes->op.check(Problem::parse("n=16 dtype=f32")), "");
  EXPECT_THAT(bytes->op.check(Problem::parse("n=17 dtype=f32")),
              HasSubstr("The array c has 17 bytes, which is no multiple of the 8 bytes of S."));
  struct Refused {
    std::string type, array, before, sentence;
  };
  for (const Refused& one : std::vector<Refused>{
           {"S", "", "struct S { int* p; };\n",
            "S*, a struct that has a pointer among its members, so its members are not known here; "
            "set"},
           {"S", "", "namespace a { struct S { int p; }; }\nusing namespace a;\n",
            "a struct that is defined in a namespace or within another definition, so"},
           {"S", "", "struct T { float a : 3; };\nstruct S { T t; };\n",
            "has the member t, a struct that has a bit-field, so"},
           {"S", ", values = { d = [0, 1] }", small,
            "The array c has values of d, but S has the members a, b."},
           {"S", ", values = \"index(n)\"", small,
            "The array c, in its member a, has the values index(n), which are integers, but the dtype f32."}})
    EXPECT_THAT(complaint(with_struct(one.type, one.array, one.before)), HasSubstr(one.sentence))
        << one.before;
}

TEST(Description, ATemplateIsInstantiatedByNames) {
  const Files common = {{"common/c_names.cuh", ""}, {"common/half_types.cuh", ""}, {"common/shared.cuh", ""}};
  const auto rendered = [&](const KernelFile& file) {
    const auto made = described_op(file, common);
    const Problem problem = complete_problem(made->op, Problem::parse("n=100"));
    const Template& tmpl = made->op.templates.front();
    return render(made->op, tmpl, problem, tmpl.space(problem).complete({}), "sm_90a", made->files).text;
  };
  std::string text = rendered(of_template("template <typename T, int BLOCK, int R, bool FAST = BLOCK % 3>"));
  for (const char* part : {"constexpr int R = 2;",
                           "using argument_0 = float; constexpr auto argument_1 = (BLOCK); constexpr auto "
                           "argument_2 = (R); namespace named",
                           "using type_3 = bool; constexpr type_3 FAST = static_cast<type_3>(BLOCK % 3);",
                           "extern \"C\" __global__ void __launch_bounds__(256) ENTRY(own)(const T* x, T* y, "
                           "int n) { own<T, BLOCK, "
                           "R, FAST>(x, y, n); }",
                           "\n__device__ __forceinline__ void                        own(const T* x"})
    EXPECT_THAT(text, HasSubstr(part)) << part << "\n" << text;
  // The dtype of the arrays is the type's, given by them or by a name.
  EXPECT_THAT(rendered(of_template("template <class T, int BLOCK>", "dtype = \"u8\"")),
              HasSubstr("= unsigned char;"));
  text = rendered(of_template("template <class T, int BLOCK>", "type = \"T\"\ndtype = [\"f64\", \"f32\"]"));
  EXPECT_THAT(text, HasSubstr("using T = double;"));
  EXPECT_THAT(text, HasSubstr("using argument_0 = T;"));
  text = rendered(
      of_template("template <class T, int BLOCK, int B>", "instantiate = \"own<double, BLOCK, 2 * BLOCK>\""));
  EXPECT_THAT(text,
              HasSubstr("using argument_0 = double; constexpr auto argument_1 = (BLOCK); constexpr auto "
                        "argument_2 = (2 * BLOCK);"));
  // An overload is chosen by the number of its arguments.
  const std::string other = "template <class T> __global__ void own(T* x, int n) {}\n";
  EXPECT_EQ(complaint(of_template("template <class T, int BLOCK>",
                                  "dtype = \"f32\"\ninstantiate = \"own<T, BLOCK>\"", other)),
            "");
  for (
      const auto& [file, sentence] : std::initializer_list<std::pair<KernelFile, const char*>>{
          {of_template("template <class T, int BLOCK>", "dtype = \"f32\"", other),
           "The kernel own is declared in line 16 and, with other template parameters, in line 17; choose "
           "one "
           "by instantiate = \"own<…>\" with all of its arguments, or give them names that differ."},
          {of_template("template <class T, int BLOCK>", ""),
           "The template parameter T of own is the type of y, which has no dtype; give one, such as dtype = "
           "\"f32\", for all arrays or for this."},
          {of_template("template <class T, int BLOCK>", "dtype = [\"f32\", \"f64\"]\ntype = \"S\""),
           "There are several dtypes, and the template parameter T of own is the type of y; let Tunesmith "
           "define it, by type = \"T\"."},
          {of_template("template <class T, class A>"),
           "The template parameter A of own (line 16) is the type of no array; name it by instantiate = "
           "\"own<…>\", with all arguments in their order."},
          {of_template("template <class T, int TILE>"),
           "The template parameter TILE of own (line 16) is no axis and no parameter of the problem; make it "
           "one, or give its value by instantiate = \"own<…>\", with all arguments in their order."},
          {of_template("template <class T, int mode>"),
           "The template parameter mode of own has the name of a parameter of the problem that is a word, "
           "and "
           "which word stands for which value is not known here; give the value by instantiate = "
           "\"own<…>\"."},
          {of_template("template <class T, unsigned char BLOCK>"),
           "The template parameter BLOCK of own has the type unsigned char, which cannot hold the axis's "
           "value "
           "300; give values from 0 to 255."},
          {of_template("template <class T, int... N>"),
           "The template parameter N of own (line 16) is a pack or a template, which cannot be given; write "
           "a "
           "kernel without it that calls the code."},
          // Each of these would run with another type or value than the description says.
          {of_template("template <class T, int BLOCK>", "dtype = \"f32\"\ninstantiate = \"own<T, 128>\""),
           "The template parameter BLOCK of own (line 17) is given as 128, and hides the axis of its name; "
           "write BLOCK in instantiate, or give that another name."},
          {of_template("template <class T, int BLOCK>",
                       "dtype = \"f32\"\ninstantiate = \"own<T>; int x<3>\""),
           "instantiate is \"own<T>; int x<3>\"; give the kernel with its template arguments"},
          {of_template("template <class T, int BLOCK>", "dtype = \"f32\"\ninstantiate = \"owns<T, 128>\""),
           "There is no kernel owns in scale.cu; its __global__ functions are own."},
          {of_template("using T = float;", "instantiate = \"own<T>\""),
           "instantiate gives 1 template arguments, and no kernel own in scale.cu is a template with as many "
           "parameters."}})
    EXPECT_THAT(complaint(file), HasSubstr(sentence)) << sentence << "\n" << complaint(file);
}

TEST(Description, TheTypeOfATemplateIsComparedWithTheArrays) {
  const auto with_dtype = [](const std::string& arguments, const std::string& dtype) {
    KernelFile file =
        of_template("template <class T, int BLOCK>", "instantiate = \"own<" + arguments + ">\"");
    file.cu = replaced(file.cu, "x = [\"n\"]", "x = { extents = [\"n\"], dtype = \"" + dtype + "\" }");
    file.cu = replaced(file.cu, "role = \"output\"", "role = \"output\", dtype = \"f32\"");
    return complaint(file);
  };
  EXPECT_EQ(with_dtype("T, BLOCK", "f32"), "");
  EXPECT_EQ(with_dtype("float, BLOCK", "f32"), "");
  EXPECT_EQ(with_dtype("float4, BLOCK", "f32"), "");
  EXPECT_THAT(
      with_dtype("double, BLOCK", "f32"),
      HasSubstr("The array x has the dtype f32, but the kernel takes it as double*, whose elements are f64"));
  EXPECT_THAT(
      with_dtype("T, BLOCK", "f64"),
      HasSubstr("The template parameter T of own is the type of x, whose dtype is f64, and of y, whose "
                "dtype is f32; give them one dtype."))
      << with_dtype("T, BLOCK", "f64");
}

// NVRTC has no C++ library and cannot compile <cub/cub.cuh>.
TEST(Description, HeadersGiveWayToThoseThatACompilerHas) {
  const auto includes = [](const std::string& before, const std::string& more = "") {
    return described_op(with_pointer("float*", "", before, more), {})->files.at("count/includes.h");
  };
  const std::string plain = includes("");
  EXPECT_EQ(includes("#include <type_traits>\n#include <cublas_v2.h>\n"), plain) << "nothing uses it";
  EXPECT_EQ(includes("", "cuda::std::uint8_t t;"), plain);
  const std::string with_std =
      includes("#include <vector>\n", "std::conditional_t<true, int, std::uint8_t> t;");
  EXPECT_THAT(with_std,
              HasSubstr("#include <cuda/std/cstdint>\n#include <cuda/std/type_traits>\nnamespace std {\n"
                        "using namespace cuda::std;\n}\n#endif\n#include \"common/cpp_library.cuh\"\n"));
  const std::string with_cub = includes("#include <cub/cub.cuh>\n", "cub::BlockReduce<int, 32> r;");
  EXPECT_THAT(with_cub, HasSubstr("#ifndef TUNESMITH_HOST\n#include <cub/block/block_reduce.cuh>\n#endif\n"));
  EXPECT_THAT(with_cub, Not(HasSubstr("cub.cuh>")));
  EXPECT_THAT(includes("#include <mma.h>\n#include <cuda_fp16.h>\n"),
              HasSubstr("#include <mma.h>\n#endif\n#ifndef TUNESMITH_HOST\n#include <cuda_fp16.h>\n#endif\n"
                        "#include \"common/half_types.cuh\"\n#include \"common/wmma.cuh\"\n"));
  EXPECT_THAT(includes("", "__shared__ alignas(16) int a[4];"),
              HasSubstr("#include \"common/aligned_shared.cuh\"\n"));
}

TEST(Description, TexturesAreRefused) {
  std::string why;
  try {
    described_op(
        with_pointer("float*", "", "__device__ float f() { return tex2D<float>(image, 1, 2); }\n", "f();"),
        {});
  } catch (const UsageError& error) {
    why = error.what();
  }
  EXPECT_THAT(
      why, HasSubstr("The kernel count calls tex2D(). Textures and surfaces are objects that a program "
                     "creates, so no description gives them; let the kernel take the array as a pointer."));
}

TEST(Description, AGridThatWaitsRunsAsAWhole) {
  const auto is_cooperative = [](const std::string& before) {
    const auto own = described_op(with_pointer("float*", "", before, "f();"), {});
    const Op& op = own->op;
    const Problem problem = complete_problem(op, Problem::parse(op.examples.front()));
    const Work work = op.templates.front().work(problem, base_config(op, problem), {});
    return std::get<Launch>(work.steps.back()).is_cooperative;
  };
  for (const char* body :
       {"auto grid = cg::this_grid(); grid.sync();", "cg::grid_group g(cg::this_grid()); sync(g);",
        "cooperative_groups::this_grid().sync();", "auto all = cg::this_grid(); if (all.is_valid()) return;"})
    EXPECT_TRUE(is_cooperative("\n__device__ void f() { " + std::string(body) + " }\n")) << body;
  EXPECT_FALSE(
      is_cooperative("__device__ void f() { auto grid = cg::this_grid(); block.sync(); grid.size(); }\n"));
}

TEST(Description, SymbolsAreFilledBeforeEachLaunch) {
  const auto filled = [](const std::string& array, const std::string& more, const std::string& variable) {
    KernelFile file = with_pointer("float*", " }\n" + array + "\nrest = { extents = [\"n\"]", variable);
    file.cu = replaced(file.cu, "rest = { extents = [\"n\"] }\n", "");
    file.cu = replaced(file.cu, "[problem]", more + "\n[problem]");
    file.cu = replaced(file.cu, "c[0] = x[0]", "c[0] = x[0] * weights[1]");
    return file;
  };
  const std::string array = "w = { extents = [\"n + 1\"], role = \"constant\" }",
                    given = "symbols = { weights = \"w\" }",
                    variable = "namespace { static __constant__ float weights[8], other[2]; }\n";
  const Files common = {{"common/c_names.cuh", ""}, {"common/half_types.cuh", ""}, {"common/shared.cuh", ""}};
  const auto made = described_op(filled(array, given, variable), common);
  const Problem problem = complete_problem(made->op, Problem::parse("n=5"));
  const Template& tmpl = made->op.templates.front();
  const Config config = tmpl.space(problem).complete({});
  const Work work = tmpl.work(problem, config);
  ASSERT_EQ(work.steps.size(), 2U);
  const auto& copy = std::get<ConstantCopy>(work.steps[0]);
  EXPECT_EQ(copy.symbol, "weights");
  EXPECT_EQ(copy.argument, 2);
  EXPECT_EQ(copy.bytes, 24);
  EXPECT_TRUE(work.takes_turns);
  EXPECT_TRUE(reentrant(work));
  EXPECT_EQ(made->op.arguments[2].role, Role::input);
  const std::string text = render(made->op, tmpl, problem, config, "host",
                                  {{"common/host_shim.h", ""},
                                   {"common/c_names.cuh", ""},
                                   {"common/shared.cuh", ""},
                                   {"count/includes.h", made->files.at("count/includes.h")},
                                   {"count/count.cu", made->files.at("count/count.cu")}})
                               .text;
  for (const char* part :
       {"#define weights ENTRY(weights)\n",
        "inline namespace tunesmith_own { extern \"C\" {        __constant__ float weights[8], "
        "other[2]; } }\n",
        "using tunesmith_own::weights;\n", "TUNESMITH_HOST_SYMBOL(weights_"})
    EXPECT_THAT(text, HasSubstr(part)) << part << "\n" << text;
  // An array of a variable's name needs no symbol; a __device__ variable may be zeroed.
  EXPECT_EQ(complaint(filled("weights = { extents = [\"n\"], role = \"constant\" }", "", variable)), "");
  const std::string device = "__device__ float weights[8];\n";
  const auto zeroed = described_op(filled("", "zeroed = [\"weights\"]", device), {});
  const Work zeroing = zeroed->op.templates.front().work(problem, config);
  EXPECT_EQ(std::get<ConstantCopy>(zeroing.steps.at(0)).argument, -1);
  for (const auto& [file, sentence] : std::initializer_list<std::pair<KernelFile, const char*>>{
           {filled(array, "", variable),
            "The array w has the role constant, but no variable of the file takes it"},
           {filled(array, "symbols = { weight = \"w\" }", variable),
            "There is no __constant__ or __device__ variable weight outside of functions in scale.cu; there "
            "are "
            "weights, other."},
           {filled(array, "symbols = { weights = \"v\" }", variable),
            "The array w has the role constant, but"},
           {filled(array, "symbols = { weights = \"c\", other = \"w\" }", variable),
            "The variable weights gets c, whose role is inout"},
           {filled(array, given, "__constant__ double weights[8];\n"), ""},
           {filled("w = { extents = [\"n\"], dtype = \"f32\", role = \"constant\" }", given,
                   "__constant__ double weights[8];\n"),
            "The array w has the dtype f32, but the kernel takes it as double*, whose elements are f64"},
           {filled(array, given,
                   "#if BLOCK > 3\n__constant__ float weights[8];\n#else\n__constant__ int "
                   "weights[8];\n#endif\n"),
            "The variable weights is of float and of int in two places of scale.cu"},
           {filled(array, given, "__device__ float* weights;\n"), "The variable weights is a pointer"},
           {filled("", "zeroed = [\"weights\"]", variable),
            "The variable weights is __constant__, so no launch"},
           {filled(array, given + "\nzeroed = [\"weights\"]", device),
            "The variable weights is filled twice"}})
    if (*sentence == '\0')
      EXPECT_EQ(described_op(file, {})->op.arguments[2].dtype(problem), DType::f64);
    else
      EXPECT_THAT(complaint(file), HasSubstr(sentence)) << sentence << "\n" << complaint(file);
}

// Two kernels, of which the second is repeated.
const std::string launches = R"cu(/* tunesmith
name = "smooth"
examples = ["n=100 turns=1"]
[problem]
n = [1, 100000]
turns = [1, 100]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
first = { extents = ["n"], role = "workspace" }
spare = { extents = ["n"], role = "workspace" }
sums = { extents = ["2 * BLOCK"], role = "workspace", dtype = "f64" }
[axes]
BLOCK = [64, 128]
PART = [1, 3]
[rules]
must = "PART < 3 || turns < 50"
[[launch]]
kernel = "begin"
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
arguments = ["x", "first", "sums", "n"]
[[launch]]
kernel = "turn"
repeat = "ceil_div(turns, PART)"
swap = { from = "first", to = "y", spare = "spare" }
grid = "step + 1"
block = "BLOCK"
arguments = ["first", "y", "sums", "n", "min(PART, turns - step * PART)"]
*/
__global__ void begin(const float* x, float* out, double* sums, int n) { out[0] = x[0] * BLOCK * PART; }
__global__ void turn(const float* in, float* out, const double* sums, int n, int turns) { out[0] = in[0]; }
)cu";

TEST(Description, MayHaveSeveralLaunches) {
  const auto made = described_op(text_of(launches), {});
  const Op& op = made->op;
  ASSERT_EQ(op.arguments.size(), 2U) << "a workspace is no argument";
  EXPECT_EQ(op.arguments[1].name, "y");
  const Template& tmpl = op.templates.front();
  EXPECT_EQ(tmpl.kernels, (std::vector<std::string>{"begin", "turn"}));
  const auto work_of = [&](const std::string& problem, const std::string& config) {
    const Problem whole = complete_problem(op, Problem::parse(problem));
    return tmpl.work(whole, tmpl.space(whole).legal(Values::parse(config)));
  };
  const Work work = work_of("n=100 turns=10", "BLOCK=128 PART=3");
  ASSERT_EQ(work.steps.size(), 5U);
  // Each array begins at a multiple of 256 bytes.
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> placed;
  for (const WorkspaceArray& one : work.workspace_arrays)
    placed.emplace_back(one.name, one.offset_bytes, one.bytes);
  EXPECT_EQ(placed, (decltype(placed){{"first", 0, 400}, {"spare", 512, 400}, {"sums", 1024, 2048}}));
  EXPECT_EQ(work.workspace_bytes, 1024 + 2048);
  EXPECT_TRUE(reentrant(work));
  const auto place = [](const KernelArgument& argument) -> std::string {
    if (const auto* pointer = std::get_if<ArgumentPointer>(&argument))
      return "argument " + std::to_string(pointer->argument);
    return "offset " + std::to_string(std::get<WorkspacePointer>(argument).offset_bytes);
  };
  const auto described = [&](const Step& step) {
    const auto& launch = std::get<Launch>(step);
    std::string text = launch.kernel + " " + std::to_string(launch.grid.x) + ": " +
                       place(launch.arguments[0]) + " to " + place(launch.arguments[1]);
    if (launch.arguments.size() > 4)
      text += ", " + std::to_string(std::get<std::int32_t>(launch.arguments[4]));
    return text;
  };
  std::vector<std::string> steps;
  for (const Step& step : work.steps) steps.push_back(described(step));
  EXPECT_EQ(steps, (std::vector<std::string>{
                       "begin 1: argument 0 to offset 0", "turn 1: offset 0 to offset 512, 3",
                       "turn 2: offset 512 to argument 1, 3", "turn 3: argument 1 to offset 512, 3",
                       "turn 4: offset 512 to argument 1, 1"}));
  // The last repetition writes the output, whether their number is even or odd.
  for (const int turns : {1, 2, 3, 4, 7}) {
    const Work all = work_of("n=100 turns=" + std::to_string(turns), "BLOCK=64 PART=1");
    ASSERT_EQ(all.steps.size(), static_cast<std::size_t>(turns) + 1);
    std::string before = "offset 0";
    for (std::size_t n = 1; n < all.steps.size(); ++n) {
      const auto& launch = std::get<Launch>(all.steps[n]);
      EXPECT_EQ(place(launch.arguments[0]), before);
      before = place(launch.arguments[1]);
      EXPECT_NE(before, place(launch.arguments[0]));
    }
    EXPECT_EQ(before, "argument 1") << turns;
  }
  EXPECT_EQ(made->mistake(complete_problem(op, Problem::parse("n=100 turns=10"))), "");
}

TEST(Description, MetricsAreComputedFromATime) {
  const auto with_metrics = [](const std::string& lines) {
    return text_of(replaced(good, "[rules]", "[metrics]\n" + lines + "\n[rules]"));
  };
  const auto made = described_op(
      with_metrics("gflops = \"2 * n * taps / time / 1e9\"\nper_block = \"-(n - 4.5) / (BLOCK + 1) * 2\"\n"
                   "gbs = \"n * dtype_bytes / (time * 1e9)\""),
      {});
  const Problem problem = complete_problem(made->op, Problem::parse("n=1000 taps=3 dtype=f64"));
  const auto value = [&](std::size_t i) {
    return made->metrics[i].value(problem, Values::parse("BLOCK=64 VECTOR=1"), 2.0);
  };
  ASSERT_EQ(made->metrics.size(), 3U);
  EXPECT_EQ(made->metrics[0].name, "gflops");
  EXPECT_DOUBLE_EQ(value(0), 2 * 1000 * 3 / 2e-6 / 1e9);
  EXPECT_DOUBLE_EQ(value(1), -(1000 - 4.5) / 65 * 2);
  EXPECT_DOUBLE_EQ(value(2), 1000 * 8 / 2e-6 / 1e9);
  EXPECT_THROW(made->metrics[1].value(problem, Values::parse("VECTOR=1"), 1), Error);
  // Words about a time do not decide what is right.
  const auto plain = described_op(text_of(good), {});
  EXPECT_EQ(made->op.preamble(problem), plain->op.preamble(problem));
  struct Refused {
    const char *text, *sentence;
  };
  for (const Refused& one : std::vector<Refused>{
           {"\"m / time\"",
            "scale.cu, line 27: The metric \"m / time\" names m, which is not known here; it may name n"},
           {"\"mode\"", "names mode, which is not known here"},
           {"\"(n\"", "lacks a ), at character 3."},
           {"\"n 2\"", "has \"2\" where + - * / or the end is expected, at character 3."},
           {"\"n *\"", "ends where a number or a name is expected"},
           {"\"n % 2\"", "has \"%\" where"},
           {"3", "The metric bad is 3; give a text in quotes."}})
    EXPECT_THAT(complaint(with_metrics(std::string("bad = ") + one.text)), HasSubstr(one.sentence));
  const std::string deep = std::string(200, '(') + "n" + std::string(200, ')');
  EXPECT_THAT(complaint(with_metrics("bad = \"" + deep + "\"")), HasSubstr("too many parentheses"));
}

TEST(Description, AMemberOfAStructMayCountRepetitions) {
  const auto made = described_op(text_of(R"cu(/* tunesmith
[problem]
n = [1, 100000]
[arrays]
y = { extents = ["n"], role = "inout" }
[axes]
BLOCK = [64]
[launch]
repeat = 3
grid = 1
block = "BLOCK"
arguments = ["y", { step = "10 * step", n = "n" }]
*/
struct Turn { int step, n; };
__global__ void count(float* y, Turn turn) { if (turn.n > BLOCK) y[turn.step] += 1; }
)cu"),
                                 {});
  const Template& tmpl = made->op.templates.front();
  const Problem problem = complete_problem(made->op, Problem::parse("n=100"));
  const Work work = tmpl.work(problem, tmpl.space(problem).complete({}));
  ASSERT_EQ(work.steps.size(), 3U);
  for (std::size_t step = 0; step < 3; ++step)
    EXPECT_EQ(std::get<std::vector<std::int32_t>>(std::get<Launch>(work.steps[step]).arguments[1]),
              (std::vector<std::int32_t>{static_cast<std::int32_t>(10 * step), 100}));
}

TEST(Description, LaunchesThatGoTogetherAreRepeatedInTurn) {
  const std::string text = R"cu(/* tunesmith
name = "both"
zeroed = ["y", "counts"]
[problem]
n = [1, 100000]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
counts = { extents = ["BLOCK"], role = "workspace" }
[axes]
BLOCK = [64, 128]
[[launch]]
kernel = "a"
repeat = "n - 2"
grid = "1"
block = "BLOCK"
arguments = ["x", "counts", "step"]
[[launch]]
kernel = "b"
together = true
grid = "1"
block = "BLOCK"
arguments = ["counts", "y", "n - 3 - step"]
[[launch]]
kernel = "a"
grid = 2
block = "BLOCK"
arguments = ["x", "counts", 7]
*/
__global__ void a(const float* x, int* counts, int step) { counts[0] = x[0] * BLOCK; }
__global__ void b(const int* counts, float* y, int step) {}
)cu";
  const auto made = described_op(text_of(text), {});
  const Template& tmpl = made->op.templates.front();
  const auto work_of = [&](int n) {
    const Problem problem = complete_problem(made->op, Problem::parse("n=" + std::to_string(n)));
    return tmpl.work(problem, tmpl.space(problem).complete({}));
  };
  std::string order;
  for (const Step& step : work_of(5).steps) {
    if (const auto* zero = std::get_if<Zero>(&step)) {
      order += "zero " + std::to_string(zero->bytes) + " ";
    } else {
      const auto& launch = std::get<Launch>(step);
      order += launch.kernel + std::to_string(std::get<std::int32_t>(launch.arguments[2])) + " ";
    }
  }
  EXPECT_EQ(order, "zero 20 zero 256 a0 b2 a1 b1 a2 b0 a7 ");
  EXPECT_EQ(work_of(2).steps.size(), 3U) << "a launch may be repeated 0 times";
  // A reference has no workspace that it does not take.
  const auto compared =
      described_op(text_of(replaced(text, "*/\n",
                                    "[reference]\nkernel = \"plain\"\narguments = [\"x\", \"y\"]\n*/\n"
                                    "__global__ void plain(const float* x, float* y) {}\n")),
                   {});
  const Problem problem = complete_problem(compared->op, Problem::parse("n=5"));
  const Config config = compared->op.templates.front().space(problem).complete({});
  const Work plain = compared->reference.work(problem, config);
  ASSERT_EQ(plain.steps.size(), 2U);
  EXPECT_EQ(std::get<Zero>(plain.steps[0]).bytes, 20);
  EXPECT_EQ(plain.workspace_bytes, 0);
  // "n - 2" is below 0, so no config is legal.
  EXPECT_THROW(complete_problem(made->op, Problem::parse("n=1")), UsageError);
  EXPECT_THROW(complete_problem(made->op, Problem::parse("n=99999")), UsageError) << "too many launches";
}

TEST(Description, LaunchesThatCannotBeAreSentences) {
  EXPECT_EQ(complaint(text_of(launches)), "");
  const std::string swap = "{ from = \"first\", to = \"y\", spare = \"spare\" }";
  for (const auto& [from, to, sentence] :
       std::initializer_list<std::tuple<std::string, std::string, std::string>>{
           {"y = { extents = [\"n\"]", "y = { extents = [\"n + PART\"]",
            "The extent \"n + PART\" of y names the axis PART, so what y holds would depend on the config, "
            "and "
            "could not be compared. Give it role = \"workspace\", and add a [[launch]] that makes an output "
            "of "
            "it."},
           {"role = \"workspace\", dtype = \"f64\"", "role = \"workspace\", dtype = \"f64\", values = [0, 1]",
            "The array sums is a workspace, which has no values"},
           {"spare = { extents = [\"n\"]", "spare = { extents = [\"n + BLOCK\"]",
            "The arrays of swap change places, but y has 400 bytes and spare 656; give them the same "
            "extents."},
           {"kernel = \"begin\"\n", "", "There are several kernels (begin, turn); set kernel"},
           {swap, "\"first\"", "swap is \"first\"; give { from"},
           {swap, "{ from = \"first\", to = \"y\" }", "swap has no spare"},
           {swap, "{ from = \"first\", to = \"y\", spare = \"z\" }",
            "swap.spare is z, which is not an array"},
           {swap, "{ from = \"y\", to = \"y\", spare = \"spare\" }", "swap names an array twice"},
           {swap, "{ from = \"first\", to = \"y\", spare = \"x\" }",
            "swap.spare is x, which is no workspace"},
           {swap, "{ from = \"first\", to = \"x\", spare = \"spare\" }",
            "swap.to is x, which is neither an output nor a workspace"},
           {swap, "{ from = \"sums\", to = \"y\", spare = \"spare\" }", "of swap have other dtypes"},
           {swap, "{ from = \"x\", to = \"y\", spare = \"spare\" }",
            "The launch does not take x, which swap names"},
           {"[\"x\", \"first\", \"sums\", \"n\"]", "[\"x\", \"y\", \"sums\", \"n\"]", ""},
           {"[\"first\", \"y\", \"sums\"", "[\"spare\", \"y\", \"sums\"",
            "The launch takes spare, the spare array of swap"},
           {"repeat = \"ceil_div(turns, PART)\"\n", "", "A launch with swap is repeated; add repeat"},
           {"repeat = \"ceil_div(turns, PART)\"", "repeat = \"step\"", "names step, which is not known here"},
           {"repeat = \"ceil_div(turns, PART)\"", "repeat = \"turns - 1\"",
            "The repeat \"turns - 1\" of turn is 0, so nothing writes y"},
           {"kernel = \"begin\"\n", "kernel = \"begin\"\ntogether = true\n",
            "The first launch has no launch before it"},
           {"swap = {", "together = true\nswap = {", "give repeat and swap to the first one"},
           {"kernel = \"begin\"\ngrid = \"", "kernel = \"begin\"\ngrid = \"step + ",
            "names step, which is not known"},
           {"grid = \"step + 1\"", "grid = \"step\"", "The grid \"step\" is 0, where step is 0"},
           {"turns = [1, 100]", "turns = [1, 100]\nstep = 3", "step counts its repetitions"},
           {"double* sums, int n) {", "const double* sums, int n) {",
            "No kernel can write sums, because each takes it as a pointer to const"},
           {"[\"first\", \"y\", \"sums\", \"n\"", "[\"first\", \"y\", \"y\", \"n\"",
            "whose elements are f64"},
           {"name = \"smooth\"", "name = \"smooth\"\nzeroed = [\"x\"]",
            "The array x is in zeroed, but only an output, a workspace or a __device__ variable"},
           {"[rules]", "[reference]\nkernel = \"turn\"\n[rules]", "The reference is the tuned kernel itself"},
           {"[rules]", "[launches]\n[rules]", "launches is not a key of the description"}})
    EXPECT_THAT(complaint(text_of(replaced(launches, from, to))), HasSubstr(sentence))
        << from << " -> " << to;
}

// A template is compiled once for each list of arguments, whichever launches use it.
TEST(Description, EachLaunchMayInstantiateItsTemplate) {
  const std::string text =
      "/* tunesmith\nname = \"two\"\n[problem]\nn = [1, 1000]\n[arrays]\nx = [\"n\"]\n"
      "part = { extents = [\"BLOCK\"], role = \"workspace\" }\ny = { extents = [\"n\"], role = \"output\" }\n"
      "[axes]\nBLOCK = [64, 128]\n[[launch]]\ninstantiate = \"first<float, BLOCK>\"\ngrid = 1\nblock = "
      "\"BLOCK\"\narguments = [\"x\", \"part\", \"n\"]\n[[launch]]\ninstantiate = \"second<BLOCK, "
      "true>\"\ngrid "
      "= 1\nblock = \"BLOCK\"\narguments = [\"part\", \"y\", \"n\"]\n*/\n"
      "template <class T, int B> __global__ void first(const T* x, T* y, int n) {}\n"
      "template <int B, bool LAST> __global__ void second(const float* x, float* y, int n) {}\n";
  const Files common = {{"common/c_names.cuh", ""}, {"common/half_types.cuh", ""}, {"common/shared.cuh", ""}};
  const auto made = described_op(text_of(text), common);
  const Problem problem = complete_problem(made->op, Problem::parse("n=10"));
  const Template& tmpl = made->op.templates.front();
  const Source source =
      render(made->op, tmpl, problem, tmpl.space(problem).complete({}), "sm_90a", made->files);
  EXPECT_EQ(source.kernels, (std::vector<std::string>{"first", "second"}));
  EXPECT_THAT(source.text, HasSubstr("ENTRY(first)(const T* x"));
  EXPECT_THAT(source.text, HasSubstr("constexpr auto argument_1 = (true);"));
  EXPECT_EQ(complaint(text_of(replaced(text, "second<BLOCK, true>", "first<float, BLOCK>"))), "");
  // With other arguments it is one more kernel.
  const auto twice =
      described_op(text_of(replaced(text, "second<BLOCK, true>", "first<float, 2 * BLOCK>")), common);
  const Source both = render(twice->op, twice->op.templates.front(), problem,
                             twice->op.templates.front().space(problem).complete({}), "sm_90a", twice->files);
  EXPECT_EQ(both.kernels, (std::vector<std::string>{"first", "first_2"}));
  EXPECT_THAT(both.text, HasSubstr("constexpr auto argument_1 = (BLOCK);"));
  EXPECT_THAT(both.text, HasSubstr("constexpr auto argument_1 = (2 * BLOCK);"));
  EXPECT_THAT(both.text, HasSubstr("ENTRY(first_2)(const T* x"));
}

TEST(Description, SaysHowItIsCompiled) {
  const Files common = {{"common/c_names.cuh", ""}, {"common/half_types.cuh", ""}, {"common/shared.cuh", ""}};
  const auto source = [&](const std::string& text, const std::string& config, bool of_reference = false) {
    const auto made = described_op(text_of(text), common);
    const Problem problem = complete_problem(made->op, Problem::parse("n=1000"));
    const Template& tmpl = of_reference ? made->reference : made->op.templates.front();
    return render(made->op, tmpl, problem, tmpl.space(problem).legal(Values::parse(config)), "sm_90a",
                  made->files);
  };
  const auto with = [](const std::string& compile) {
    return replaced(replaced(good, "[rules]", "[compile]\n" + compile + "\n[rules]"), "BLOCK = [64, 128]",
                    "BLOCK = [64, 128]\nFAST = [false, true]");
  };
  const std::string usual = "BLOCK=128 VECTOR=2";
  const Source none = source(good, usual);
  EXPECT_EQ(compiler_flags_of(none.text), CompilerFlags());
  const std::string all = with(
      "fast_math = \"FAST\"\nmaxrregcount = 64\nstandard = \"c++17\"\n"
      "defines = { vector = \"FAST\", valid = \"unsigned int\" }");
  const Source slow = source(all, usual + " FAST=0"), fast = source(all, usual + " FAST=1");
  EXPECT_EQ(compiler_flags_of(slow.text),
            (CompilerFlags{.fast_math = false, .registers = 64, .standard = 17}));
  EXPECT_EQ(compiler_flags_of(fast.text),
            (CompilerFlags{.fast_math = true, .registers = 64, .standard = 17}));
  EXPECT_THAT(fast.text, HasSubstr("// On a GPU it is compiled with --use_fast_math --maxrregcount=64 "
                                   "--std=c++17.\n"));
  EXPECT_THAT(fast.text, HasSubstr("#define vector (1)\n#define valid unsigned int\n"));
  EXPECT_FALSE(compiler_flags_of(source(all, usual + " FAST=1", true).text).fast_math)
      << "a reference is computed exactly";
  // A kernel that is compiled otherwise is another one.
  EXPECT_NE(source(with("fast_math = \"FAST\""), usual + " FAST=0").hash,
            source(with("fast_math = \"FAST\""), usual + " FAST=1").hash);
  EXPECT_NE(source(replaced(good, "[rules]", "[compile]\nmaxrregcount = 64\n[rules]"), usual).hash,
            none.hash);
  EXPECT_EQ(source(replaced(good, "[rules]", "[compile]\nfast_math = false\n[rules]"), usual).hash,
            none.hash);
  for (const auto& [compile, sentence] : std::initializer_list<std::pair<const char*, const char*>>{
           {"fast_math = 2\ndefines = { vector = \"FAST\" }", "fast_math is 2; it must be from 0 to 1."},
           {"fast_math = \"FASTER\"\ndefines = { vector = \"FAST\" }",
            "give a number, true, false, or the name of an axis"},
           {"maxrregcount = \"BLOCK\"\nfast_math = \"FAST\"", ""},
           {"maxrregcount = 300\nfast_math = \"FAST\"", "it must be from 16 to 255, or 0 for no limit."},
           {"maxrregcount = \"VECTOR\"\nfast_math = \"FAST\"",
            "maxrregcount is 1, a value of \"VECTOR\"; it must be from 16"},
           {"standard = \"c++98\"\nfast_math = \"FAST\"", "allowed are \"c++17\" and \"c++20\""},
           {"options = \"-O0\"\nfast_math = \"FAST\"", "options is not a key of [compile]"},
           {"fast_math = \"FAST\"\ndefines = { vector = \"1; system()\" }", "or a type such as"},
           {"fast_math = \"FAST\"\ndefines = { BLOCK = 1 }", "is also an axis or a parameter"},
           {"fast_math = \"FAST\"\ndefines = { TUNESMITH = 1 }", "has no allowed name"},
           {"fast_math = \"FAST\"\ndefines = { missing = 1 }", "does not occur in scale.cu"},
           {"fast_math = \"FAST\"\ninclude = \"../common\"",
            "include is \"../common\"; give a list of folders."},
           {"fast_math = \"FAST\"\ninclude = [\"/usr/include\"]",
            "give folders relative to the kernel's file"},
           {"maxrregcount = 32", "The axis FAST does not occur in scale.cu"}})
    EXPECT_THAT(complaint(text_of(with(compile))), HasSubstr(sentence)) << compile;
}

// Files are found as a compiler with -I finds them; what no folder has stays as it is.
TEST(Description, FilesOfIncludeFoldersAreRead) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "tunesmith_include_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path root = name, file = root / "project" / "kernels" / "scale.cu";
  const auto write = [](const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  };
  fs::create_directories(root / "project" / ".git");
  write(root / "above" / "math.cuh", "another project's");
  write(root / "project" / "benchmark" / "absent.h", "another program's");
  write(root / "project" / "common" / "types.h", "#pragma once\n#include <math.cuh>\nusing Real = float;\n");
  write(root / "project" / "common" / "math.cuh", "__device__ float twice(float x) { return 2 * x; }\n");
  const std::string includes =
      "#include <types.h>\n#  include \"math.cuh\"\n#include <absent.h>\n#include <math.h>\n";
  write(file, includes);
  EXPECT_EQ(read_kernel_file(file).included.size(), 0U);
  EXPECT_EQ(folders_of_absent_files(file), std::vector<std::string>{"../common"});
  const auto is_read = [&](const KernelFile& read) {
    ASSERT_EQ(read.included.size(), 2U);
    EXPECT_EQ(read.included[0].first, "types.h");
    EXPECT_EQ(read.included[1].first, "math.cuh");
    EXPECT_EQ(read.included[0].second, "#pragma once\n#include \"math.cuh\"\nusing Real = float;\n");
    EXPECT_EQ(read.included[1].second, "__device__ float twice(float x) { return 2 * x; }\n");
    EXPECT_THAT(read.cu, HasSubstr("#include \"types.h\"\n#  include \"math.cuh\"\n#include <absent.h>\n"));
  };
  is_read(read_kernel_file(file, {"../common"}));
  write(fs::path(file).replace_extension(".toml"), "[compile]\ninclude = [\"../common\"]\n");
  is_read(read_kernel_file(file));
  EXPECT_THAT(read_kernel_file(file).cu, HasSubstr("#include <math.h>"));
  fs::remove_all(root);
}

// So does a product of two sizes, where no size alone can be that large.
TEST(Description, ACompanionHasMoreElementsThan16BitsCount) {
  const auto most = [](const std::string& ranges) {
    const auto own = described_op(
        text_of("/* tunesmith\n[problem]\n" + ranges +
                "[arrays]\nx = [\"h\", \"w\"]\ny = { extents = [\"h\", \"w\"], role = \"output\" "
                "}\n[axes]\nBLOCK = "
                "[64]\n[rules]\nproblem = \"w % 16 == 0\"\n[launch]\ngrid = [\"ceil_div(w, BLOCK)\", "
                "\"h\"]\nblock = "
                "\"BLOCK\"\n*/\n__global__ void twice(const float* x, float* y, int h, int w) {\n  int i = "
                "blockIdx.x * "
                "BLOCK + threadIdx.x;\n  if (i < w) y[blockIdx.y * w + i] = 2 * x[blockIdx.y * w + i];\n}\n"),
        {});
    std::int64_t largest = 0;
    for (const Problem& one : own->op.companions(complete_problem(own->op, Problem::parse("h=16 w=16"))))
      largest = std::max(largest, one.integer("h") * one.integer("w"));
    return largest;
  };
  EXPECT_EQ(most("h = [1, 4096]\nw = [1, 4096]\n"), 288 * 288);
  EXPECT_LT(most("h = [1, 200]\nw = [1, 200]\n"), 65536);
  EXPECT_GT(most("h = [1, 4096]\nw = [1, 100000]\n"), 65536) << "one size alone";
}

// A size beyond 65536 shows an index of 16 bits, if the range has it and the arrays stay small.
TEST(Description, ACompanionIsBeyond16Bits) {
  const auto largest = [](const std::string& range) {
    const auto own = described_op(text_of(replaced(good, "n = [16, 1000000]", "n = " + range)), {});
    std::int64_t most = 0;
    for (const Problem& one : own->op.companions(complete_problem(own->op, Problem::parse("n=1000"))))
      most = std::max(most, one.integer("n"));
    return most;
  };
  EXPECT_LT(largest("[16, 30000]"), 1 << 15);
  EXPECT_EQ(largest("[16, 50000]"), 50000);
}

// An index may be too narrow for the largest size alone.
TEST(Description, ACompanionHasTheLargestSize) {
  const auto problems = [](const std::string& ranges) {
    const auto own = described_op(
        text_of("/* tunesmith\n[problem]\n" + ranges +
                "[arrays]\nx = [\"h\", \"w\", \"d\"]\ny = { extents = [\"h\", \"w\", \"d\"], role = "
                "\"output\" }\n[axes]\nBLOCK = [64]\n[launch]\ngrid = \"ceil_div(h * w * d, BLOCK)\"\n"
                "block = \"BLOCK\"\n*/\n__global__ void twice(const float* x, float* y, int h, int w, int d) "
                "{\n  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < h * w * d) y[i] = 2 * x[i];\n}\n"),
        {});
    std::set<std::string> found;
    for (const Problem& one : own->op.companions(complete_problem(own->op, Problem::parse("h=5 w=5 d=5"))))
      found.insert(one.text());
    return found;
  };
  EXPECT_TRUE(problems("h = [1, 20]\nw = [1, 50]\nd = [1, 64]\n").contains("h=20 w=50 d=64 dtype=f32"));
  EXPECT_TRUE(
      problems(
          "h = { usual = [1, 20], maximum = 30 }\nw = [1, 50]\nd = { usual = [1, 64], maximum = 4096 }\n")
          .contains("h=30 w=50 d=64 dtype=f32"))
      << "a small maximum is allowed too";
  const auto large = problems("h = [1, 1900]\nw = [1, 2000]\nd = [1, 64]\n");
  for (const char* size : {"h=1900 ", "w=2000 ", "d=64 "})
    EXPECT_TRUE(std::any_of(large.begin(), large.end(), [&](const std::string& text) {
      return text.find(size) != std::string::npos;
    })) << size;
}

// A sum may be too narrow for sizes that are no little work: then one is as large as is.
TEST(Description, ACompanionHasALargePartOfASizeThatALoopEndsBy) {
  const auto own = described_op(
      text_of(
          "/* tunesmith\n[problem]\nrows = [1, 1000]\ncols = [1, 5000]\n[arrays]\nx = [\"rows\", \"cols\"]\n"
          "y = { extents = [\"rows\"], role = \"output\" }\n[axes]\nBLOCK = [64]\n[launch]\ngrid = \"rows\"\n"
          "block = \"BLOCK\"\n*/\n__global__ void sum(const float* x, float* y, int rows, int cols) {\n"
          "  float all = 0;\n  for (int c = threadIdx.x; c < cols; c += BLOCK) all += x[blockIdx.x * cols + "
          "c];\n"
          "  if (all != 0) atomicAdd(&y[blockIdx.x], all);\n}\n"),
      {});
  const auto all = own->op.companions(complete_problem(own->op, Problem::parse("rows=5 cols=100")));
  EXPECT_THAT(all, testing::Contains(Problem::parse("rows=1 cols=1000 dtype=f32")));
}

TEST(Description, ACompanionIsBeyondAGridWithALimit) {
  const auto own = described_op(text_of(replaced(good, "grid = [\"ceil_div(n, BLOCK * VECTOR)\"]",
                                                 "grid = \"min(ceil_div(n, BLOCK * VECTOR), 2048)\"")),
                                {});
  std::int64_t most = 0;
  for (const Problem& one : own->op.companions(complete_problem(own->op, Problem::parse("n=1000"))))
    most = std::max(most, one.integer("n"));
  EXPECT_EQ(most, 2048 * 128 * 5 / 4) << "a quarter of the threads has two elements";
}

TEST(Description, AnArraySaysWhatItHolds) {
  const Problem problem = Problem::parse("n=100 dtype=f32");
  const auto held = [&](const std::string& type, const std::string& values) {
    const auto own = described_op(with_pointer(type, ", values = " + values), {});
    const Contents usual = *own->op.arguments[1].usual;
    const auto [least, most] = usual.bounds ? usual.bounds(problem) : std::pair(usual.least, usual.most);
    return std::tuple(usual.spread, least, most, own->op.arguments[1].contents.size());
  };
  EXPECT_EQ(held("int*", "\"index(n)\""), std::tuple(Contents::uniform, 0.0, 99.0, 1u));
  EXPECT_EQ(held("int*", "\"uniform(-n, n)\""), std::tuple(Contents::uniform, -100.0, 100.0, 2u));
  EXPECT_EQ(held("int*", "\"equal(n)\""), std::tuple(Contents::uniform, 100.0, 100.0, 1u));
  const auto own = described_op(with_pointer("int*", ", values = [-7, 7]"), {});
  EXPECT_EQ(own->op.arguments[1].contents.back().least, 7) << "all are the largest";
  EXPECT_EQ(held("int*", "\"offsets(2 * n)\""), std::tuple(Contents::offsets, 0.0, 200.0, 1u));
  EXPECT_EQ(held("float*", "\"sorted(-1.5, n)\""), std::tuple(Contents::ascending, -1.5, 100.0, 1u));
  EXPECT_EQ(held("float*", "[\"equal(3)\", \"huge\", \"nan(0, 1)\"]"),
            std::tuple(Contents::uniform, 3.0, 3.0, 2u));
  EXPECT_EQ(held("float*", "[1000, 1001]"), std::tuple(Contents::uniform, 1000.0, 1001.0, 1u));
  for (const char* bad : {"\"index\"", "\"index(m)\"", "\"indices(n)\"", "\"few(1, -1)\"", "\"few(1)\"",
                          "\"magnitudes(0, 1)\"", "\"sorted(0, 1\"", "3", "[]"})
    EXPECT_NE(complaint(with_pointer("int*", std::string(", values = ") + bad)), "") << bad;
  // Values are made as doubles, so that larger whole numbers would lose digits.
  for (const char* given :
       {"\"equal(9007199254740993)\"", "[0, 9007199254740993]", "\"few(-9007199254740993, 0)\""})
    EXPECT_THAT(complaint(with_pointer("long long*", std::string(", values = ") + given)),
                HasSubstr("(2^53) can be made"));
  EXPECT_EQ(complaint(with_pointer("long long*", ", values = [0, 9007199254740992]")), "");
  EXPECT_EQ(complaint(with_pointer("float*", ", values = \"index(n)\"")),
            "scale.cu, line 6: The array c has the values index(n), which are integers, but the dtype f32.");
}

// A config that is in no rule is not just left out: it would never be seen.
TEST(Description, AConfigThatCannotBeComputedIsAMistake) {
  const Problem problem = Problem::parse("n=1000 taps=3 mode=same dtype=f32");
  EXPECT_EQ(described_op(text_of(good), {})->mistake(problem), "");
  const std::string divides = replaced(good, "grid = [\"ceil_div(n, BLOCK * VECTOR)\"]",
                                       "grid = [\"ceil_div(n, BLOCK * VECTOR - 256)\"]");
  const std::string mistake = described_op(text_of(divides), {})->mistake(problem);
  EXPECT_THAT(mistake, HasSubstr("The config \"BLOCK=64 VECTOR=4\" of scale for n=1000"));
  const std::string excluded = replaced(divides, "must = [\"n % VECTOR == 0\"]",
                                        "must = [\"BLOCK * VECTOR != 256\", \"n % VECTOR == 0\"]");
  EXPECT_EQ(described_op(text_of(excluded), {})->mistake(problem), "");
  const std::string rule = replaced(good, "\"n % VECTOR == 0\"", "\"n % (VECTOR - 4) == 0\"");
  EXPECT_NE(described_op(text_of(rule), {})->mistake(problem), "");
  const std::string odd = replaced(good, "\"VECTOR * dtype_bytes\"", "\"VECTOR * 3\"");
  EXPECT_THAT(described_op(text_of(odd), {})->mistake(problem), HasSubstr("power of 2"));
}

TEST(Description, AnAxisMayBeKnownByTheBlockAlone) {
  const std::string text =
      "/* tunesmith\n[problem]\nn = [16, 1000]\n[arrays]\ny = { extents = [\"n\"], role = \"output\" }\n"
      "[axes]\nBLOCK = [64, 128]\n[launch]\ngrid = \"ceil_div(n, BLOCK)\"\nblock = \"BLOCK\"\n*/\n"
      "__global__ void k(float* y, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; }\n";
  const auto own = described_op(text_of(text), {});
  for (const Problem& companion : own->op.companions(Problem::parse("n=500 dtype=f32")))
    EXPECT_GE(companion.integer("n"), 16) << "the range that the description gives";
  EXPECT_NE(complaint(text_of(replaced(text, "blockDim.x", "64"))), "");
  // A kernel that only defines the name does not read it.
  const std::string defined =
      replaced(replaced(text, "blockDim.x", "64"), "__global__", "#define BLOCK 64\n__global__");
  EXPECT_NE(complaint(text_of(defined)), "");
}

struct Bad {
  const char *from, *to;
};

// A kernel is a different one if something that decides whether its results are right has changed.
TEST(Description, WhatDecidesWhatIsRightIsPartOfAnIdentity) {
  const Files common = {{"common/c_names.cuh", ""}, {"common/half_types.cuh", ""}, {"common/shared.cuh", ""}};
  const auto identity = [&](const std::string& text) {
    const auto own = described_op(text_of(text), common);
    const Problem problem = complete_problem(own->op, Problem::parse("n=1000"));
    const Template& tmpl = own->op.templates.front();
    const Config config = tmpl.space(problem).legal(Values::parse("BLOCK=128 VECTOR=2"));
    return render(own->op, tmpl, problem, config, "sm_90a", own->files).hash;
  };
  const std::string usual = identity(good);
  const std::string function = replaced(replaced(good, "kernel = \"plain\"", "function = \"host\""),
                                        "__global__ void plain", "void host");
  const std::string of_function = identity(function);
  const std::string alone =
      replaced(good, "[reference]\nkernel = \"plain\"\narguments = [\"x\", \"y\", \"count\", \"n\"]\n", "");
  for (const auto& [from, to] : {Bad{"relative = 1e-5", "relative = 1e-6"},
                                 {"relative = 1e-5", "relative = 1e-5, absolute = 1"},
                                 {"values = [0, 5]", "values = [0, 6]"},
                                 {"VECTOR * dtype_bytes", "2 * VECTOR * dtype_bytes"},
                                 {"kernel = \"plain\"", "kernel = \"plain\"\ngrid = 1\nblock = 1"},
                                 {"companions = [\"n=4\"]", "companions = [\"n=8\"]"},
                                 {"companions = [\"n=4\"]", ""},
                                 {"n = [16, 1000000]", "n = [16, 2000000]"},
                                 {"\"n % 4 == 0\"", "\"n % 2 == 0\""},
                                 {"\"n\", \"mode == 'valid'\", 0.5", "\"n\", \"mode == 'valid'\", 0.25"},
                                 {"extents = \"1\", role = \"inout\"", "extents = \"2\", role = \"inout\""},
                                 {"(const T* in, T* out, int* count, long long size) {}",
                                  "(const T* in, T* out, int* count, long long size) { *count = 1; }"}})
    EXPECT_NE(identity(replaced(good, from, to)), usual) << from << " -> " << to;
  for (const auto& [from, to] : {Bad{"BLOCK = [64, 128]", "BLOCK = [64, 128, 256]"},
                                 {"examples = [\"n=100\"]", "examples = [\"n=200\"]"},
                                 {"flops = \"2 * n\"", "flops = \"3 * n\""},
                                 {"what = \"elements per access\"", "what = \"elements\""},
                                 {"why = \"Rows are padded to multiples of 4.\"", "why = \"Padded.\""},
                                 {"[launch]\ngrid", "# grid and block\n[launch]\n\ngrid  "},
                                 {"worth = \"BLOCK >= 128\"", ""},
                                 {"#define BLOCK 64", "\n#define BLOCK 64  // threads"}})
    EXPECT_EQ(identity(replaced(good, from, to)), usual) << from << " -> " << to;
  EXPECT_NE(of_function, usual);
  const std::string body = "int* count, long long size) {}";
  EXPECT_NE(identity(replaced(function, body, "int* count, long long size) { *count = 1; }")), of_function);
  EXPECT_EQ(identity(replaced(function, body, "int* count,  // one\n long long size) {}")), of_function);
  // If the untuned kernel is the reference, its config is part of the identity.
  const std::string values = "values = [1, 2, 4]";
  EXPECT_NE(identity(replaced(alone, values, "values = [2, 1, 4]")), identity(alone));
  EXPECT_EQ(identity(replaced(alone, values, "values = [1, 4, 2, 8]")), identity(alone));
  EXPECT_EQ(identity(replaced(good, values, "values = [2, 1, 4]")), usual);
}

const Bad bad[] = {
    {"/* tunesmith", "/* nothing"},
    {"kernel = \"scale\"", "kernel = \"scale"},
    {"kernel = \"scale\"", "kernel = 3"},
    {"kernel = \"scale\"", "kernel = \"scales\""},
    {"kernel = \"scale\"", "kernel = \"general\""},
    {"kernel = \"scale\"", ""},
    {"kernel = \"scale\"", "kernel = \"scale\"\nname = \"Scale 2\""},
    {"kernel = \"scale\"", "kernel = \"scale\"\nkernels = 2"},
    {"kernel = \"scale\"", "kernel = \"scale\"\nwhat = \"a\\nb\""},
    {"__global__", "__device__"},
    {"dtype = [\"f32\", \"f64\"]", "dtype = \"float\""},
    {"dtype = [\"f32\", \"f64\"]", "dtype = []"},
    {"type = \"T\"", ""},
    {"type = \"T\"", "type = \"T*\""},
    {"compiled_in = [\"taps\"]", "compiled_in = [\"tap\"]"},
    {"compiled_in = [\"taps\"]", "compiled_in = [\"mode\"]"},
    {"flops = \"2 * n\"", "flops = \"2 * BLOCK\""},
    {"flops = \"2 * n\"", "flops = 2.5"},
    {"relative = 1e-5", "relative = -1"},
    {"relative = 1e-5", "relativ = 1"},
    {"tolerance = { relative = 1e-5 }", "tolerance = \"little\""},
    {"tolerance = { relative = 1e-5 }", "compute_capability = 90"},
    {"examples = [\"n=100\"]", "examples = [\"n=101\"]"},
    {"examples = [\"n=100\"]", "examples = [\"m=100\"]"},
    {"companions = [\"n=4\"]", "companions = [\"n=5\"]"},
    {"companions = [\"n=4\"]", "companions = 4"},
    {"[problem]", "[problems]"},
    {"n = [16, 1000000]", "n = [16]"},
    {"n = [16, 1000000]", "n = [1000, 16]"},
    {"n = [16, 1000000]", "n = [0, 16]"},
    {"n = [16, 1000000]", "n = \"many\""},
    {"n = [16, 1000000]", "weight = [16, 1000000]"},
    {"n = [16, 1000000]", "n = [16, 1000000]\nspare = 3"},
    {"T* out", "const T* out"},
    {"type = \"T\"", "type = \"Real\""},
    {"int* count", "short* count"},
    {"values = [0, 5]", "values = \"index(m)\""},
    {"values = [0, 5]", "values = \"ascending(0, 5)\""},
    {"values = [0, 5]", "values = [\"index(n)\", \"few(5, 0)\"]"},
    {"n = [16, 1000000]", "\"n m\" = [16, 1000000]"},
    {"default = 3", "default = 30"},
    {"default = 3", "default = \"three\""},
    {"default = 3", "defaults = 3"},
    {"mode = [\"same\", \"valid\"]", "mode = [\"same\", \"same\"]"},
    {"mode = [\"same\", \"valid\"]", "mode = { words = [\"same\"], default = \"full\" }"},
    {"mode = [\"same\", \"valid\"]", "mode = { words = [\"same\"], usual = [1, 2] }"},
    {"x = [\"n + taps - 1\"]", "x = [\"n + tap - 1\"]"},
    {"x = [\"n + taps - 1\"]", "x = [\"n + (taps\"]"},
    {"x = [\"n + taps - 1\"]", "x = 5"},
    {"x = [\"n + taps - 1\"]", "x = { role = \"input\" }"},
    {"x = [\"n + taps - 1\"]", "x = []"},
    {"x = [\"n + taps - 1\"]", "x = [\"n - 1000\"]"},
    {"role = \"output\"", "role = \"out\""},
    {"dtype = \"i32\"", "dtype = \"i16\""},
    {"dtype = \"i32\"", "dtype = \"i64\""},
    {"values = [0, 5]", "values = [5, 0]"},
    {"values = [0, 5]", "values = [0, 1, 5]"},
    {"BLOCK = [64, 128]", "BLOCK = 64"},
    {"BLOCK = [64, 128]", "BLOCK = [64, 64]"},
    {"BLOCK = [64, 128]", "BLOCK = [64, \"128\"]"},
    {"BLOCK = [64, 128]", "BLOCK = [64, 5000000000]"},
    {"BLOCK = [64, 128]", "BLOCKS = [64, 128]"},
    {"BLOCK = [64, 128]", "n = [64, 128]"},
    {"values = [1, 2, 4], ", ""},
    {"must = [\"n % VECTOR == 0\"]", "must = [\"n % VECTORS == 0\"]"},
    {"must = [\"n % VECTOR == 0\"]", "must = [{ why = \"so\" }]"},
    {"must = [\"n % VECTOR == 0\"]", "must = [\"VECTOR == 8\"]"},
    {"must = [\"n % VECTOR == 0\"]", "musts = [\"n % VECTOR == 0\"]"},
    {"worth = \"BLOCK >= 128\"", "worth = \"mode >= 128\""},
    {"grid = [\"ceil_div(n, BLOCK * VECTOR)\"]", ""},
    {"grid = [\"ceil_div(n, BLOCK * VECTOR)\"]", "grid = [\"1\", \"1\", \"1\", \"1\"]"},
    {"grid = [\"ceil_div(n, BLOCK * VECTOR)\"]", "grid = [\"n - n\"]"},
    {"block = \"BLOCK\"", "block = \"BLOCK * \""},
    {"shared_bytes = \"BLOCK * dtype_bytes\"", "shared_bytes = \"0 - BLOCK\""},
    {"\"mode == 'valid'\", 0.5]", "\"mode == 'valid'\"]"},
    {"\"mode == 'valid'\", 0.5]", "\"mode == 'full'\", 0.5]"},
    {"\"mode == 'valid'\", 0.5]", "0.5, 0.5]"},
    {"[\"x\", \"y\", \"count\", \"n\", \"mode", "[\"x\", \"z\", \"count\", \"n\", \"mode"},
    {"[\"x\", \"y\", \"count\", \"n\", \"mode", "[\"x\", \"y\", \"count\", \"x\", \"mode"},
    {"arguments = [\"x\", \"y\", \"count\", \"n\", \"mode == 'valid'\", 0.5]", ""},
    {"float factor", "half2 factor"},
    {"kernel = \"plain\"", "kernel = \"simple\""},
    {"kernel = \"plain\"", "kernel = \"scale\""},
    {"kernel = \"plain\"", ""},
    {"kernel = \"plain\"", "kernel = \"plain\"\nblock = \"32\""},
};

TEST(Description, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint(text_of(good)), "");
  std::string all;
  for (const Bad& one : bad) {
    const std::string sentence = complaint(text_of(replaced(good, one.from, one.to)));
    EXPECT_NE(sentence, "") << one.from << " -> " << one.to;
    EXPECT_EQ(sentence.rfind("scale.cu", 0), 0U) << sentence;
    std::string from = one.from;
    std::string to = one.to;
    for (std::string* text : {&from, &to})
      for (std::size_t at; (at = text->find('\n')) != std::string::npos;) text->replace(at, 1, " ");
    all += from + " -> " + to + "\n  " + sentence + "\n";
  }
  const std::string path = source_folder + std::string("/tests/golden/descriptions.txt");
  if (std::getenv("TUNESMITH_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << all;
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(all, std::string(std::istreambuf_iterator<char>(file), {}));
}

// Pieces are lost, doubled, moved and changed: the result is an op or a sentence, nothing else.
TEST(Description, AnyTextIsAnswered) {
  const std::uint64_t rounds = fuzz_rounds(400);
  Random random(5);
  int described = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text = round % 3 == 0 ? launches : good;
    for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) {
      const std::size_t at = random.below(text.size());
      const std::size_t size = std::min<std::size_t>(1 + random.below(16), text.size() - at);
      switch (random.below(4)) {
        case 0:
          text.erase(at, size);
          break;
        case 1:
          text.insert(at, text.substr(random.below(text.size()), size));
          break;
        case 2:
          text[at] = static_cast<char>(32 + random.below(95));
          break;
        default:
          text[at] = static_cast<char>(random.below(256));
      }
      if (text.empty()) text = " ";
    }
    try {
      const auto own = described_op(text_of(text), {});
      for (const std::string& example : own->op.examples) {
        const Problem problem = complete_problem(own->op, Problem::parse(example));
        static_cast<void>(own->op.companions(problem));
        static_cast<void>(own->op.templates.front().space(problem).count());
      }
      ++described;
    } catch (const UsageError&) {
    }
  }
  EXPECT_GT(described, 0);
}

TEST(Descriptions, InlinePtxIsToldFromVolatileAccesses) {
  const auto included = [](const std::string& statement) {
    const auto made = described_op(
        {.path = "lanes.cu",
         .cu =
             "/* tunesmith\n[problem]\nn = [1, 100]\n[arrays]\ny = { extents = [\"n\"], role = \"output\" }\n"
             "[axes]\nBLOCK = [64]\n[launch]\ngrid = 1\nblock = \"BLOCK\"\n*/\n__global__ void "
             "lanes(unsigned* y, "
             "int n) {\n  if (n > BLOCK) return;\n  " +
             statement + "\n}\n",
         .description = ""},
        {});
    return made->files.at("lanes/includes.h");
  };
  const char *ptx = "common/ptx.cuh", *looks = "common/volatile_looks.cuh";
  for (const char* statement : {"asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(y[0]));",
                                "__asm__ volatile (\"mov.u32 %0, %%laneid;\" : \"=r\"(y[0]));"}) {
    EXPECT_THAT(included(statement), HasSubstr(ptx));
    EXPECT_THAT(included(statement), Not(HasSubstr(looks)));
  }
  const std::string shared = included("y[0] = (unsigned)__cvta_generic_to_shared(y);");
  EXPECT_THAT(shared, HasSubstr(ptx));
  const std::string look = included("y[0] = *(volatile unsigned*)y;");
  EXPECT_THAT(look, HasSubstr(looks));
  EXPECT_THAT(look, Not(HasSubstr(ptx)));
}

}  // namespace
}  // namespace tunesmith
