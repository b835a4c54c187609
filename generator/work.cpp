// SPDX-License-Identifier: Apache-2.0
#include "generator/work.h"

#include <algorithm>
#include <type_traits>

namespace tunesmith {
namespace {

// The bytes of one number of the argument, or of a pointer.
std::int64_t element_bytes(const KernelArgument& argument) {
  return std::visit(
      []<typename Type>(const Type& /*value*/) -> std::int64_t {
        if constexpr (is_array<Type>) {
          return sizeof(typename Type::value_type);
        } else {
          return std::is_arithmetic_v<Type> ? sizeof(Type) : sizeof(void*);
        }
      },
      argument);
}

}  // namespace

std::int64_t argument_bytes(const KernelArgument& argument) {
  return std::visit(
      [&]<typename Type>(const Type& value) {
        std::int64_t numbers = 1;
        if constexpr (is_array<Type>) numbers = static_cast<std::int64_t>(value.size());
        return numbers * element_bytes(argument);
      },
      argument);
}

std::int64_t parameter_bytes(const Launch& launch) {
  std::int64_t bytes = 0;
  for (const KernelArgument& argument : launch.arguments)
    bytes = round_up(bytes, element_bytes(argument)) + argument_bytes(argument);
  return bytes;
}

bool reentrant(const Work& work) {
  return work.takes_turns || std::none_of(work.steps.begin(), work.steps.end(), [](const Step& step) {
           return std::holds_alternative<ConstantCopy>(step);
         });
}

}  // namespace tunesmith
