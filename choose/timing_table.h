// SPDX-License-Identifier: Apache-2.0
// The timing table of one op on one model of device: a portfolio of variants, each measured on the same
// anchor problems. Databases keep its text, generated/ holds it and the build packs it.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// Weights by feature of the model of times (time_model.h): 1 / length scale^2, in octaves for sizes; words
/// that differ count as one octave. "noise" is the part of a variance that is no function of the features. A
/// missing weight has its initial value.
using Weights = std::map<std::string, double, std::less<>>;

/// A variant's launches on a problem (launch_shape.h), in eighths of an octave: the threads of all
/// launches, the operations of each thread, the number of launches, and the threads of a block of the
/// largest.
inline constexpr std::size_t launch_numbers_in_shape = 4;
struct LaunchShape {
  std::array<std::uint8_t, launch_numbers_in_shape> eighths = {};  ///< all 0: it is not known
  auto operator<=>(const LaunchShape&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

struct TimingTable {
  struct Variant {
    std::string template_name;
    Values config;
    std::string body;  ///< 12 digits of its template's body_hash (render.h) at the measurement
  };
  struct Anchor {
    Problem problem;
    double best_us = 0;      ///< the least time on it, of any variant, in the table or not
    double best_any_us = 0;  ///< the same, of variants that need no more alignment than one element
    std::vector<double> us;  ///< by variant, a median in microseconds; 0: not legal, not ok or not measured
    /// The model's solution for the times (time_model.h), stored so that it need not be solved again. Empty:
    /// not solved.
    std::vector<float> factor;  ///< by variant; 0 if there is no time
    float best_factor = 0;
    /// By variant, beside the factors if these follow from them (uses_launch_shapes); empty: not known.
    std::vector<LaunchShape> launch;
  };

  std::string op;
  std::vector<Variant> variants;
  std::vector<Anchor> anchors;
  Weights weights;  ///< fitted to this table, with the additional "spread" and "model"; empty: not yet
  std::uint64_t solved_from = 0;  ///< the key (solution_key) that the factors belong to; 0: there are none
};

/// Writes CSV with four kinds of lines: op, weight, variant and anchor, without factors. An anchor's problem
/// is written without the op's default values. The same table gives the same bytes.
std::string write_timing_table(const TimingTable& table);

/// Reads a table and adds the op's defaults, if the op is known. Throws Error that names `where` and the
/// line.
TimingTable read_timing_table(std::string_view text, std::string_view where);

/// Returns the factors with their launch shapes and key, in binary; empty if the table is not solved. They
/// fit only a table of the same times.
std::string write_factors(const TimingTable& table);

/// Gives a table its factors, their launch shapes and their key; data of another size is ignored.
void read_factors(std::string_view bytes, TimingTable& table);

void forget_factors(TimingTable& table);

/// Selects at most `most` variants that together lose least against the best times: greedily, by the mean
/// over anchors of the logarithm of portfolio's best / best, for pointers of any alignment and for aligned
/// ones. A loss above a factor of 4 counts as 4, so that one anchor cannot outvote all others.
std::vector<std::size_t> portfolio(const Op& op, const DeviceFacts& device, const TimingTable& table,
                                   std::size_t most);

/// True if a template's body still has these first digits of body_hash (render.h). Always true in an exported
/// library, which has no bodies: its export left out outdated variants (dispatch/exported.cpp).
bool is_current(const Op& op, const Template& tmpl, std::string_view digits);

/// Returns why a table's variant is not used: its template has changed since it was measured. Empty: it is
/// used.
std::string fault_of(const Op& op, const TimingTable::Variant& variant);

/// Returns the table with only these variants, in this order, without factors; best times stay.
TimingTable with_variants(const TimingTable& table, const std::vector<std::size_t>& variants);

}  // namespace tunesmith
