// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/shard.h"

#include <array>
#include <optional>
#include <utility>

#include "generator/error.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

// The variables of a process manager: its rank, counted from 0, and the number of ranks. Those of schedulers
// come last: mpirun inside a job of Slurm starts ranks that Slurm does not know of.
constexpr std::array<std::pair<const char*, const char*>, 3> variables = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
}};

// In the order of `variables`: those of schedulers come last.
constexpr std::array<const char*, 6> local_variables = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                                        "MV2_COMM_WORLD_LOCAL_RANK",
                                                        "MPI_LOCALRANKID",
                                                        "PALS_LOCAL_RANKID",
                                                        "PMI_LOCAL_RANK",
                                                        "SLURM_LOCALID"};

Shard from_environment(const Shard::Environment& variable) {
  for (const auto& [rank_name, size_name] : variables) {
    const char* rank = variable(rank_name);
    if (rank == nullptr) continue;
    const char* size = variable(size_name);
    if (size == nullptr) continue;
    const auto index = parsed_number<int>(rank);
    const auto count = parsed_number<int>(size);
    if (!index || !count || *index < 0 || *index >= *count) {
      throw UsageError("The environment has " + std::string(rank_name) + "=" + rank + " and " + size_name +
                       "=" + size +
                       ", which are not a rank and a number of ranks. Give --shard as I/N, such as 3/8.");
    }
    return {*index, *count};
  }
  std::string names;
  for (const auto& [rank_name, size_name] : variables)
    names += (names.empty() ? "" : ", ") + std::string(rank_name) + " with " + size_name;
  throw UsageError("--shard auto finds no rank: the environment has none of " + names +
                   ". Start the command with srun or mpirun, or give --shard as I/N, such as 3/8.");
}

}  // namespace

std::string Shard::text() const { return std::to_string(index + 1) + " of " + std::to_string(count); }

Shard Shard::parse(std::string_view words, const Environment& variable) {
  if (words == "auto") return from_environment(variable);
  const std::size_t slash = words.find('/');
  const auto index =
      slash == std::string_view::npos ? std::nullopt : parsed_number<int>(words.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : parsed_number<int>(words.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) {
    throw UsageError("\"" + std::string(words) +
                     "\" is not a shard; give auto, or I/N with I from 1 to N, such as 3/8.");
  }
  return {*index - 1, *count};
}

std::optional<int> local_rank(const Shard::Environment& variable) {
  for (const char* name : local_variables) {
    const char* const text = variable(name);
    if (text == nullptr) continue;
    const auto rank = parsed_number<int>(text);
    if (rank && *rank >= 0) return rank;
    throw UsageError("The environment has " + std::string(name) + "=" + text +
                     ", which is not a rank on this machine. Name the GPU, such as --device cuda:3.");
  }
  return std::nullopt;
}

std::uint64_t seed_of(std::uint64_t seed, const Task& task) { return seed + 7919 * task.part; }

std::vector<Point> promising_of(const std::vector<Point>& promising, const Task& task) {
  std::vector<Point> mine;
  for (std::size_t i = task.part; i < promising.size(); i += task.parts) mine.push_back(promising[i]);
  return mine;
}

std::filesystem::path shard_file(const std::filesystem::path& database, const Shard& shard) {
  std::filesystem::path file = database;
  file.replace_filename(database.stem().string() + "." + std::to_string(shard.index + 1) + "-of-" +
                        std::to_string(shard.count) + database.extension().string());
  return file;
}

std::vector<Task> split(const std::vector<Task>& tasks, std::size_t at_least) {
  if (tasks.size() >= at_least || tasks.empty()) return tasks;
  std::vector<Task> all;
  for (std::size_t i = 0; i < at_least; ++i) {
    const std::size_t from = i % tasks.size();
    const std::size_t pieces = (at_least - from + tasks.size() - 1) / tasks.size();
    const Task& task = tasks[from];
    all.push_back({task.problem, task.part + task.parts * (i / tasks.size()), task.parts * pieces});
  }
  return all;
}

std::vector<Task> tasks_of(std::size_t problems, const Shard& shard) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < problems; ++i) tasks.push_back({i});
  tasks = split(tasks, static_cast<std::size_t>(shard.count));
  std::vector<Task> mine;
  for (std::size_t i = static_cast<std::size_t>(shard.index); i < tasks.size();
       i += static_cast<std::size_t>(shard.count))
    mine.push_back(tasks[i]);
  return mine;
}

}  // namespace tunesmith
