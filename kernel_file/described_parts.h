// SPDX-License-Identifier: Apache-2.0
// The parts from which described_op() (described_op.h) makes an op. Private to kernel_file/.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernel_file/description.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// The data that the functions of the op share. Spaces refer to its sentences and names.
struct DescriptionFacts {
  Description description;
  std::vector<ExpressionName> names;
  std::vector<IntegerAxis> axes;  // the axes; their names follow the problem's in `names`
  std::size_t of_problem = 0;     // the number of names that are the problem's
  std::vector<int> places;        // by array: its place among the op's arguments; -1 of a workspace

  explicit DescriptionFacts(Description given)
      : description(std::move(given)),
        names(description.names()),
        of_problem(names.size() - description.axes.size()) {
    for (const DescribedAxis& axis : description.axes) axes.emplace_back(axis.name);
    int arguments = 0;
    for (const DescribedArray& array : description.arrays)
      places.push_back(array.is_workspace ? -1 : arguments++);
  }
};
using Facts = std::shared_ptr<const DescriptionFacts>;

// ---- described_values.cpp: the values of expressions for a problem

/// The values of a problem's names.
std::vector<std::int64_t> values_of(const DescriptionFacts& facts, const Problem& problem);
IntegerExpression::Result value_of(const IntegerExpression& expression, const DescriptionFacts& facts,
                                   const std::vector<std::int64_t>& values, const Config* config = nullptr,
                                   std::int64_t step = 0);
DType dtype_of_array(const DescribedArray& array, const Problem& problem);
/// The value of an axis of types.
DType type_of(const std::string& axis, const Config& config);
/// The contents of inputs in checks on small problems if the description gives none, in addition to the usual
/// numbers.
std::vector<Contents> usual_sets(const Description& description);
Contents contents_of(const Facts& facts, const DescribedValues& values);
/// Computes the extents of an array; returns a sentence if they are not possible, else an empty text. A
/// workspace's need the config.
std::string extents_of(const DescriptionFacts& facts, const DescribedArray& array,
                       const std::vector<std::int64_t>& values, std::vector<std::int64_t>& extents,
                       const Config* config = nullptr);

// ---- described_space.cpp: the launches and the search space

/// The work of a config; throws UsageError if the launches are not possible.
Work checked_work(const Facts& facts, std::span<const DescribedLaunch> launches, const Problem& problem,
                  const Config& config);
Space space_of(const Facts& facts, const Problem& problem);
/// The threads of all launches of the untuned config; infinity if it has none.
double threads_of(const Facts& facts, const Problem& problem);
/// Returns a sentence on why no config, or not the reference, can be launched; empty if they can.
std::string why_no_launch(const Facts& facts, const Problem& problem);
/// Returns a sentence on a mistake of the description, or an empty text: a launch or a rule that divides by 0
/// or overflows although the rules before it hold. Such a mistake would stay hidden, because a config whose
/// expressions cannot be computed is not legal.
std::string mistake_of(const Facts& facts, const Problem& problem);

// ---- described_problems.cpp: the allowed and the generated problems

/// Returns a sentence on why a problem whose parameters are allowed one by one is not allowed; empty if it
/// is.
std::string why_not(const Facts& facts, const Problem& problem);
double flops_of(const Facts& facts, const Problem& problem);
std::vector<Problem> companions_of(const Facts& facts, const Problem& problem);
std::vector<std::string> examples_of(const Facts& facts);

// ---- kernel_text.cpp: the texts for rendering

/// The C++ type of a dtype in a user's own text.
std::string own_type(DType dtype);

/// The kernels that make copies of arrays in the type of an axis, and copy them back: for each array one or
/// two.
std::vector<std::string> conversions_of(const Description& description);
/// Adds the bodies of the kernel and of its reference, and the files that they include.
void add_files(UserKernel& made, const DescriptionFacts& facts, const Files& common, Template& tmpl);

}  // namespace tunesmith
