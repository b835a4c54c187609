// SPDX-License-Identifier: Apache-2.0
// The timing table of an op on a device from what was measured, and the portfolio that is worth being in it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "choose/candidate.h"
#include "choose/timing_table.h"
#include "choose/variant.h"
#include "db/rows.h"

namespace tunesmith {

/// Each is a kernel in the library, for each dtype and category that it is used for.
inline constexpr std::size_t most_in_portfolio = 32;
inline constexpr std::size_t most_at_once = 16;  ///< beside them, for first launches

/// The hashes of the op's bodies as they are now.
BodyHashes bodies_of(const Op& op);

/// A table as this version of the op has it: with all parameters, also those that came after it was made. A
/// variant whose template has changed since has no times.
TimingTable completed(TimingTable table, const Op& op);

/// Of the variants that are known on the device's problems, at most so many that together lose least, with
/// all their times. Only those whose templates have not changed since, and problems of which several variants
/// are known, or none would be the best.
TimingTable best_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                       std::size_t most = most_in_portfolio);

/// The table with further variants, not measured yet on most anchors: the winners of single problems, those
/// given and the database's, that gain most there over the portfolio; at most so many.
TimingTable challenged(TimingTable table, const Op& op, const DeviceFacts& device,
                       const std::vector<std::vector<TimeRow>>& measured, const std::vector<BuiltIn>& winners,
                       std::size_t most);

/// The table with further variants that start at once: no number is compiled in, so that their binaries can
/// be in the library. Those that serve the problems best that were searched among such (tune --template), of
/// this model of device in the database.
TimingTable with_first_launches(TimingTable table, const Op& op, const DeviceFacts& device,
                                const std::vector<std::vector<TimeRow>>& measured);

/// A portfolio of a table with challengers. One that was not measured on an anchor counts as slow there, so
/// that an unmeasured variant never replaces a measured one.
TimingTable narrowed(const TimingTable& table, const Op& op, const DeviceFacts& device);

/// Anchors of a table on which variants of it are legal and have no time, those that lack most first, at most
/// so many; for each these variants, those of some templates if any are named, behind the fastest that is
/// known there, if possible of those that need no compiler.
struct TableGap {
  Problem problem;
  std::vector<NamedVariant> variants;
};
std::vector<TableGap> table_gaps(const TimingTable& table, const Op& op, const DeviceFacts& device,
                                 std::size_t most, const std::vector<std::string>& templates = {});

/// Times that an anchor of the table lacks, from `us` by variant. Those were measured in another run, perhaps
/// on another GPU of the model: they are multiplied by what the variants that both know took then and take
/// now. Without any such variant nothing is taken.
void fill(TimingTable::Anchor& anchor, const std::vector<double>& us, const TimingTable& table, const Op& op,
          const DeviceFacts& device);

/// The table with further anchors, problems on which its variants were measured since, and with what the
/// anchors lacked that it has; narrowed.
TimingTable extended(TimingTable table, const Op& op, const DeviceFacts& device,
                     const std::vector<TimeRow>& times);

/// Texts of the problems of which so many variants are known that a further search gains little.
std::set<std::string> known_well(const std::vector<TimeRow>& times);

std::vector<NamedVariant> variants_of(const TimingTable& table);

/// What a database keeps of a table, without session and device.
AnchorTableRow row_of(const TimingTable& table);

/// What a search should try first: the winners, and on each anchor of a table the best of its portfolio.
std::vector<BuiltIn> guesses_of(const std::vector<Candidate>& known);

/// "32 variants; on 40 of 40 anchors one has a time, within 1.8 % of the best on average and 12 % at worst"
std::string quality_text(const TimingTable& table);

/// Beside a portfolio that is extended. They cost as much as its own variants on each further anchor.
inline constexpr std::size_t most_challengers = 24;

}  // namespace tunesmith
