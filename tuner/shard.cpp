#include "tuner/shard.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "generator/error.h"
#include "generator/hash.h"

namespace tunesmith {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Of a process manager: its rank, counted from 0, and the number of ranks. A scheduler's own come last:
// mpirun inside a job of Slurm starts ranks of which Slurm knows nothing.
constexpr std::array<std::pair<const char*, const char*>, 3> variables = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
}};

Shard from_environment(const Shard::Environment& variable) {
  for (const auto& [rank_name, size_name] : variables) {
    const char* rank = variable(rank_name);
    if (rank == nullptr) continue;
    const char* size = variable(size_name);
    if (size == nullptr) continue;
    const auto index = number(rank);
    const auto count = number(size);
    if (!index || !count || *index < 0 || *index >= *count) {
      throw UsageError("The environment has " + std::string(rank_name) + "=" + rank + " and " + size_name +
                       "=" + size +
                       ", which are no rank and number of ranks. Give --shard as I/N, such as 3/8.");
    }
    return {*index, *count};
  }
  std::string names;
  for (const auto& [rank_name, size_name] : variables)
    names += (names.empty() ? "" : ", ") + std::string(rank_name) + " with " + size_name;
  throw UsageError("--shard auto finds no rank: the environment has none of " + names +
                   ". Start the command with srun or mpirun, or give --shard as I/N, such as 3/8.");
}

class Part : public Search {
 public:
  Part(std::unique_ptr<Search> search, Point base, const Task& task)
      : search_(std::move(search)), base_(std::move(base)), task_(task) {}

  std::optional<Point> next() override {
    while (auto point = search_->next())
      if (*point == base_ || is_mine(*point)) return point;
    return std::nullopt;
  }
  void report(const Point& point, Verdict verdict, double median_us) override {
    search_->report(point, verdict, median_us);
  }
  void compiled(const Point& point, double milliseconds) override { search_->compiled(point, milliseconds); }
  bool learns() const override { return search_->learns(); }
  std::optional<double> predicted_us(const Point& point) const override {
    return search_->predicted_us(point);
  }

 private:
  bool is_mine(const Point& point) const {
    const std::string digits =
        sha256(std::to_string(point.template_index) + " " + point.config.text()).substr(0, 8);
    return std::stoul(digits, nullptr, 16) % task_.parts == task_.part;
  }

  std::unique_ptr<Search> search_;
  Point base_;
  Task task_;
};

}  // namespace

std::string Shard::text() const { return std::to_string(index + 1) + " of " + std::to_string(count); }

Shard Shard::parse(std::string_view words, const Environment& variable) {
  if (words == "auto") return from_environment(variable);
  const std::size_t slash = words.find('/');
  const auto index = slash == std::string_view::npos ? std::nullopt : number(words.substr(0, slash));
  const auto count = slash == std::string_view::npos ? std::nullopt : number(words.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) {
    throw UsageError("\"" + std::string(words) +
                     "\" is not a shard; give auto, or I/N with I from 1 to N, such as 3/8.");
  }
  return {*index - 1, *count};
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

std::unique_ptr<Search> only_part(std::unique_ptr<Search> search, const Point& base, const Task& task) {
  if (task.parts == 1) return search;
  return std::make_unique<Part>(std::move(search), base, task);
}

}  // namespace tunesmith
