// SPDX-License-Identifier: Apache-2.0
// The numbers of an array that are of one kind: all of its elements or, in an array of structs, one member of
// all of them. Results are compared field by field, so the bytes between members do not count.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "kernel_file/struct_layout.h"
#include "tuner/device/device.h"

namespace tunesmith {

struct ArrayField {
  StructMember member;            ///< of elements that are no structs without a name
  std::int64_t stride = 0;        ///< bytes from struct to struct
  std::int64_t numbers = 0;       ///< in the whole array
  std::int64_t first = 0;         ///< numbers of the fields before
  std::int64_t permitted_at = 0;  ///< where its permitted errors begin, in bytes

  DType dtype() const { return member.dtype; }
  /// Where the number lies in the array, in bytes.
  std::int64_t offset_of(std::int64_t number) const {
    return number / member.numbers() * stride + member.offset + number % member.numbers() * bytes(dtype());
  }
  Spacing spacing() const { return {member.offset, stride, member.numbers()}; }
};

/// The fields of an argument: one, or the members of its structs.
std::vector<ArrayField> fields_of(const Op& op, const Argument& argument, const Problem& problem);
/// The numbers of all fields, and the bytes of their permitted errors.
std::int64_t numbers_of(std::span<const ArrayField> fields);
std::int64_t permitted_bytes(std::span<const ArrayField> fields);

/// Reads a field's numbers from the bytes of the array, and writes them there.
std::vector<double> unpack(const ArrayField& field, std::string_view array);
void pack(const ArrayField& field, std::span<const double> numbers, char* array);

}  // namespace tunesmith
