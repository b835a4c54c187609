// SPDX-License-Identifier: Apache-2.0
// Divides the problems of a command among the ranks of a cluster's job, or among the devices of a machine:
// problem by problem, or, if there are fewer problems, several search one, each with its own seed. If they
// tell each other their verdicts, or do not learn, they divide the points too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/search/search.h"

namespace tunesmith {

struct Shard {
  int index = 0;  ///< 0 to count - 1
  int count = 1;
  std::string text() const;  ///< "3 of 8", counted from 1

  using Environment = std::function<const char*(const char*)>;
  /// Reads "3/8", or "auto": the rank that Slurm, Open MPI or another MPI's process manager tells this
  /// process. Throws UsageError.
  static Shard parse(std::string_view words, const Environment& variable);
};

/// "tuned.db" -> "tuned.3-of-8.db"
std::filesystem::path shard_file(const std::filesystem::path& database, const Shard& shard);

/// The rank within its machine, as Open MPI, MVAPICH, Intel MPI, MPICH, Cray PALS or Slurm tell it; nothing
/// if none does. Throws UsageError if it is no number.
std::optional<int> local_rank(const Shard::Environment& variable);

/// A problem, or a part of its search.
struct Task {
  std::size_t problem = 0;
  std::size_t part = 0, parts = 1;
  bool operator==(const Task&) const = default;
};

/// The same work as at least `at_least` tasks; those of one problem have equal shares of its search.
std::vector<Task> split(const std::vector<Task>& tasks, std::size_t at_least);

/// The tasks of this shard, for this number of problems: each problem or part is in one shard.
std::vector<Task> tasks_of(std::size_t problems, const Shard& shard);

/// The seed of a search that learns: no two parts look for the same.
std::uint64_t seed_of(std::uint64_t seed, const Task& task);

/// The points that a part tries first.
std::vector<Point> promising_of(const std::vector<Point>& promising, const Task& task);

}  // namespace tunesmith
