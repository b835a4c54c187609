// SPDX-License-Identifier: Apache-2.0
// The types of elements, with their names in problems and in CUDA.
#pragma once

#include <cstdint>
#include <string_view>

#include "generator/problem.h"

namespace tunesmith {

/// b8 to b128 are plain bits, for ops that only move elements; checks fill such arguments as arrays of
/// another dtype (Argument::dtype). boolean ("bool") is a byte that holds 0 or 1.
enum class DType {
  f32,
  f64,
  f16,
  bf16,
  u8,
  i32,
  i64,
  u16,
  i16,
  i8,
  u32,
  u64,
  boolean,
  b8,
  b16,
  b32,
  b64,
  b128
};

std::string_view name(DType dtype);       ///< "f32"
std::string_view cuda_type(DType dtype);  ///< "float"
std::int64_t bytes(DType dtype);          ///< bytes per element
bool is_whole(DType dtype);               ///< an integer or bool
bool is_unsigned(DType dtype);            ///< u8 to u64, bool
DType dtype_of(const Problem& problem);   ///< the value of the parameter `dtype`

}  // namespace tunesmith
