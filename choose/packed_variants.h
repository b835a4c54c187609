// SPDX-License-Identifier: Apache-2.0
// Chooses the variants that a library gets as binaries in addition to the winners. The build, which packs
// them, and an export, which writes them, use it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "choose/select.h"
#include "choose/variant.h"

namespace tunesmith {

/// True if an integer of the problem is compiled in, so that no library can hold the binaries for all
/// problems.
bool compiles_in_numbers(const Op& op, const Template& tmpl);

/// True if one of these constants of a template is a text that is no category, such as a user's expression.
bool compiles_in_own_text(const Op& op, const Values& constants);

/// True if the problem has a computation that is no category: a user's own expression, which always needs a
/// compiler.
bool has_own_text(const Op& op, const Problem& problem);

/// Returns a complete problem for each allowed combination of these parameters' categories (types,
/// functions); other parameters have their initial or least values.
std::vector<Problem> with_each_category(const Op& op, const std::vector<std::string>& names);

/// Returns the op's base for each combination of the categories that it compiles in; it does not depend on
/// sizes.
std::vector<PackedVariant> bases_of(const Op& op);

struct PortfolioVariant {
  PackedVariant variant;
  double gain = 0;  ///< the mean over the problems of the logarithm of the time that it saves, given the
                    ///< variants before it
};

/// Returns variants whose binaries let a first call start at once: those that together lose least on the
/// problems by their expected times, chosen greedily, the largest saving first, given the base, which is
/// always there. No variant has a user's own text compiled in, and no number.
std::vector<PortfolioVariant> portfolio_of(const Op& op, const Chooser& chooser,
                                           std::span<const Candidate> candidates,
                                           std::span<const Problem> problems, bool may_compile);

/// Returns the same for a library, whose callers have other problems than these: variants may have numbers
/// compiled in, and may stand in for a choice (launch_set.h). So that a variant is not taken for the one
/// problem that proposed it, its largest saving does not count. The gain is the mean over the problems that a
/// variant without a user's own text serves.
std::vector<PortfolioVariant> first_launch_portfolio(const Op& op, const Chooser& chooser,
                                                     const DeviceFacts& device,
                                                     std::span<const Candidate> candidates,
                                                     std::span<const Problem> problems);

/// Returns defaults that templates name without measurements (`Template::untuned`), without a number or a
/// user's own text compiled in: variants that together serve most of the problems, the most useful first.
/// Later defaults of a problem serve if its first one is not there.
std::vector<PortfolioVariant> untuned_of(const Op& op, const DeviceFacts& device,
                                         std::span<const Problem> problems);

/// Returns the variants that a dispatcher launches for a problem (launch_set.h), and its base.
std::vector<PackedVariant> launched_of(const Op& op, const Chooser& chooser, const DeviceFacts& device,
                                       const Problem& problem);

}  // namespace tunesmith
