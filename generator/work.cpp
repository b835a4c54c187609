// SPDX-License-Identifier: Apache-2.0
#include "generator/work.h"

#include <algorithm>
#include <type_traits>

namespace tunesmith {
namespace {

// The alignment of the argument: the bytes of one of its numbers, or of a pointer.
std::int64_t alignment_of(const KernelArgument& argument) {
  return std::visit(
      []<typename Type>(const Type& /*value*/) -> std::int64_t {
        if constexpr (is_array<Type>) {
          return sizeof(typename Type::value_type);
        } else if constexpr (std::is_same_v<Type, BoxedArray>) {
          return BoxedArray::alignment;
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
        if constexpr (std::is_same_v<Type, BoxedArray>) return BoxedArray::bytes;
        std::int64_t numbers = 1;
        if constexpr (is_array<Type>) numbers = static_cast<std::int64_t>(value.size());
        return numbers * alignment_of(argument);
      },
      argument);
}

std::int64_t parameter_bytes(const Launch& launch) {
  std::int64_t bytes = 0;
  for (const KernelArgument& argument : launch.arguments)
    bytes = round_up(bytes, alignment_of(argument)) + argument_bytes(argument);
  return bytes;
}

double volume(const Extent& extent) {
  return static_cast<double>(extent.x) * static_cast<double>(extent.y) * static_cast<double>(extent.z);
}

double threads_of(const Launch& launch) { return volume(launch.grid) * volume(launch.block); }

double threads_of(const Work& work) {
  double threads = 0;
  for (const Step& step : work.steps) {
    if (const auto* launch = std::get_if<Launch>(&step)) threads += threads_of(*launch);
  }
  return threads;
}

bool reentrant(const Work& work) {
  return work.takes_turns || std::none_of(work.steps.begin(), work.steps.end(), [](const Step& step) {
           return std::holds_alternative<ConstantCopy>(step);
         });
}

}  // namespace tunesmith
