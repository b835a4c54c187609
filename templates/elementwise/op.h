// SPDX-License-Identifier: Apache-2.0
// Declarations that elementwise's templates share. They are private to this folder.
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

/// These references live as long as the problem.
const Expression& expression_of(const Problem& problem);
const Layout& layout_of(const Problem& problem);

/// True if the input is one element, repeated along every dimension.
bool is_scalar(const InputLayout& input);

/// The reason why `contiguous` cannot serve the problem, as a sentence; empty if it can.
std::string refuses_gaps(const Problem& problem);

/// The reason why a problem is for `contiguous` instead of `broadcast` and `broadcast_any`; empty if these
/// two serve it.
std::string refuses_dense(const Problem& problem);

/// True if 32-bit indices reach every element of the output and the inputs.
bool fits_32_bits(const Layout& layout);

constexpr std::int64_t index_limit = std::int64_t{1} << 31;  // elements that 32-bit indices reach

inline constexpr IntegerAxis INDEX("INDEX");
inline Axis index_axis() { return {INDEX, {32, 64}, "bits of an index"}; }

inline Axis items_axis() {
  return {ITEMS, {2, 1, 4, 8}, "vectors per thread, all loaded before the first is used"};
}

inline Axis load_axis() { return tunesmith::load_axis({"plain", "streaming", "no_allocate", "half"}); }

inline constexpr IntegerAxis RESIDENT_THREADS("RESIDENT_THREADS");
inline Axis resident_threads_axis() {
  return {RESIDENT_THREADS,
          {1024, 2048},
          "threads that a multiprocessor must have room for; bounds a thread's registers"};
}

Axis vector_axis(const Problem& problem);

/// The rules of every tuned kernel, whose threads hold ITEMS * VECTOR elements: the rules that `must` hold,
/// and those that are `worth` following.
std::vector<Rule> thread_must(const Problem& problem);
std::vector<Rule> thread_worth(const Problem& problem);

/// The rules of kernels that divide indices: INDEX must reach the arrays, and 64 bits are only for arrays
/// that 32 bits do not reach.
Rule index_must(const Problem& problem);
Rule index_worth(const Problem& problem);

/// A kernel's arguments: every input and the output. add_strides() appends each input's strides along each
/// dimension.
std::vector<KernelArgument> pointers();
void add_strides(std::vector<KernelArgument>& arguments, const Layout& layout);

/// The arguments of shape.inl: the extents, their divisors and the strides.
void add_shape(std::vector<KernelArgument>& arguments, const Layout& layout);

/// The alignment that every tuned kernel needs, because it reads and writes whole vectors.
std::int64_t alignment_bytes(const Problem& problem, const Config& config);

/// For Op::sample.
void usual_arrays(Random& random, Problem& problem);

Template base();
Template broadcast();
Template broadcast_any();
Template contiguous();

}  // namespace tunesmith::elementwise_op
