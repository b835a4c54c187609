// SPDX-License-Identifier: Apache-2.0
// Makes the timing table of an op on a device from measurements, and selects the portfolio that it holds.
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

/// The most variants of a portfolio. Each is a kernel in the library for each dtype and category that it is
/// used for.
inline constexpr std::size_t most_in_portfolio = 32;
inline constexpr std::size_t most_of_kind = 20;     ///< in a kind's portfolio, of an op with kinds (Op::kind)
inline constexpr std::size_t most_beside_ways = 4;  ///< the same where templates have ways, which are added
inline constexpr std::size_t most_at_once = 16;     ///< additional variants for first launches

/// Returns the current hashes of the op's bodies.
BodyHashes bodies_of(const Op& op);

/// Returns the table as this version of the op has it: with all parameters, also newer ones. A variant whose
/// template has changed since loses its times.
TimingTable completed(TimingTable table, const Op& op);

/// Returns the table of an op with kinds with all guesses and ways of its templates as variants, which may
/// lack times; another op's table as it is.
TimingTable with_guesses(TimingTable table, const Op& op);

/// Selects at most `most` of the variants known on the device's problems that together lose least, with all
/// their times; of an op with kinds for each kind. Only variants of unchanged templates count, and only
/// problems with several known variants, because with one there is no best to compare with. best_table() also
/// fits the weights of the table's model, which takes seconds.
TimingTable portfolio_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                            std::size_t most = most_in_portfolio);
TimingTable best_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                       std::size_t most = most_in_portfolio);

/// Returns the table with at most `most` further variants, which are not measured on most anchors yet:
/// winners of single problems, from `winners` and the database, that gain most over the portfolio there.
TimingTable challenged(TimingTable table, const Op& op, const DeviceFacts& device,
                       const std::vector<std::vector<TimeRow>>& measured, const std::vector<BuiltIn>& winners,
                       std::size_t most);

/// Returns the table with further variants that start at once: no number is compiled in, so that their
/// binaries can be in the library. They are the ones that serve best the problems that were searched among
/// such variants (tune --template), of this model of device in the database.
TimingTable with_first_launches(TimingTable table, const Op& op, const DeviceFacts& device,
                                const std::vector<std::vector<TimeRow>>& measured);

/// Selects the portfolio of a table with challengers. A variant without a time on an anchor counts as slow
/// there, so that an unmeasured variant never replaces a measured one.
TimingTable narrowed(const TimingTable& table, const Op& op, const DeviceFacts& device);

/// An anchor on which variants of a table are legal and have no time. table_gaps() returns at most `most`,
/// those that lack most times first. For each it lists the missing variants (only of `templates`, if any are
/// named) after the fastest variant with a time there, if possible one that needs no compiler.
struct TableGap {
  Problem problem;
  std::vector<NamedVariant> variants;
};
std::vector<TableGap> table_gaps(const TimingTable& table, const Op& op, const DeviceFacts& device,
                                 std::size_t most, const std::vector<std::string>& templates = {});

/// Adds times that an anchor of the table lacks, from `us` by variant. They were measured in another run,
/// perhaps on another GPU of the model, so they are scaled by the ratio of the two runs' times on variants
/// that both measured. Without such a variant nothing is added.
void fill(TimingTable::Anchor& anchor, const std::vector<double>& us, const TimingTable& table, const Op& op,
          const DeviceFacts& device);

/// Returns the table with further anchors (problems on which its variants were measured since) and with
/// missing times of the old anchors, narrowed.
TimingTable extended(TimingTable table, const Op& op, const DeviceFacts& device,
                     const std::vector<TimeRow>& times);

/// Returns the texts of the problems with so many known variants that a further search gains little.
std::set<std::string> known_well(const std::vector<TimeRow>& times);

std::vector<NamedVariant> variants_of(const TimingTable& table);

/// For an op with kinds: the guesses and ways of its templates. Empty for other ops.
std::vector<NamedVariant> named_guesses(const Op& op);

/// For an op with kinds: returns, for each problem, named_guesses(), the variants of its kind, and
/// those that have no time yet. For a problem of a kind without an anchor these are the few that are best on
/// all anchors.
VariantLists lists_by_kind(const TimingTable& table, const Op& op, const DeviceFacts& device,
                           const std::vector<Problem>& problems);

/// Returns a table's row for the database, without session and device.
AnchorTableRow row_of(const DeviceFacts& device, const TimingTable& table);

/// Returns the variants that a search should try first: the winners, and on each anchor of a table the best
/// of its portfolio.
std::vector<BuiltIn> guesses_of(const std::vector<Candidate>& known);

/// Returns, for example, "32 variants; on 40 of 40 anchors one has a time, within 1.8 % of the best on
/// average and 12 % at worst".
std::string quality_text(const TimingTable& table);

/// The most challengers of a portfolio that is extended. On each further anchor they cost as much as the
/// portfolio's own variants.
inline constexpr std::size_t most_challengers = 24;

}  // namespace tunesmith
