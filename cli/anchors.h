// The table of an op on a device (dispatch/anchor_table.h) from what a database has measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/store.h"
#include "dispatch/anchor_table.h"
#include "tuner/tune.h"

namespace tunesmith {

/// A table has so many variants at most: each is a kernel in the library, for each dtype that it is used for.
inline constexpr std::size_t most_in_portfolio = 32;

/// Every variant that is ok on one of the anchors and whose template has not changed since, with its times.
AnchorTable measured_table(const Op& op, const DeviceFacts& device, const Store& store,
                           std::int64_t device_id, const std::vector<Problem>& anchors);

std::vector<NamedVariant> named(const AnchorTable& table, const std::vector<std::size_t>& variants);

/// "26 variants; on 40 of 40 anchors one is known, within 1.8 % of the best on average and 12 % at worst"
std::string quality_text(const AnchorTable& table);

}  // namespace tunesmith
