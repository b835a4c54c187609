#include <array>
#include <string>

#include "dispatch/arguments.h"
#include "generator/error.h"
#include "tunesmith/transpose.h"

namespace tunesmith {

// The order is that of the op's parameters and of their words in op.cpp; test.cpp holds both together.
Plan transpose_plan(Dispatcher& dispatcher, const TransposeShape& shape, std::int64_t element_bytes) {
  std::int64_t word = 0;
  while (word < 5 && (std::int64_t{1} << word) != element_bytes) ++word;
  if (word == 5) {
    throw UsageError("transpose was asked for elements of " + std::to_string(element_bytes) +
                     " bytes; allowed are 1, 2, 4, 8 and 16.");
  }
  const std::array<std::int64_t, 6> problem = {shape.batch,       shape.height,       shape.width,
                                               shape.input_pitch, shape.output_pitch, word};
  return dispatcher.plan("transpose", problem);
}

Status transpose(Dispatcher& dispatcher, const void* input, void* output, const TransposeShape& shape,
                 std::int64_t element_bytes, void* stream) {
  return transpose_plan(dispatcher, shape, element_bytes).launch(launch_arguments(input, output), stream);
}

}  // namespace tunesmith
