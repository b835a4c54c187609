// SPDX-License-Identifier: Apache-2.0
#include "cli/user_metrics.h"

#include <algorithm>
#include <cmath>

#include "generator/error.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

std::vector<std::string> with_metric_names(std::vector<std::string> columns, const Op* op) {
  if (op != nullptr && op->user_kernel != nullptr)
    for (const UserMetric& one : op->user_kernel->metrics) {
      const bool is_taken = std::find(columns.begin(), columns.end(), one.name) != columns.end();
      columns.push_back((is_taken ? "metric_" : "") + one.name);
    }
  return columns;
}

std::vector<Cell> with_metrics(std::vector<Cell> row, const Op* op, const std::string& problem,
                               const std::string& config, const std::optional<double>& us) {
  if (op == nullptr || op->user_kernel == nullptr) return row;
  for (const UserMetric& one : op->user_kernel->metrics) {
    Cell& made = row.emplace_back();
    if (!us || *us <= 0) continue;
    try {
      const double value =
          one.value(complete_problem(*op, Problem::parse(problem)), Values::parse(config), *us);
      if (std::isfinite(value)) made = value;
    } catch (const UsageError&) {  // a stored problem or config that the file does not allow any more
    } catch (const Error&) {
    }
  }
  return row;
}

}  // namespace tunesmith
