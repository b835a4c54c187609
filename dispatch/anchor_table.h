// What is known of one op on one model of device beside the winners: a portfolio of variants, each measured
// on the same anchor problems. As text it is what a database keeps, what generated/ has and what the build
// packs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct AnchorTable {
  struct Variant {
    std::string template_name;
    Values config;
    std::string body;  ///< 12 digits of its template's body_hash (render.h) when it was measured
  };
  struct Anchor {
    Problem problem;
    double best_us = 0;      ///< the least time measured on it, of a variant in the table or not
    double best_any_us = 0;  ///< the same, of those that need no more alignment than one element
    std::vector<double> us;  ///< by variant, a median in microseconds; 0: not legal, not ok or not measured
    /// What the model's solution says of the times (time_model.h), so that it need not be solved again.
    /// Empty: not solved.
    std::vector<double> factor;  ///< by variant
    double best_factor = 0;
  };

  std::string op;
  std::vector<Variant> variants;
  std::vector<Anchor> anchors;
  /// How fast times change with a feature (time_model.h), by its name, and "noise", "spread" and "model"; as
  /// fitted to this table. Empty: not yet.
  std::map<std::string, double, std::less<>> weights;
};

/// CSV with five kinds of lines: op, weight, variant, anchor, and behind an anchor its factors. An anchor's
/// problem is written without what is the op's default. The same table gives the same bytes.
std::string write_anchors(const AnchorTable& table);

/// With the defaults of the op, if it is known. Throws Error that names `where` and the line.
AnchorTable read_anchors(std::string_view text, std::string_view where);

/// At most `most` variants that together lose least against the best times: greedily, by the mean over
/// anchors of the logarithm of portfolio's best / best, for pointers of any alignment and for aligned ones.
/// A loss above a factor of 4 counts as 4, so that one anchor cannot outvote all others.
std::vector<std::size_t> portfolio(const Op& op, const DeviceFacts& device, const AnchorTable& table,
                                   std::size_t most);

/// The table with these variants only, in this order; best times stay.
AnchorTable with_variants(const AnchorTable& table, const std::vector<std::size_t>& variants);

}  // namespace tunesmith
