// SPDX-License-Identifier: Apache-2.0
// The candidates that dispatch may choose from: the winners of problems, and the variants of portfolios.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "choose/timing_table.h"
#include "generator/conditions.h"
#include "generator/op.h"
#include "generator/same_model.h"

namespace tunesmith {

/// A variant as it was read from a database or from the library: the winner of a problem, or one of a
/// portfolio.
struct Candidate {
  /// The earlier one is preferred if all else is equal.
  enum class Origin { database, exported, built_in };
  Origin origin = Origin::database;
  DeviceFacts device;  ///< the device of the measurement; only its model facts
  std::string op;
  std::string template_name;
  Problem problem;       ///< the problem that it won; empty: it belongs to a portfolio
  Values config;         ///< the config as stored
  double median_us = 0;  ///< time of one launch on `device`; 0: it belongs to a portfolio
  double low_us = 0;     ///< the 95 % interval over loads; 0: unknown
  double high_us = 0;    ///< likewise
  std::int64_t tied =
      0;  ///< finalists that could not be distinguished from the best, including it; 0: unknown
  Conditions conditions;    ///< the conditions of its times; times under others are not compared
  std::string source_hash;  ///< empty: it belongs to a portfolio
  bool has_binary = false;  ///< it has one for device.target and the compiled-in part of `problem`
  std::string fault;        ///< why it must not be used for any problem, as a sentence; empty: no fault
  /// For a variant of a portfolio: its times on the anchors, with the best time of each.
  struct Time {
    std::shared_ptr<const Problem> problem;
    double us = 0;
    double best_us = 0;
    double factor = 0, best_factor = 0;  ///< from the table's solution (timing_table.h)
    LaunchShape launch = {};             ///< likewise
  };
  std::vector<Time> times = {};
  std::shared_ptr<const Weights> weights =
      {};  ///< the weights of its table; null: it belongs to no portfolio
};

/// The problem as people read it: without values that the op gives by default.
std::string shown_problem(std::string_view op, const Problem& problem);

/// Describes a candidate for people: "tiled BLOCK_X=32 (database, NVIDIA H200, height=…, 5.1 us)".
std::string describe(const Candidate& candidate);

}  // namespace tunesmith
