// Plans: in which order loops and the arrays between them are computed, and what that costs. Private to
// plans.cpp and forms.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "templates/tensor/derivation.h"

namespace tunesmith::tensor_op {

// Loops that are run one after the other.
struct Plan {
  struct Part {
    int array = 0;  // the number of the loops whose array it is
    int loops = 0;  // those that are run for it
  };
  std::vector<Part> parts;  // each after those that it reads
  int last = 0;             // loops, for the result
  double operations = 0, bytes = 0;
  std::size_t launches = 1;
  bool distributes = false;
};

/// Finds the plans for loops that no other plan beats in operations and in bytes.
class Planner {
 public:
  Planner(int inputs, May may, std::int64_t element_bytes)
      : table_(inputs), may_(may), element_bytes_(static_cast<double>(element_bytes)) {}

  LoopsTable& table() { return table_; }
  const LoopsTable& table() const { return table_; }

  const std::vector<Plan>& plans(int loops);

  /// Those that none beats, at most so many.
  static void keep_best(std::vector<Plan>& plans, std::size_t most);

  /// For each part, and for the last, the part whose array it takes as it is computed; -1: none.
  std::vector<int> joins(const Plan& plan) const;

  /// Of a part, or behind the parts of the last.
  const Loops& loops_of(const Plan& plan, std::size_t step) const;

  /// What a step reads and writes, without what a join saves.
  double bytes_of(const Plan& plan, const std::vector<int>& joins, std::size_t step) const;

 private:
  static Plan joined(int array, const Plan& inner, const Plan& outer);
  std::size_t readers(const Plan& plan, int array) const;
  void price(Plan& plan) const;

  static constexpr std::size_t most_loops = 4000;

  LoopsTable table_;
  May may_;
  double element_bytes_;
  std::unordered_map<int, std::vector<Plan>> plans_;
  std::set<int> open_;  // those that plans() is at
};

}  // namespace tunesmith::tensor_op
