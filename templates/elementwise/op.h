// SPDX-License-Identifier: Apache-2.0
// What elementwise's templates share. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"
#include "language/expression.h"
#include "templates/axes.h"
#include "templates/elementwise/layout.h"

namespace tunesmith::elementwise_op {

/// These last as long as the problem.
const Expression& expression_of(const Problem& problem);
const Layout& layout_of(const Problem& problem);

/// Whether it is one element, repeated along every dimension.
bool is_scalar(const InputLayout& input);

/// Why `contiguous` cannot serve the problem, as a sentence; empty if it can.
std::string refuses_gaps(const Problem& problem);

/// Why a problem is for `contiguous` and not for `broadcast` and `broadcast_any`; empty if it is for those.
std::string refuses_dense(const Problem& problem);

/// Whether 32-bit indices reach every element of the output and the inputs.
bool fits_32_bits(const Layout& layout);

constexpr std::int64_t index_limit = std::int64_t{1} << 31;  // elements that 32-bit indices reach

inline constexpr IntegerAxis INDEX("INDEX");
inline Axis index_axis() { return {INDEX, {32, 64}, "bits of an index"}; }

inline Axis items_axis() {
  return {ITEMS, {2, 1, 4, 8}, "vectors per thread, all loaded before the first is used"};
}

inline Axis load_axis() {
  return {
      LOAD, categories({"plain", "streaming", "no_allocate", "half"}),
      "the hint that inputs are read with: none, leave the caches first, bypass the first-level cache, let "
      "one half leave the second-level cache first"};
}

inline constexpr IntegerAxis RESIDENT_THREADS("RESIDENT_THREADS");
inline Axis resident_threads_axis() {
  return {RESIDENT_THREADS,
          {1024, 2048},
          "threads that a multiprocessor must have room for; bounds a thread's registers"};
}

Axis vector_axis(const Problem& problem);

/// The rules of every tuned kernel, whose threads hold ITEMS * VECTOR elements: these `must` hold, and
/// keeping to those is `worth` it.
std::vector<Rule> thread_must(const Problem& problem);
std::vector<Rule> thread_worth(const Problem& problem);

/// Of kernels that divide indices: that INDEX reaches the arrays, and that 64 bits are for what 32 do not.
Rule index_must(const Problem& problem);
Rule index_worth(const Problem& problem);

/// A kernel's arguments: every input and the output; after them, an input's strides along each dimension.
std::vector<KernelArgument> pointers();
void add_strides(std::vector<KernelArgument>& arguments, const Layout& layout);

/// The arguments of shape.inl: the extents, their divisors and the strides.
void add_shape(std::vector<KernelArgument>& arguments, const Layout& layout);

/// Of every tuned kernel: vectors are read and written as such.
std::int64_t alignment_bytes(const Problem& problem, const Config& config);

/// As Op::sample.
void usual_arrays(Random& random, Problem& problem);

Template base();
Template broadcast();
Template broadcast_any();
Template contiguous();

}  // namespace tunesmith::elementwise_op
