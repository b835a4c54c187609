// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/c_type.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

struct KnownType {
  const char* type;
  DType dtype;
  int lanes = 1;
};

// Every spelling of a type that a user's kernel may have; an unknown type must be refused, not guessed.
TEST(CType, KnowsTheElementsOfPointers) {
  for (const KnownType& one : {KnownType{"float*", DType::f32},
                               KnownType{"double *", DType::f64},
                               KnownType{"__half*", DType::f16},
                               KnownType{"half*", DType::f16},
                               KnownType{"__nv_bfloat16*", DType::bf16},
                               KnownType{"bool*", DType::boolean},
                               KnownType{"char*", DType::i8},
                               KnownType{"signed char*", DType::i8},
                               KnownType{"int8_t*", DType::i8},
                               KnownType{"unsigned char*", DType::u8},
                               KnownType{"std::uint8_t*", DType::u8},
                               KnownType{"uchar*", DType::u8},
                               KnownType{"short*", DType::i16},
                               KnownType{"short int*", DType::i16},
                               KnownType{"unsigned short*", DType::u16},
                               KnownType{"ushort*", DType::u16},
                               KnownType{"uint16_t*", DType::u16},
                               KnownType{"int*", DType::i32},
                               KnownType{"signed*", DType::i32},
                               KnownType{"int", DType::i32},
                               KnownType{"unsigned*", DType::u32},
                               KnownType{"unsigned int*", DType::u32},
                               KnownType{"uint*", DType::u32},
                               KnownType{"uint32_t*", DType::u32},
                               KnownType{"long*", DType::i64},
                               KnownType{"long long*", DType::i64},
                               KnownType{"long long int*", DType::i64},
                               KnownType{"int64_t*", DType::i64},
                               KnownType{"ptrdiff_t*", DType::i64},
                               KnownType{"unsigned long long*", DType::u64},
                               KnownType{"long unsigned int*", DType::u64},
                               KnownType{"size_t*", DType::u64},
                               KnownType{"std::size_t*", DType::u64},
                               KnownType{"uint64_t*", DType::u64},
                               KnownType{"float4*", DType::f32, 4},
                               KnownType{"float3*", DType::f32, 3},
                               KnownType{"uchar4*", DType::u8, 4},
                               KnownType{"ulonglong2*", DType::u64, 2},
                               KnownType{"half2*", DType::f16, 2},
                               KnownType{"__nv_bfloat162*", DType::bf16, 2},
                               KnownType{"double4_16a*", DType::f64, 4}}) {
    const CType found = c_type(one.type, "");
    ASSERT_TRUE(found.dtype.has_value()) << one.type;
    EXPECT_EQ(*found.dtype, one.dtype) << one.type;
    EXPECT_EQ(found.lanes, one.lanes) << one.type;
    EXPECT_FALSE(found.is_pointer_to_pointer);
  }
  for (const char* unknown :
       {"Particle*", "void*", "__nv_fp8_e4m3*", "float5*", "Tuple<int, 2>*", "cuFloatComplex*"})
    EXPECT_FALSE(c_type(unknown, "").dtype.has_value()) << unknown;
  EXPECT_TRUE(c_type("float**", "").is_pointer_to_pointer);
}

TEST(CType, FollowsNamesOfTheText) {
  const char* text =
      "using real = float;\n#define index_t  unsigned long long\ntypedef const short label;\n"
      "using row = real*;\nusing loop = loop;\nusing Key = key; using key = Key;\n";
  EXPECT_EQ(c_type("real*", text).dtype, DType::f32);
  EXPECT_EQ(c_type("index_t*", text).dtype, DType::u64);
  EXPECT_EQ(c_type("label*", text).dtype, DType::i16);
  EXPECT_TRUE(c_type("row*", text).is_pointer_to_pointer);
  EXPECT_FALSE(c_type("loop*", text).dtype.has_value());
  const char* enums =
      "enum Way { plain, turned };\nenum class Mode : unsigned char { same };\ntypedef enum { up, down } "
      "Turn;\n"
      "typedef struct { int a; } Pair;\nvoid f() {}\nint Count;\n";
  EXPECT_EQ(c_type("Way", enums).dtype, DType::i32);
  EXPECT_EQ(c_type("enum Way", enums).dtype, DType::i32);
  EXPECT_EQ(c_type("const Mode*", enums).dtype, DType::u8);
  EXPECT_EQ(c_type("Turn", enums).dtype, DType::i32);
  EXPECT_FALSE(c_type("Pair*", enums).dtype.has_value());
  EXPECT_FALSE(c_type("Count", enums).dtype.has_value());
  EXPECT_FALSE(c_type("Key*", text).dtype.has_value());
}

// If anything gives a name two meanings, in any order, none of them is taken.
TEST(CType, IsNeverOneOfSeveralMeanings) {
  const char* definitions[] = {"typedef int real;\n",    "using real = float;\n",
                               "#define real double\n",  "typedef float4 real;\n",
                               "typedef float* real;\n", "struct real { int a; };\n",
                               "typedef unknown real;\n"};
  for (const std::string first : definitions) {
    for (const std::string second : definitions) {
      const std::string text = "#if AXIS\n" + first + "#else\n" + second + "#endif\nusing other = real;\n";
      for (const char* type : {"real*", "other *", "real"}) {
        const CType found = c_type(type, text);
        EXPECT_EQ(found.ambiguity.empty(), first == second) << text;
        EXPECT_TRUE(first == second || !found.dtype.has_value()) << text;
      }
    }
  }
  EXPECT_EQ(c_type("real*", "typedef int real;\nusing real = float;\n#define real  float\n").ambiguity,
            "real is int or float");
  // Two names of one type are not two meanings.
  const CType same = c_type("real*", "typedef int32_t real;\n#define real signed   int\n");
  EXPECT_TRUE(same.ambiguity.empty());
  EXPECT_EQ(same.dtype, DType::i32);
}

TEST(CType, SaysItsAlignment) {
  EXPECT_EQ(c_type("float4*", "").alignment(), 16);
  EXPECT_EQ(c_type("float3*", "").alignment(), 4);
  EXPECT_EQ(c_type("short2*", "").alignment(), 4);
  EXPECT_EQ(c_type("Particle*", "").alignment(), 16);
}

}  // namespace
}  // namespace tunesmith
