// SPDX-License-Identifier: Apache-2.0
// Tests that the public element types are those of problems.
#include "tunesmith/types.h"

#include <gtest/gtest.h>

#include "generator/dtype.h"

namespace tunesmith {
namespace {

DType dtype_of_name(ElementName name) { return dtype_of(Problem{{"dtype", std::string(name.text)}}); }

TEST(ElementTypes, AreNamedAsInProblems) {
  for (int k = 0; k <= static_cast<int>(ElementType::i8); ++k) {
    const auto type = static_cast<ElementType>(k);
    const std::string text(ElementName(type).text);
    EXPECT_EQ(name(dtype_of_name(type)), text);
    EXPECT_EQ(ElementName(text).text, text);
  }
  EXPECT_EQ(dtype_of_name(ElementType::bf16), DType::bf16);
  EXPECT_EQ(dtype_of_name("u16"), DType::u16);
}

template <typename T>
void expect_same(DType dtype) {
  EXPECT_EQ(dtype_of_name(element_type<T>), dtype);
  EXPECT_EQ(bytes(dtype), std::int64_t{sizeof(T)});
}

TEST(ElementTypes, AreThoseOfCpp) {
  expect_same<float>(DType::f32);
  expect_same<double>(DType::f64);
  expect_same<std::int32_t>(DType::i32);
  expect_same<std::int64_t>(DType::i64);
  expect_same<std::uint8_t>(DType::u8);
  expect_same<std::uint16_t>(DType::u16);
  expect_same<std::int16_t>(DType::i16);
  expect_same<std::int8_t>(DType::i8);
}

}  // namespace
}  // namespace tunesmith
