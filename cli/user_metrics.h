// SPDX-License-Identifier: Apache-2.0
// Columns of the metrics that a user's kernel describes ([metrics]).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/text_table.h"
#include "generator/op.h"

namespace tunesmith {

/// Returns what `value` makes of a stored problem and config; nothing if that is no finite number, or the
/// file does not allow them any more.
std::optional<double> value_of(const Op& op, const std::string& problem, const std::string& config,
                               const std::function<double(const Problem&, const Values&)>& value);

/// Returns the columns followed by those of the op's metrics; null: an op that has none.
std::vector<std::string> with_metric_names(std::vector<std::string> columns, const Op* op);

/// Returns the row followed by the metrics of a time in microseconds; empty cells without a time, and where
/// the problem or the config is not one of the kernel as it is now.
std::vector<Cell> with_metrics(std::vector<Cell> row, const Op* op, const std::string& problem,
                               const std::string& config, const std::optional<double>& us);

}  // namespace tunesmith
