// SPDX-License-Identifier: Apache-2.0
// The findings of a run on one problem so far: the variants that were proposed, and their counts. The search
// fills it, the finals add to it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/check/messages.h"
#include "tuner/check/rendered_variant.h"

namespace tunesmith {

/// One variant in this run.
struct Trial {
  RenderedVariant variant;
  std::string binary;  ///< kept while the variant may still win
  std::optional<double> compile_ms;
  MeasureReply reply;            ///< the newest reply
  double median_us = 0;          ///< 0: not ok
  std::vector<double> loads_us;  ///< in the finals: the median of each load's samples
  bool checked = false;          ///< in this run, against this run's inputs
  std::int64_t measurement = 0;  ///< the newest row of the database that has it
};

using TrialId = std::int64_t;  // position in Findings::trials

struct Findings {
  std::deque<Trial> trials;  ///< in the order of the search, so the base is the first
  std::map<Verdict, std::int64_t> verdicts;
  std::int64_t measured = 0;  ///< verdicts of this run
  std::int64_t known = 0;     ///< verdicts taken from earlier runs
  std::int64_t failed = 0;    ///< verdicts other than ok
  double best_us = 0;         ///< in the search; 0: none is ok yet
  double worst_us = 0;        ///< 0: none is ok yet

  Trial& trial(TrialId trial_id) { return trials[static_cast<std::size_t>(trial_id)]; }
  const Trial& trial(TrialId trial_id) const { return trials[static_cast<std::size_t>(trial_id)]; }
  double base_us() const { return trials.empty() ? 0 : trials.front().median_us; }
};

/// Writes a verdict of this run to the database and answers with the measurement's id.
using Record = std::function<std::int64_t(const Trial& trial, const MeasureReply& reply)>;

}  // namespace tunesmith
