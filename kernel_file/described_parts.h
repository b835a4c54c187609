// SPDX-License-Identifier: Apache-2.0
// The parts that described_op() (described_op.h) puts together. Private to kernel_file/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel_file/description.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

/// What the functions of the op share. Spaces refer to its sentences and names.
struct DescriptionFacts {
  Description description;
  std::vector<ExpressionName> names;
  std::vector<IntegerAxis> axes;  // of the names behind the problem's
  std::size_t of_problem = 0;     // so many names are the problem's

  explicit DescriptionFacts(Description given)
      : description(std::move(given)),
        names(description.names()),
        of_problem(names.size() - description.axes.size()) {
    for (const DescribedAxis& axis : description.axes) axes.emplace_back(axis.name);
  }
};
using Facts = std::shared_ptr<const DescriptionFacts>;

// ---- described_values.cpp: what expressions are for a problem

/// The values of a problem's names.
std::vector<std::int64_t> values_of(const DescriptionFacts& facts, const Problem& problem);
IntegerExpression::Result value_of(const IntegerExpression& expression, const DescriptionFacts& facts,
                                   const std::vector<std::int64_t>& values, const Config* config = nullptr);
DType dtype_of_array(const DescribedArray& array, const Problem& problem);
/// What inputs hold in checks on small problems where the description does not say, beside the usual numbers.
const std::vector<Contents>& usual_sets();
Contents contents_of(const Facts& facts, const DescribedValues& values);
/// The extents of an array; a sentence where they cannot be.
std::string extents_of(const DescriptionFacts& facts, const DescribedArray& array,
                       const std::vector<std::int64_t>& values, std::vector<std::int64_t>& extents);

// ---- described_space.cpp: what is launched, and the search space

/// Throws UsageError.
Work checked_work(const Facts& facts, const DescribedLaunch& launch, const Problem& problem,
                  const Config& config);
Space space_of(const Facts& facts, const Problem& problem);
/// Why no config can be launched, or the reference cannot, as a sentence; empty if they can.
std::string why_no_launch(const Facts& facts, const Problem& problem);
/// A mistake of the description that an unlucky config would hide, since what cannot be computed is not
/// legal: a launch or a rule that divides by 0 or overflows although the rules before it hold. A sentence, or
/// empty.
std::string mistake_of(const Facts& facts, const Problem& problem);

// ---- described_problems.cpp: which problems there are

/// Why a problem whose parameters are allowed one by one is not, as a sentence; empty if it is.
std::string why_not(const Facts& facts, const Problem& problem);
double flops_of(const Facts& facts, const Problem& problem);
std::vector<Problem> companions_of(const Facts& facts, const Problem& problem);
std::vector<std::string> examples_of(const Facts& facts);

// ---- kernel_text.cpp: the texts that are rendered

/// How a user's own text spells a dtype.
std::string own_type(DType dtype);
/// The bodies of the kernel and of its reference, and what they include.
void add_files(UserKernel& made, const DescriptionFacts& facts, const Files& common, Template& tmpl);

}  // namespace tunesmith
