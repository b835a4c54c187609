// SPDX-License-Identifier: Apache-2.0
// Converts problems between Python and C++, and element types to NumPy's names.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <string_view>

#include "generator/dtype.h"
#include "generator/values.h"

namespace tunesmith::python {

namespace nb = nanobind;

struct NumpyType {
  DType dtype;
  std::string_view name;
};
inline constexpr std::array<NumpyType, 13> numpy_types = {{{DType::f32, "float32"},
                                                           {DType::f64, "float64"},
                                                           {DType::f16, "float16"},
                                                           {DType::bf16, "bfloat16"},
                                                           {DType::i8, "int8"},
                                                           {DType::i16, "int16"},
                                                           {DType::i32, "int32"},
                                                           {DType::i64, "int64"},
                                                           {DType::u8, "uint8"},
                                                           {DType::u16, "uint16"},
                                                           {DType::u32, "uint32"},
                                                           {DType::u64, "uint64"},
                                                           {DType::boolean, "bool"}}};

/// Empty for elements that are moved bit by bit, without a meaning.
std::string_view numpy_name(DType dtype);

/// A whole number, a word or a decimal number, which a problem holds as text. Throws nb::type_error and
/// nb::value_error.
Value value_of(nb::handle object);

/// The text of a problem that is given as a text, or as a tuple of (name, value).
std::string problem_text(nb::handle problem);

}  // namespace tunesmith::python
