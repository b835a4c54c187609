// SPDX-License-Identifier: Apache-2.0
// Schedules: the order in which loops and the arrays between them are computed, and its cost. Private to
// form_search.cpp and forms.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "templates/tensor/derive/derivation.h"

namespace tunesmith::tensor_op {

// A sequence of loops that run one after the other.
struct Schedule {
  struct Part {
    int array = 0;  // the number of the loops whose array it is
    int loops = 0;  // the number of the loops that run for it
  };
  std::vector<Part> parts;  // each after the parts that it reads
  int last = 0;             // loops, for the result
  double operations = 0, bytes = 0;
  std::size_t launches = 1;
  bool distributes = false;
};

/// Finds the schedules for loops that no other schedule beats in operations and in bytes.
class FormSearch {
 public:
  FormSearch(int inputs, May may, std::int64_t element_bytes)
      : table_(inputs), may_(may), element_bytes_(static_cast<double>(element_bytes)) {}

  LoopsTable& table() { return table_; }
  const LoopsTable& table() const { return table_; }

  const std::vector<Schedule>& schedules(int loops);

  /// Keeps the schedules that no other one beats, at most `most` of them.
  static void keep_best(std::vector<Schedule>& schedules, std::size_t most);

  /// For each part and for the last loops: the part whose array is used as it is computed; -1: none.
  std::vector<int> joins(const Schedule& schedule) const;

  /// The loops of a part, or, for the step behind the parts, the last loops.
  const LoopNest& loops_of(const Schedule& schedule, std::size_t step) const;

  /// The bytes that a step reads and writes, less what a join saves.
  double bytes_of(const Schedule& schedule, const std::vector<int>& joins, std::size_t step) const;

 private:
  static Schedule joined(int array, const Schedule& inner, const Schedule& outer);
  std::size_t readers(const Schedule& schedule, int array) const;
  void price(Schedule& schedule) const;

  static constexpr std::size_t most_loops = 4000;

  LoopsTable table_;
  May may_;
  double element_bytes_;
  std::unordered_map<int, std::vector<Schedule>> schedules_;
  std::set<int> open_;  // the loops whose schedules() call is not finished
};

}  // namespace tunesmith::tensor_op
