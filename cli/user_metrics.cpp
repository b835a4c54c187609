// SPDX-License-Identifier: Apache-2.0
#include "cli/user_metrics.h"

#include <algorithm>
#include <cmath>

#include "generator/error.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {

std::optional<double> value_of(const Op& op, const std::string& problem, const std::string& config,
                               const std::function<double(const Problem&, const Values&)>& value) {
  try {
    const double made = value(complete_problem(op, Problem::parse(problem)), Values::parse(config));
    if (std::isfinite(made)) return made;
  } catch (const Error&) {
  }
  return std::nullopt;
}

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
    const auto value = value_of(*op, problem, config, [&](const Problem& its, const Values& axes) {
      return one.value(its, axes, *us);
    });
    if (value) made = *value;
  }
  return row;
}

}  // namespace tunesmith
