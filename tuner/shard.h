// How the problems of a command are divided among the ranks of a cluster's job, or among the devices of a
// machine: problem by problem, or, where there are fewer problems, a problem by its points.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/search.h"

namespace tunesmith {

struct Shard {
  int index = 0;  ///< 0 to count - 1
  int count = 1;
  std::string text() const;  ///< "3 of 8", counted from 1

  using Environment = std::function<const char*(const char*)>;
  /// "3/8", or "auto": what Slurm, Open MPI or another MPI's process manager tells this process. Throws
  /// UsageError.
  static Shard parse(std::string_view words, const Environment& variable);
};

/// "tuned.db" -> "tuned.3-of-8.db"
std::filesystem::path shard_file(const std::filesystem::path& database, const Shard& shard);

/// A problem, or a part of its points.
struct Task {
  std::size_t problem = 0;
  std::size_t part = 0, parts = 1;
  bool operator==(const Task&) const = default;
};

/// The same work as at least so many tasks; those of one problem have equal shares of its points.
std::vector<Task> split(const std::vector<Task>& tasks, std::size_t at_least);

/// All tasks of a number of problems that are this shard's: each problem or point is in one shard.
std::vector<Task> tasks_of(std::size_t problems, const Shard& shard);

/// Proposes the base, and of the rest only this part. Which part a point is in depends on its config alone.
std::unique_ptr<Search> only_part(std::unique_ptr<Search> search, const Point& base, const Task& task);

}  // namespace tunesmith
