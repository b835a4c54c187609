// The table of an op on a device (dispatch/anchor_table.h) from what a database has measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "db/store.h"
#include "dispatch/anchor_table.h"
#include "dispatch/select.h"
#include "tuner/tune.h"

namespace tunesmith {

/// Of "cuda:0,cuda:1", "cuda:all" or a single device, the first. Throws UsageError.
DeviceFacts first_device(const std::string& words);

/// The hashes of the op's bodies as they are now, by template.
Store::Bodies bodies_of(const Op& op);

/// Of the variants that are known on the device's problems, at most so many that together lose least, with
/// all their times. Only those whose templates have not changed since, and problems of which several variants
/// are known, or none would be the best.
AnchorTable best_table(const Op& op, const DeviceFacts& device, const Store& store, std::int64_t device_id,
                       std::size_t most = most_in_portfolio);

/// The device's table that dispatch chooses from: the database's, or the one that is built in. No anchors:
/// there is none.
AnchorTable known_table(const Op& op, const DeviceFacts& device, const std::filesystem::path& database);

/// The table with further variants, not measured yet on most anchors: the winners of single problems, those
/// given and the database's, that gain most there over the portfolio; at most so many.
AnchorTable challenged(AnchorTable table, const Op& op, const DeviceFacts& device,
                       const std::filesystem::path& database, const std::vector<BuiltIn>& winners,
                       std::size_t most);

/// The table with further variants that start at once: no number is compiled in, so that their binaries can
/// be in the library. Those that serve the problems best that were searched among such (tune --template), of
/// this model of device in the database.
AnchorTable with_first_launches(AnchorTable table, const Op& op, const DeviceFacts& device,
                                const std::filesystem::path& database);

/// A portfolio of a table with challengers. One that was not measured on an anchor counts as slow there, so
/// that none displaces what is good where nobody knows it.
AnchorTable narrowed(const AnchorTable& table, const Op& op, const DeviceFacts& device);

/// Anchors of a table on which variants of it are legal and have no time, those that lack most first, at most
/// so many; for each these variants, those of some templates if any are named, behind the fastest that is
/// known there, if possible of those that need no compiler.
struct Lacking {
  Problem problem;
  std::vector<NamedVariant> variants;
};
std::vector<Lacking> lacking(const AnchorTable& table, const Op& op, const DeviceFacts& device,
                             std::size_t most, const std::vector<std::string>& templates = {});

/// Times that an anchor of the table lacks, from `us` by variant. Those were measured in another run, perhaps
/// on another GPU of the model: they are multiplied by what the variants that both know took then and take
/// now. Without any such variant nothing is taken.
void fill(AnchorTable::Anchor& anchor, const std::vector<double>& us, const AnchorTable& table, const Op& op,
          const DeviceFacts& device);

/// The table with further anchors, problems on which its variants were measured since, and with what the
/// anchors lacked that it has; narrowed.
AnchorTable extended(AnchorTable table, const Op& op, const DeviceFacts& device, const Store& store,
                     std::int64_t device_id);

/// Texts of the problems on the device of which so many variants are known that a further search gains
/// little.
std::set<std::string> known_well(const Op& op, const Store& store, std::int64_t device_id);

std::vector<NamedVariant> variants_of(const AnchorTable& table);

/// What a database keeps of a table, without session and device.
AnchorTableRow row_of(const AnchorTable& table);

/// What a search should try first: the winners, and on each anchor of a table the best of its portfolio.
std::vector<BuiltIn> guesses_of(const std::vector<Candidate>& known);

/// "32 variants; on 40 of 40 anchors one has a time, within 1.8 % of the best on average and 12 % at worst"
std::string quality_text(const AnchorTable& table);

/// Beside a portfolio that is extended. They cost as much as its own variants on each further anchor.
inline constexpr std::size_t most_challengers = 24;

/// Makes the tables of all ops and devices of the database anew that the names let through (empty: all), and
/// stores them; a line about each. `extend`: adds to those that are known, built in or in the database.
std::string remake_tables(Store& store, const std::filesystem::path& database, const std::string& op,
                          const std::string& device, bool extend, const std::string& command);

}  // namespace tunesmith
