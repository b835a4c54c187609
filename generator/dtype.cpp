// SPDX-License-Identifier: Apache-2.0
#include "generator/dtype.h"

#include <array>
#include <string>

#include "generator/error.h"

namespace tunesmith {
namespace {

struct DTypeFacts {
  DType dtype;
  std::string_view name;
  std::string_view cuda_type;
  std::int64_t bytes;
};

constexpr std::array<DTypeFacts, 18> dtypes = {{{DType::f32, "f32", "float", 4},
                                                {DType::f64, "f64", "double", 8},
                                                {DType::f16, "f16", "Float16", 2},
                                                {DType::bf16, "bf16", "BFloat16", 2},
                                                {DType::u8, "u8", "unsigned char", 1},
                                                {DType::i32, "i32", "int", 4},
                                                {DType::i64, "i64", "long long", 8},
                                                {DType::u16, "u16", "unsigned short", 2},
                                                {DType::i16, "i16", "short", 2},
                                                {DType::i8, "i8", "signed char", 1},
                                                {DType::u32, "u32", "unsigned", 4},
                                                {DType::u64, "u64", "unsigned long long", 8},
                                                {DType::boolean, "bool", "bool", 1},
                                                {DType::b8, "b8", "unsigned char", 1},
                                                {DType::b16, "b16", "unsigned short", 2},
                                                {DType::b32, "b32", "unsigned", 4},
                                                {DType::b64, "b64", "unsigned long long", 8},
                                                {DType::b128, "b128", "ulonglong2", 16}}};

const DTypeFacts& facts(DType dtype) { return dtypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return facts(dtype).name; }
std::string_view cuda_type(DType dtype) { return facts(dtype).cuda_type; }
std::int64_t bytes(DType dtype) { return facts(dtype).bytes; }

bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64 ||
         dtype == DType::boolean;
}
bool is_whole(DType dtype) {
  return is_unsigned(dtype) || dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 ||
         dtype == DType::i64;
}

DType dtype_of(const Problem& problem) {
  const std::string& word = problem.string("dtype");
  for (const DTypeFacts& entry : dtypes) {
    if (entry.name == word) return entry.dtype;
  }
  throw Error("The dtype " + word + " is not known.");
}

}  // namespace tunesmith
