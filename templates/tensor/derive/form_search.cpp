// SPDX-License-Identifier: Apache-2.0
// Finds the schedules of loops, and computes their costs.

#include "templates/tensor/derive/form_search.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "templates/tensor/notation/layout.h"

namespace tunesmith::tensor_op {
namespace {

// True if the loops have only free indices and read the array once, at exactly these indices.
bool reads_as_computed(const LoopNest& loops, int array) {
  if (loops.reduced() != 0) return false;
  const Access* only = nullptr;
  for (const Access& access : loops.body.accesses) {
    if (access.array != array) continue;
    if (only != nullptr) return false;
    only = &access;
  }
  if (only == nullptr) return false;
  Indices used = 0;
  for (const Affine& dimension : only->dimensions) {
    const auto index = dimension.index();
    if (!index || (used & bit(*index)) != 0) return false;
    used |= bit(*index);
  }
  return true;
}

}  // namespace

const std::vector<Schedule>& FormSearch::schedules(int number) {
  if (const auto known = schedules_.find(number); known != schedules_.end()) return known->second;
  std::vector<Schedule> found = {Schedule{{}, number}};
  price(found.front());
  if (!open_.insert(number).second || table_.size() > most_loops)
    return schedules_[number] = std::move(found);
  for (const Rewrite& way : rewrites(table_, number, may_)) {
    std::vector<Schedule> all = schedules(way.outer);
    for (Schedule& schedule : all) schedule.distributes = schedule.distributes || way.distributes;
    for (const int array : way.arrays) {
      std::vector<Schedule> with;
      for (const Schedule& inner : schedules(array))
        for (const Schedule& outer : all) with.push_back(joined(array, inner, outer));
      all = std::move(with);
    }
    for (Schedule& schedule : all) {
      price(schedule);
      found.push_back(std::move(schedule));
    }
  }
  open_.erase(number);
  keep_best(found, most_forms);
  return schedules_[number] = std::move(found);
}

void FormSearch::keep_best(std::vector<Schedule>& schedules, std::size_t most) {
  std::stable_sort(schedules.begin(), schedules.end(), [](const Schedule& a, const Schedule& b) {
    return std::tie(a.operations, a.bytes, a.launches, a.distributes) <
           std::tie(b.operations, b.bytes, b.launches, b.distributes);
  });
  double least = std::numeric_limits<double>::infinity();
  std::vector<Schedule> best;
  for (Schedule& schedule : schedules) {
    if (schedule.bytes >= least) continue;
    least = schedule.bytes;
    best.push_back(std::move(schedule));
  }
  // While there are too many, drops the schedule that saves least compared to its neighbours.
  while (best.size() > most) {
    std::size_t least_needed = 1;
    double least_gap = std::numeric_limits<double>::infinity();
    for (std::size_t n = 1; n + 1 < best.size(); ++n) {
      const double gap = best[n + 1].operations / std::max(best[n - 1].operations, 1.0) *
                         (best[n - 1].bytes / std::max(best[n + 1].bytes, 1.0));
      if (gap < least_gap) {
        least_gap = gap;
        least_needed = n;
      }
    }
    best.erase(best.begin() + static_cast<std::ptrdiff_t>(least_needed));
  }
  schedules = std::move(best);
}

std::vector<int> FormSearch::joins(const Schedule& schedule) const {
  std::vector<int> from(schedule.parts.size() + 1, -1);
  for (std::size_t step = 0; step <= schedule.parts.size(); ++step) {
    double most = 0;
    for (std::size_t p = 0; p < schedule.parts.size(); ++p) {
      const int array = table_.inputs() + schedule.parts[p].array;
      if (!reads_as_computed(loops_of(schedule, step), array) || readers(schedule, array) > 1) continue;
      const double outputs = table_[schedule.parts[p].array].outputs();
      if (outputs <= most) continue;
      most = outputs;
      from[step] = static_cast<int>(p);
    }
  }
  return from;
}

const LoopNest& FormSearch::loops_of(const Schedule& schedule, std::size_t step) const {
  return table_[step < schedule.parts.size() ? schedule.parts[step].loops : schedule.last];
}

double FormSearch::bytes_of(const Schedule& schedule, const std::vector<int>& from, std::size_t step) const {
  const LoopNest& loops = loops_of(schedule, step);
  const bool is_taken = std::find(from.begin(), from.end(), static_cast<int>(step)) != from.end();
  const double intermediate_bytes = std::max(element_bytes_, 4.0);
  const bool is_last = step == schedule.parts.size();
  double bytes = is_taken ? 0 : loops.outputs() * (is_last ? element_bytes_ : intermediate_bytes);
  std::vector<int> seen;
  for (const Access& access : loops.body.accesses) {
    if (std::find(seen.begin(), seen.end(), access.array) != seen.end()) continue;
    seen.push_back(access.array);
    const int taken = from[step];
    if (taken >= 0 && access.array == table_.inputs() + schedule.parts[static_cast<std::size_t>(taken)].array)
      continue;
    bytes += elements_read(loops.body.accesses, access.array, loops.extents) *
             (access.array < table_.inputs() ? element_bytes_ : intermediate_bytes);
  }
  return bytes;
}

// Joins a schedule for an array and one that reads it. An array that both compute is computed once.
Schedule FormSearch::joined(int array, const Schedule& inner, const Schedule& outer) {
  Schedule schedule = inner;
  const auto append = [&](const Schedule::Part& part) {
    const bool known = std::any_of(schedule.parts.begin(), schedule.parts.end(),
                                   [&](const Schedule::Part& other) { return other.array == part.array; });
    if (!known) schedule.parts.push_back(part);
  };
  append({array, inner.last});
  for (const Schedule::Part& part : outer.parts) append(part);
  schedule.last = outer.last;
  schedule.distributes = inner.distributes || outer.distributes;
  return schedule;
}

std::size_t FormSearch::readers(const Schedule& schedule, int array) const {
  std::size_t count = 0;
  for (std::size_t step = 0; step <= schedule.parts.size(); ++step) {
    const std::vector<Access>& accesses = loops_of(schedule, step).body.accesses;
    count += std::any_of(accesses.begin(), accesses.end(),
                         [&](const Access& access) { return access.array == array; });
  }
  return count;
}

void FormSearch::price(Schedule& schedule) const {
  for (std::size_t p = schedule.parts.size(); p-- > 0;)  // drops arrays that nothing reads any more
    if (readers(schedule, table_.inputs() + schedule.parts[p].array) == 0)
      schedule.parts.erase(schedule.parts.begin() + static_cast<std::ptrdiff_t>(p));
  const std::vector<int> from = joins(schedule);
  schedule.operations = schedule.bytes = 0;
  schedule.launches = 0;
  for (std::size_t step = 0; step <= schedule.parts.size(); ++step) {
    schedule.operations += loops_of(schedule, step).operations();
    schedule.bytes += bytes_of(schedule, from, step);
    schedule.launches += from[step] < 0;
  }
}

}  // namespace tunesmith::tensor_op
