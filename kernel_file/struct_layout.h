// SPDX-License-Identifier: Apache-2.0
// The layout of a struct that a kernel takes by value: a struct of the file whose members are numbers, or one
// of CUDA's vectors. The rendered kernel asserts that the compiler agrees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dtype.h"

namespace tunesmith {

struct StructMember {
  std::string name;
  std::int64_t offset = 0;
  DType dtype = DType::i32;
  std::int64_t count = 0;  ///< elements of an array; 0: it is none
};

struct StructLayout {
  std::vector<StructMember> members;
  std::int64_t bytes = 0, alignment = 1;
  std::string why;  ///< the end of a sentence on why it cannot be given; empty if it can
};

/// Reads the struct; `type` is given without const, and `text` has neither comments nor literals. Without
/// members and `why` the type is no struct that the text defines.
StructLayout struct_layout(const std::string& type, std::string_view text);

/// Defines TUNESMITH_OFFSET, which layout_assertion() uses: NVRTC has no offsetof that is a constant.
inline constexpr std::string_view offset_macro =
    "#ifdef __CUDACC_RTC__\n#define TUNESMITH_OFFSET(type, member) __INTADDR__(&(((type*)0)->member))\n"
    "#else\n#define TUNESMITH_OFFSET(type, member) __builtin_offsetof(type, member)\n#endif\n";

/// Returns C++ that does not compile unless the compiler has that layout.
std::string layout_assertion(const std::string& type, const StructLayout& layout);

}  // namespace tunesmith
