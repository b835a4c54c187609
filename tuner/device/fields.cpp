// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/fields.h"

#include <algorithm>
#include <cstring>

#include "kernel_file/user_kernel.h"
#include "tuner/device/check_data.h"

namespace tunesmith {
namespace {

constexpr std::int64_t widest = 8;  // bytes of a permitted error

}  // namespace

std::vector<ArrayField> fields_of(const Op& op, const Argument& argument, const Problem& problem) {
  const DType dtype = argument.dtype(problem);
  const std::int64_t count = elements(argument, problem);
  const UserRecord* const record = record_of(op, argument);
  if (record == nullptr)
    return {{.member = {.name = "", .dtype = dtype}, .stride = bytes(dtype), .numbers = count}};
  std::vector<ArrayField> made;
  std::int64_t first = 0, permitted_at = 0;
  for (const StructMember& member : record->layout.members) {
    ArrayField& field = made.emplace_back(ArrayField{
        member, record->layout.bytes, count / record->layout.bytes * member.numbers(), first, permitted_at});
    first += field.numbers;
    permitted_at += (field.numbers * permitted_bytes(member.dtype) + widest - 1) / widest * widest;
  }
  return made;
}

std::int64_t numbers_of(std::span<const ArrayField> fields) {
  return fields.back().first + fields.back().numbers;
}

std::int64_t permitted_bytes(std::span<const ArrayField> fields) {
  return fields.back().permitted_at + fields.back().numbers * permitted_bytes(fields.back().dtype());
}

std::vector<double> unpack(const ArrayField& field, std::string_view array) {
  const auto size = static_cast<std::size_t>(bytes(field.dtype()));
  if (field.member.name.empty()) return unpack(field.dtype(), array);
  std::string packed(static_cast<std::size_t>(field.numbers) * size, '\0');
  for (std::int64_t n = 0; n < field.numbers; ++n)
    std::memcpy(packed.data() + static_cast<std::size_t>(n) * size, array.data() + field.offset_of(n), size);
  return unpack(field.dtype(), packed);
}

void pack(const ArrayField& field, std::span<const double> numbers, char* array) {
  const auto size = static_cast<std::size_t>(bytes(field.dtype()));
  const std::string packed = pack(field.dtype(), numbers);
  for (std::size_t n = 0; n < numbers.size(); ++n)
    std::memcpy(array + field.offset_of(static_cast<std::int64_t>(n)), packed.data() + n * size, size);
}

}  // namespace tunesmith
