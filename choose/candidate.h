// SPDX-License-Identifier: Apache-2.0
// What dispatch may choose: the winners of problems, and the variants of portfolios.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "choose/timing_table.h"
#include "generator/conditions.h"
#include "generator/op.h"
#include "generator/same_model.h"

namespace tunesmith {

/// A variant as it was read from a database or from the library: the winner of a problem, or one of a
/// portfolio.
struct Candidate {
  /// The former is preferred where all else is equal.
  enum class Origin { database, exported, built_in };
  Origin origin = Origin::database;
  DeviceFacts device;  ///< on which it was measured; only its model facts
  std::string op;
  std::string template_name;
  Problem problem;          ///< that it won; empty: it is one of a portfolio
  Values config;            ///< as it was stored
  double median_us = 0;     ///< of one launch on `device`; 0: of a portfolio
  double low_us = 0;        ///< its 95 % interval over loads; 0: unknown
  double high_us = 0;       ///< likewise
  std::int64_t tied = 0;    ///< finalists that could not be told from the best, itself one; 0: unknown
  Conditions conditions;    ///< under which it was measured; times of others are not compared with it
  std::string source_hash;  ///< empty: of a portfolio
  bool has_binary = false;  ///< for device.target and what of `problem` is compiled in
  std::string fault;        ///< why it must not be used for any problem, as a sentence; empty: no fault
  /// Of a portfolio: its times on the problems where it was measured, with the best time of each.
  struct Time {
    std::shared_ptr<const Problem> problem;
    double us = 0;
    double best_us = 0;
    double factor = 0, best_factor = 0;  ///< by the table's solution (timing_table.h)
  };
  std::vector<Time> times = {};
  std::shared_ptr<const Weights> weights = {};  ///< of its table; null: of no portfolio
};

/// For people: "tiled BLOCK_X=32 (database, NVIDIA H200, height=…, 5.1 us)".
std::string describe(const Candidate& candidate);

}  // namespace tunesmith
