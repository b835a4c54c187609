// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/device_runs.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "generator/threads.h"
#include "tuner/run/interrupt.h"

namespace tunesmith {
namespace {

// If devices of one model differ by more than this, the progress says so.
constexpr double much_slower = 1.03;

// If fewer tasks than these are left, they are not reserved, or one device might end long before the others.
constexpr std::size_t few_left = 16;

// The number of problems whose lists are compiled while one slow compilation holds up a list.
constexpr std::size_t most_upcoming = 4;

// The tasks in their order, each for the next device that is free. The finals of a problem are on one device:
// if the problem is split, on the device that ends its last part.
class TaskQueue {
 public:
  TaskQueue(const std::vector<Problem>& problems, std::vector<Task> tasks, const Assignment& assignment)
      : problems_(problems), tasks_(std::move(tasks)), assignment_(assignment), done_(problems.size()) {}

  void divide_for(std::size_t device_runs) {
    lanes_ = device_runs;
    std::vector<Task> pieces = assignment_.mode.searches() && assignment_.mode.finals
                                   ? split(tasks_, device_runs)
                                   : std::vector<Task>();
    if (pieces.size() > tasks_.size()) {
      tasks_ = std::move(pieces);
      for (const Task& task : tasks_) ++parts_left_[task.problem];
    }
    if (!assignment_.weights.empty())
      for (const Task& task : tasks_) weight_left_ += weight_of(task);
  }

