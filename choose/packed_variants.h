// SPDX-License-Identifier: Apache-2.0
// Which variants a library gets as binaries beside the winners: what the build packs, and what an export
// writes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "choose/select.h"
#include "choose/variant.h"

namespace tunesmith {

/// Whether an integer of the problem is compiled in, so that no library can have its binaries for every
/// problem.
bool compiles_in_numbers(const Op& op, const Template& tmpl);

/// A complete problem for each combination of the categories (types, functions) of these parameters that the
/// op allows; what else it has is initial or least.
std::vector<Problem> with_each_category(const Op& op, const std::vector<std::string>& names);

/// The op's base for each combination of the categories that it compiles in; sizes do not matter to it.
std::vector<PackedVariant> bases_of(const Op& op);

struct PortfolioVariant {
  PackedVariant variant;
  double gain =
      0;  ///< the mean over the problems of the logarithm of the time that it saves, beside those before it
};

/// So that a first call finds a binary: variants that
/// together lose least on the problems by what is expected of them; greedily, what saves most first, beside
/// the base, which is always there. None has a text of a user's own compiled in; without `with_numbers`, no
/// number either.
std::vector<PortfolioVariant> portfolio_of(const Op& op, const Chooser& chooser,
                                           std::span<const Candidate> candidates,
                                           std::span<const Problem> problems, bool may_compile,
                                           bool with_numbers = false);

/// What templates name without measurements (`Template::untuned`), with no number and no text of a user's own
/// compiled in: variants that together serve most of the problems, what serves most first. What comes behind
/// a template's first default serves where that is not there.
std::vector<PortfolioVariant> untuned_of(const Op& op, const DeviceFacts& device,
                                         std::span<const Problem> problems);

/// What a dispatcher launches for a problem (launch_set.h), and its base.
std::vector<PackedVariant> launched_of(const Op& op, const Chooser& chooser, const DeviceFacts& device,
                                       const Problem& problem);

}  // namespace tunesmith
