// Which plans there are for loops, and what they cost.

#include "templates/tensor/plans.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "templates/tensor/layout.h"

namespace tunesmith::tensor_op {
namespace {

// Whether the loops are over free indices alone and read the array once, at just these of their indices.
bool reads_as_computed(const Loops& loops, int array) {
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

const std::vector<Plan>& Planner::plans(int number) {
  if (const auto known = plans_.find(number); known != plans_.end()) return known->second;
  std::vector<Plan> found = {Plan{{}, number}};
  price(found.front());
  if (!open_.insert(number).second || table_.size() > most_loops) return plans_[number] = std::move(found);
  for (const Rewrite& way : rewrites(table_, number, may_)) {
    std::vector<Plan> all = plans(way.outer);
    for (Plan& plan : all) plan.distributes = plan.distributes || way.distributes;
    for (const int array : way.arrays) {
      std::vector<Plan> with;
      for (const Plan& inner : plans(array))
        for (const Plan& outer : all) with.push_back(joined(array, inner, outer));
      all = std::move(with);
    }
    for (Plan& plan : all) {
      price(plan);
      found.push_back(std::move(plan));
    }
  }
  open_.erase(number);
  keep_best(found, most_forms);
  return plans_[number] = std::move(found);
}

void Planner::keep_best(std::vector<Plan>& plans, std::size_t most) {
  std::stable_sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) {
    return std::tie(a.operations, a.bytes, a.launches, a.distributes) <
           std::tie(b.operations, b.bytes, b.launches, b.distributes);
  });
  double least = std::numeric_limits<double>::infinity();
  std::vector<Plan> best;
  for (Plan& plan : plans) {
    if (plan.bytes >= least) continue;
    least = plan.bytes;
    best.push_back(std::move(plan));
  }
  // Of neighbours, the one goes that saves least over its neighbours.
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
  plans = std::move(best);
}

std::vector<int> Planner::joins(const Plan& plan) const {
  std::vector<int> from(plan.parts.size() + 1, -1);
  for (std::size_t step = 0; step <= plan.parts.size(); ++step) {
    double most = 0;
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
      const int array = table_.inputs() + plan.parts[p].array;
      if (!reads_as_computed(loops_of(plan, step), array) || readers(plan, array) > 1) continue;
      const double outputs = table_[plan.parts[p].array].outputs();
      if (outputs <= most) continue;
      most = outputs;
      from[step] = static_cast<int>(p);
    }
  }
  return from;
}

const Loops& Planner::loops_of(const Plan& plan, std::size_t step) const {
  return table_[step < plan.parts.size() ? plan.parts[step].loops : plan.last];
}

double Planner::bytes_of(const Plan& plan, const std::vector<int>& from, std::size_t step) const {
  const Loops& loops = loops_of(plan, step);
  const bool is_taken = std::find(from.begin(), from.end(), static_cast<int>(step)) != from.end();
  const double intermediate_bytes = std::max(element_bytes_, 4.0);
  const bool is_last = step == plan.parts.size();
  double bytes = is_taken ? 0 : loops.outputs() * (is_last ? element_bytes_ : intermediate_bytes);
  std::vector<int> seen;
  for (const Access& access : loops.body.accesses) {
    if (std::find(seen.begin(), seen.end(), access.array) != seen.end()) continue;
    seen.push_back(access.array);
    const int taken = from[step];
    if (taken >= 0 && access.array == table_.inputs() + plan.parts[static_cast<std::size_t>(taken)].array)
      continue;
    bytes += elements_read(loops.body.accesses, access.array, loops.extents) *
             (access.array < table_.inputs() ? element_bytes_ : intermediate_bytes);
  }
  return bytes;
}

// A plan for an array, and one that reads it. An array that both compute is computed once.
Plan Planner::joined(int array, const Plan& inner, const Plan& outer) {
  Plan plan = inner;
  const auto append = [&](const Plan::Part& part) {
    const bool known = std::any_of(plan.parts.begin(), plan.parts.end(),
                                   [&](const Plan::Part& other) { return other.array == part.array; });
    if (!known) plan.parts.push_back(part);
  };
  append({array, inner.last});
  for (const Plan::Part& part : outer.parts) append(part);
  plan.last = outer.last;
  plan.distributes = inner.distributes || outer.distributes;
  return plan;
}

std::size_t Planner::readers(const Plan& plan, int array) const {
  std::size_t count = 0;
  for (std::size_t step = 0; step <= plan.parts.size(); ++step) {
    const std::vector<Access>& accesses = loops_of(plan, step).body.accesses;
    count += std::any_of(accesses.begin(), accesses.end(),
                         [&](const Access& access) { return access.array == array; });
  }
  return count;
}

void Planner::price(Plan& plan) const {
  for (std::size_t p = plan.parts.size(); p-- > 0;)  // what nothing reads any more
    if (readers(plan, table_.inputs() + plan.parts[p].array) == 0)
      plan.parts.erase(plan.parts.begin() + static_cast<std::ptrdiff_t>(p));
  const std::vector<int> from = joins(plan);
  plan.operations = plan.bytes = 0;
  plan.launches = 0;
  for (std::size_t step = 0; step <= plan.parts.size(); ++step) {
    plan.operations += loops_of(plan, step).operations();
    plan.bytes += bytes_of(plan, from, step);
    plan.launches += from[step] < 0;
  }
}

}  // namespace tunesmith::tensor_op
