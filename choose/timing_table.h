// SPDX-License-Identifier: Apache-2.0
// What is known of one op on one model of device beside the winners: a portfolio of variants, each measured
// on the same anchor problems. As text it is what a database keeps, what generated/ has and what the build
// packs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// By feature of the model of times (time_model.h): 1 / length scale^2, in octaves for sizes; a word that
/// differs counts as one octave. "noise": the part of a variance that is no function of the features. What is
/// not named has an initial value.
using Weights = std::map<std::string, double, std::less<>>;

struct TimingTable {
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
    std::vector<float> factor;  ///< by variant; 0 where there is no time
    float best_factor = 0;
  };

  std::string op;
  std::vector<Variant> variants;
  std::vector<Anchor> anchors;
  Weights weights;  ///< as fitted to this table, with "spread" and "model" beside them; empty: not yet
  std::uint64_t solved_from = 0;  ///< the key (solution_key) of what the factors belong to; 0: there are none
};

/// CSV with four kinds of lines: op, weight, variant and anchor; factors are not in it. An anchor's problem
/// is written without what is the op's default. The same table gives the same bytes.
std::string write_timing_table(const TimingTable& table);

/// With the defaults of the op, if it is known. Throws Error that names `where` and the line.
TimingTable read_timing_table(std::string_view text, std::string_view where);

/// The factors and their key, in binary; empty where it is not solved. Of a table of the same times alone.
std::string write_factors(const TimingTable& table);

/// Gives a table its factors and their key; what is not of its size is not taken.
void read_factors(std::string_view bytes, TimingTable& table);

void forget_factors(TimingTable& table);

/// At most `most` variants that together lose least against the best times: greedily, by the mean over
/// anchors of the logarithm of portfolio's best / best, for pointers of any alignment and for aligned ones.
/// A loss above a factor of 4 counts as 4, so that one anchor cannot outvote all others.
std::vector<std::size_t> portfolio(const Op& op, const DeviceFacts& device, const TimingTable& table,
                                   std::size_t most);

/// Whether a template's body is what it was when it had these first digits of body_hash (render.h). An
/// exported library, which has no bodies, says yes: its export left out what is not (dispatch/exported.cpp).
bool is_current(const Op& op, const Template& tmpl, std::string_view digits);

/// Why it is not used: the template of a table's variant is not what was measured any more. Empty: it is.
std::string fault_of(const Op& op, const TimingTable::Variant& variant);

/// The table with these variants only, in this order, without factors; best times stay.
TimingTable with_variants(const TimingTable& table, const std::vector<std::size_t>& variants);

}  // namespace tunesmith