  void take_part(DeviceRun& device_run) {
    try {
      while (const auto task = next(device_run)) {
        const bool piece = parts_left_.contains(task->problem);
        const Problem& problem = problems_[task->problem];
        keep(*task, device_run.run({.problem = problem,
                                    .mode = piece ? modes::search : assignment_.mode,
                                    .part = *task,
                                    .listed = listed_for(problem),
                                    .seconds = share_of(*task),
                                    .next = upcoming(device_run)}));
        if (piece && last_part(*task) && !interrupted()) {
          const Task whole{task->problem};
          keep(*task,
               winners_only(device_run.run({.problem = problem, .mode = modes::finals, .part = whole})));
        }
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      interrupt();  // ends the other devices
    }
    device_run.rest();
  }

  std::vector<TunedProblem> results() {
    if (failure_) std::rethrow_exception(failure_);
    std::vector<TunedProblem> results;
    for (auto& problem : done_)
      if (problem) results.push_back(std::move(*problem));
    return results;
  }

 private:
  std::optional<Task> next(const DeviceRun& device_run) {
    const std::scoped_lock lock(mutex_);
    if (interrupted() || (assignment_.until && Clock::now() >= *assignment_.until)) return std::nullopt;
    if (const auto reserved = reserved_.find(&device_run); reserved != reserved_.end()) {
      const Task task = reserved->second;
      reserved_.erase(reserved);
      return task;
    }
    if (next_ == tasks_.size()) return std::nullopt;
    return tasks_[next_++];
  }
  std::span<const NamedVariant> listed_for(const Problem& problem) const {
    if (assignment_.lists == nullptr) return assignment_.listed;
    const auto own = assignment_.lists->find(problem.text());
    return own == assignment_.lists->end() ? assignment_.listed : own->second;
  }
  // Nothing if the run's budget is enough.
  std::optional<double> share_of(const Task& task) {
    if (assignment_.weights.empty() || !assignment_.until) return std::nullopt;
    const std::scoped_lock lock(mutex_);
    const double left_s = std::chrono::duration<double>(*assignment_.until - Clock::now()).count();
    const double weight = weight_of(task);
    const double share = search_share_s(left_s * static_cast<double>(lanes_), weight, weight_left_);
    weight_left_ -= weight;
    return share;
  }
  double weight_of(const Task& task) const {
    return assignment_.weights[task.problem] / static_cast<double>(task.parts);
  }
  // The next problems of a device, whose inputs are made and lists compiled in time that is free. While many
  // tasks are left, this device will get the first of them; the others go to any free device.
  std::vector<ProblemTask::Upcoming> upcoming(const DeviceRun& device_run) {
    const std::scoped_lock lock(mutex_);
    std::vector<ProblemTask::Upcoming> all;
    for (std::size_t i = next_; i < std::min(next_ + most_upcoming, tasks_.size()); ++i) {
      const Problem& problem = problems_[tasks_[i].problem];
      all.push_back({&problem, listed_for(problem)});
    }
    if (tasks_.size() > next_ + few_left) reserved_.emplace(&device_run, tasks_[next_++]);
    return all;
  }
  bool last_part(const Task& task) {
    const std::scoped_lock lock(mutex_);
    return --parts_left_[task.problem] == 0;
  }
  // The finals begin with the counts of the parts.
  static TunedProblem winners_only(TunedProblem finals) {
    finals.verdicts.clear();
    finals.measured = finals.known = 0;
    return finals;
  }
  // The counts of a problem's parts are added up; its winners are those of its finals.
  void keep(const Task& task, TunedProblem problem) {
    const std::scoped_lock lock(mutex_);
    auto& kept = done_[task.problem];
    if (kept) {
      for (const auto& [verdict, count] : kept->verdicts) problem.verdicts[verdict] += count;
      problem.measured += kept->measured;
      problem.known += kept->known;
      problem.variants = std::max(problem.variants, kept->variants);
      problem.worst_us = std::max(problem.worst_us, kept->worst_us);
      problem.seconds += kept->seconds;
      problem.search_s = std::max(problem.search_s, kept->search_s);
      if (problem.base_fault.empty()) problem.base_fault = std::move(kept->base_fault);
      const auto best_us = [](const TunedProblem& one) {
        return one.winners.empty() ? 0 : one.winners.front().time.median_us;
      };
      if (kept->provisional && (problem.winners.empty() || best_us(*kept) < best_us(problem))) {
        problem.provisional = true;
        problem.winners = std::move(kept->winners);
        problem.base = std::move(kept->base);
      }
    }
    kept = std::move(problem);
  }

  const std::vector<Problem>& problems_;
  std::vector<Task> tasks_;
  Assignment assignment_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::size_t lanes_ = 1;
  double weight_left_ = 0;  // of the tasks that have not begun
  std::map<const DeviceRun*, Task> reserved_;
  std::map<std::size_t, int> parts_left_;  // of problems that are split
  std::vector<std::optional<TunedProblem>> done_;
  std::exception_ptr failure_;
};

}  // namespace

void compare(const DeviceRuns& device_runs, const Op& op, const Problem& problem, Progress& progress) {
  const DeviceFacts& device = device_runs.front()->device();
  const RenderedVariant base = render_variant(op, problem, {0, base_config(op, problem, device)}, device);
  const std::string binary = device_runs.front()->binary_of(base);
  if (binary.empty()) return;  // the run prints why
  std::vector<double> medians;
  std::string text;
  for (const auto& device_run : device_runs) {
    medians.push_back(device_run->median_us(base, problem, binary));
    if (medians.back() <= 0) return;
    text +=
        (text.empty() ? "" : ", ") + ratio_text(medians.back() / medians.front()) + " on " + device_run->id();
  }
  progress.say("The base takes " + time_text(medians.front()) + " on " + device_runs.front()->id() +
               "; as a multiple of that: " + text + ".");
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  if (*most > *least * much_slower) {
    progress.say(
        "These devices differ by " + ratio_text(*most / *least) +
        ". Each problem's finals are on one device, so its winners hold; its times are that device's.");
  }
}

std::vector<TunedProblem> run_tasks(const DeviceRuns& device_runs, const std::vector<Problem>& problems,
                                    const std::vector<Task>& tasks, const Assignment& assignment) {
  TaskQueue queue(problems, tasks, assignment);
  queue.divide_for(device_runs.size());
  std::atomic<std::size_t> next = 0;
  run_in_threads(device_runs.size(), [&] {  // mostly one thread per device
    for (std::size_t i = next++; i < device_runs.size(); i = next++) queue.take_part(*device_runs[i]);
  });
  return queue.results();
}

}  // namespace tunesmith
