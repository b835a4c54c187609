// SPDX-License-Identifier: Apache-2.0
// The layout of a struct that a kernel takes by value, or of which an array consists: a struct of the file
// whose members are numbers, or one of CUDA's vectors. The rendered kernel asserts that the compiler agrees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dtype.h"

namespace tunesmith {

struct StructMember {
  std::string name;  ///< of a struct within a struct "velocity.x"
  std::int64_t offset = 0;
  DType dtype = DType::i32;
  std::int64_t count = 0;                  ///< elements of an array; 0: it is none
  std::int64_t lanes = 1;                  ///< of a vector: 4 of float4
  std::vector<std::int64_t> extents = {};  ///< of an array of several dimensions, whose product is `count`

  /// How many numbers it has; they lie one behind the other.
  std::int64_t numbers() const { return (count > 0 ? count : 1) * lanes; }
};

struct StructLayout {
  std::vector<StructMember> members;
  std::int64_t bytes = 0, alignment = 1;
  std::string why;  ///< the end of a sentence on why it cannot be given; empty if it can
};

/// Reads the struct; `type` is given without const, and `text` has neither comments nor literals. Without
/// members and `why` the type is no struct that the text defines.
StructLayout struct_layout(const std::string& type, std::string_view text);

/// Reads a struct of which an array consists. Its members may also be numbers of 16 bits, vectors, and
/// structs, whose members it then has; a type's other names are looked up in the text.
StructLayout element_layout(const std::string& type, std::string_view text);

/// The name of a number of a member: "weights[2]", "velocity.x".
std::string name_of_number(const StructMember& member, std::int64_t number);

/// The name of the number at that byte of the struct; empty in its padding.
std::string name_at(const StructLayout& layout, std::int64_t offset);

/// Defines TUNESMITH_OFFSET, which layout_assertion() uses: NVRTC has no offsetof that is a constant.
inline constexpr std::string_view offset_macro =
    "#ifdef __CUDACC_RTC__\n#define TUNESMITH_OFFSET(type, member) __INTADDR__(&(((type*)0)->member))\n"
    "#else\n#define TUNESMITH_OFFSET(type, member) __builtin_offsetof(type, member)\n#endif\n";

/// Returns C++ that does not compile unless the compiler has that layout.
std::string layout_assertion(const std::string& type, const StructLayout& layout);

}  // namespace tunesmith
