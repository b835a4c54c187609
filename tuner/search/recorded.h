// SPDX-License-Identifier: Apache-2.0
// Search spaces that were measured before, so that a search on them needs no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tuner/search/search.h"

namespace tunesmith {

struct RecordedRow {
  std::string template_name;
  Values config;
  Verdict verdict = Verdict::ok;
  double median_us = 0;
  double compile_ms = 0;
  double run_ms = 0;               ///< all but the compiler
  std::string reason;              ///< why it failed
  std::vector<double> samples_us;  ///< of the median; mostly empty: QueryFilter::samples asks for them
};

/// The measurements of one op for one problem on one device, with the same caches and launches.
struct Recording {
  std::string op, problem, device;  ///< empty if the file does not say
  std::string caches = "warm", launches = "apart";
  std::string name;  ///< for tables
  std::vector<RecordedRow> rows;
};

/// A recording as a search space, in which the recorded configs are the legal ones, with their verdicts. Of a
/// config that was recorded twice the later row counts.
class RecordedSpace {
 public:
  /// `worth`: the heuristics of a template; if it is empty there are none.
  explicit RecordedSpace(const Recording& recording,
                         const std::function<std::vector<Rule>(const std::string&)>& worth = {});

  const SearchSpace& space() const { return space_; }
  const std::vector<std::string>& templates() const { return templates_; }  ///< by Point::template_index
  const RecordedRow& row(const Point& point) const;
  double best_us() const { return best_us_; }
  std::size_t size() const { return size_; }
  /// Rows with other axes than most rows of their template.
  std::size_t left_out() const { return left_out_; }

 private:
  SearchSpace space_;
  std::vector<std::string> templates_;
  std::vector<std::map<std::uint64_t, RecordedRow>> rows_;  // by template and the config's hash
  double best_us_ = 0;
  std::size_t size_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace tunesmith
