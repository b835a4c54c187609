// SPDX-License-Identifier: Apache-2.0
// A form as kernels, the work of each of their threads, and their text: the data of the template `loops`.
// Private to this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "language/expression.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/notation/nest.h"

namespace tunesmith::tensor_op {

constexpr std::size_t most_kernels = 8;
constexpr int first_intermediate = 16;  ///< as View::array: the array of step 0

/// One kernel. Its nest's free indices have threads; the others are loops in them: reduced ones, and where
/// the output moves, those that one result is written along.
struct LoopKernel {
  /// The first function is of elements, and its values are reduced; each further one is of the result so far
  /// and of elements.
  struct Function {
    elementwise_op::Expression code;
    std::vector<int> inputs;  ///< places in nest.inputs; -1: the result so far
  };
  std::vector<Function> functions;
  Nest nest;
  Reduction reduction = Reduction::sum;
  std::string text;  ///< the expressions, for people
  int along_y = -1;  ///< the free index along which outputs share most of what they read, and the next one
  int along_z = -1;
  int window = -1;         ///< the reduced index that along_y's outputs overlap along
  int split = -1;          ///< the reduced index whose parts the nest's first index counts
  std::int64_t whole = 0;  ///< its extent before it was split

  bool is_serial(std::size_t index) const {
    return nest.is_reduced(index) && nest.output.strides[index] != 0;
  }
  bool reduces() const;
  /// True if a thread's outputs are neighbours in the output.
  bool has_neighbours() const { return along_y >= 0 && along_y + 1 == static_cast<int>(nest.free); }
  int nearest() const;  ///< the reduced index with the least stride; -1: none
};

struct LoopForm {
  std::vector<LoopKernel> kernels;
  std::vector<std::int64_t> elements;  ///< of each intermediate array
};

/// The forms in derive's numbering; forms with too many kernels are empty.
struct LoopForms {
  std::vector<LoopForm> forms;
  std::vector<std::size_t> usable;  ///< the cheapest first
};
std::shared_ptr<const LoopForms> loop_forms(const Problem& problem);

/// The form with its longest sums in parts: the kernel with the most terms computes at most `parts` parts of
/// its sums, and one more kernel adds them.
LoopForm with_parts(LoopForm form, std::int64_t parts);

/// The shape that a config asks for.
struct LoopShape {
  std::int64_t threads = 256;  ///< of a block, in each kernel
  std::int64_t block_y = 1, thread_y = 1, thread_z = 1, lanes = 1, unroll = 1;
};

/// The mapping of a kernel to threads and blocks that a shape gives.
struct LoopMapping {
  LoopMapping(const LoopKernel& kernel, const LoopShape& shape);

  std::vector<std::size_t> x;     ///< free indices that threads side by side count through, the nearest first
  std::vector<std::size_t> rest;  ///< free indices with a block for each place, the nearest first
  std::vector<std::size_t> rolled, unrolled, serial;
  std::int64_t unroll = 1;  ///< of the last rolled loop
  std::int64_t chunk = 0;   ///< the terms of the kernel's window that are written out at a time; 0: none are
  std::int64_t lanes = 1;   ///< threads that share a sum
  int shared = -1;          ///< the index that they share
  std::int64_t x_places = 1, block_x = 1, block_y = 1, thread_y = 1, thread_z = 1;
  bool has_rows =
      false;  ///< threads or their outputs lie along the kernel's along_y; else that index is as the others
  std::int64_t x_tiles = 1, y_tiles = 1, z_tiles = 1, blocks = 1;
};

/// The bytes in the workspace before each intermediate array; the last number is their sum.
std::vector<std::int64_t> places_in_workspace(const LoopForm& form, std::int64_t element_bytes);

std::string kernel_name(std::size_t kernel);

/// The arrays that the kernel reads, in the order of its parameters: inputs, then first_intermediate if it
/// reads any array in the workspace.
std::vector<int> arrays_read(const LoopKernel& kernel);

std::string text_of(const LoopForm& form, const LoopShape& shape, DType compute);

}  // namespace tunesmith::tensor_op
