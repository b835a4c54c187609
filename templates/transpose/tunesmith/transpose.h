// SPDX-License-Identifier: Apache-2.0
// Transposes of a batch of matrices, out of place, for elements of 1, 2, 4, 8 or 16 bytes, copied exactly.
#pragma once

#include <cstdint>

#include "tunesmith/dispatcher.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

struct TransposeShape {
  std::int64_t batch = 1;         ///< matrices
  std::int64_t height = 0;        ///< rows of the input, columns of the output
  std::int64_t width = 0;         ///< columns of the input, rows of the output
  std::int64_t input_pitch = 0;   ///< elements from row to row of the input; 0: width
  std::int64_t output_pitch = 0;  ///< elements from row to row of the output; 0: height
};

/// Sets output[b][x][y] = input[b][y][x] exactly. `input` is batch x height x input_pitch, `output` is batch
/// x width x output_pitch, in memory of the dispatcher's device. They must not overlap, including the gaps
/// between rows; the gaps are neither read nor written. A pointer is a multiple of element_bytes, or of 8 for
/// elements of 16. If a size is 0, nothing is done. `stream` is a cudaStream_t. The first call for a shape
/// plans it; later calls look it up. Throws where plan() throws: for a size or an element size that is not
/// allowed, a pitch shorter than a row, or arrays of more than 2^40 bytes. The Status tells all other errors,
/// including null, overlapping or misaligned pointers.
Status transpose(Dispatcher& dispatcher, const void* input, void* output, const TransposeShape& shape,
                 std::int64_t element_bytes, void* stream = nullptr);

template <typename T>
Status transpose(Dispatcher& dispatcher, const T* input, T* output, const TransposeShape& shape,
                 void* stream = nullptr) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "an element has 1, 2, 4, 8 or 16 bytes");
  return transpose(dispatcher, static_cast<const void*>(input), static_cast<void*>(output), shape,
                   std::int64_t{sizeof(T)}, stream);
}

/// The plan that transpose() uses, to launch it many times or to see how it matched. Arguments: input,
/// output.
Plan transpose_plan(Dispatcher& dispatcher, const TransposeShape& shape, std::int64_t element_bytes);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
