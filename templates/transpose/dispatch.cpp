// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/transpose.h: they make problems and launch plans of the dispatcher.
#include <array>
#include <string>
#include <string_view>

#include "dispatch/arguments.h"
#include "generator/error.h"
#include "tunesmith/transpose.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

constexpr std::array<std::string_view, 5> dtypes = {"b8", "b16", "b32", "b64",
                                                    "b128"};  // of 1, 2, 4, … bytes

}  // namespace

Plan transpose_plan(Dispatcher& dispatcher, const TransposeShape& shape, std::int64_t element_bytes) {
  std::size_t power = 0;
  while (power < dtypes.size() && (std::int64_t{1} << power) != element_bytes) ++power;
  if (power == dtypes.size()) {
    throw UsageError("transpose was asked for elements of " + std::to_string(element_bytes) +
                     " bytes; allowed are 1, 2, 4, 8 and 16.");
  }
  const Field problem[] = {{"batch", shape.batch},
                           {"height", shape.height},
                           {"width", shape.width},
                           {"input_pitch", shape.input_pitch},
                           {"output_pitch", shape.output_pitch},
                           {"dtype", dtypes[power]}};
  return dispatcher.plan("transpose", problem);
}

Status transpose(Dispatcher& dispatcher, const void* input, void* output, const TransposeShape& shape,
                 std::int64_t element_bytes, void* stream) {
  return transpose_plan(dispatcher, shape, element_bytes).launch(launch_arguments(input, output), stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
