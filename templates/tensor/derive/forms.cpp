// SPDX-License-Identifier: Apache-2.0
// Turns schedules into forms: their steps as expressions and, for people, as text of loops.

#include "templates/tensor/derive/forms.h"

#include <algorithm>
#include <limits>

#include "templates/tensor/derive/form_search.h"
#include "templates/tensor/notation/layout.h"
#include "templates/tensor/notation/nest.h"

namespace tunesmith::tensor_op {
namespace {

// Writes a schedule's steps as expressions.
class FormWriter {
 public:
  FormWriter(const Expression& expression, const FormSearch& planner, const Schedule& schedule,
             double element_bytes)
      : e_(expression),
        planner_(planner),
        table_(planner.table()),
        plan_(schedule),
        from_(planner.joins(schedule)),
        element_bytes_(element_bytes),
        finishes_(expression.finish.is_there() && expression.free < expression.indices.size()) {
    place_.resize(schedule.parts.size() + 1, -1);
  }

  Form form() {
    std::vector<std::string> names = table_[plan_.last].names;
    write(plan_.parts.size(), names);
    if (finishes_) finish();
    form_.distributes = plan_.distributes;
    for (const FormStep& step : form_.steps) {
      form_.operations += step.operations;
      form_.bytes += step.bytes;
    }
    return std::move(form_);
  }

 private:
  // Writes a step after those that it reads, unless these are written already; the step that it joins comes
  // last of them.
  void write(std::size_t at, const std::vector<std::string>& names) {
    const LoopNest& loops = planner_.loops_of(plan_, at);
    const int joined = from_[at];
    for (const Access& access : loops.body.accesses) {
      const int part = part_of(access.array);
      if (part >= 0 && part != joined && place_[static_cast<std::size_t>(part)] < 0)
        write(static_cast<std::size_t>(part), planner_.loops_of(plan_, static_cast<std::size_t>(part)).names);
    }
    if (joined >= 0) write(static_cast<std::size_t>(joined), names_inside(loops, joined, names));
    FormStep step;
    step.extents = loops.extents;
    step.joined = joined >= 0;
    step.operations = loops.operations();
    step.bytes = planner_.bytes_of(plan_, from_, at);
    Expression& e = step.expression;
    for (const std::string& name : names) e.indices.push_back({name, 0});
    e.free = loops.free;
    e.reduction = loops.reduction;
    e.function = loops.body.function;
    e.accesses = loops.body.accesses;
    e.output.array = -1;
    if (at == plan_.parts.size() && !finishes_) {
      write_result(e);
    } else {
      place_[at] = static_cast<int>(form_.steps.size());
      e.output_name = name_of_step(form_.steps.size());
      e.output.dimensions = places_of(loops.free, loops.extents.size());
      if (at == plan_.parts.size()) step.bytes -= loops.outputs() * element_bytes_;  // the finish moves them
    }
    for (Access& access : e.accesses) {
      if (const int part = part_of(access.array); part >= 0)
        access.array = table_.inputs() + place_[static_cast<std::size_t>(part)];
    }
    add(std::move(step));
  }

  // Adds the step that applies the finish to the last sums.
  void finish() {
    const FormStep& sums = form_.steps.back();
    const auto free = static_cast<std::ptrdiff_t>(e_.free);
    FormStep step;
    step.joined = true;
    step.extents.assign(sums.extents.begin(), sums.extents.begin() + free);
    Expression& e = step.expression;
    e.indices.assign(sums.expression.indices.begin(), sums.expression.indices.begin() + free);
    e.free = e_.free;
    e.function = e_.finish.function;
    e.accesses = {{table_.inputs() + place_.back(), places_of(e_.free, e_.free)}};
    for (const int place : e_.finish.accesses)
      e.accesses.push_back(resized(e_.accesses[static_cast<std::size_t>(place)], e_.free));
    double outputs = 1;
    for (const std::int64_t extent : step.extents) outputs *= static_cast<double>(extent);
    step.operations = outputs * static_cast<double>(operations_of(e.function));
    step.bytes = outputs * element_bytes_;
    for (int array = 0; array < table_.inputs(); ++array)
      step.bytes += elements_read(e.accesses, array, step.extents) * element_bytes_;
    write_result(e);
    add(std::move(step));
  }

  void write_result(Expression& e) const {
    e.output_name = e_.output_name;
    e.output = resized(e_.output, e.indices.size());
  }

  // Adds a step whose arrays are numbered anew: only those that it reads.
  void add(FormStep step) {
    Expression& e = step.expression;
    for (Access& access : e.accesses) {
      const int array = access.array;
      const auto known = std::find(step.arrays.begin(), step.arrays.end(), array);
      access.array = static_cast<int>(known - step.arrays.begin());
      if (known != step.arrays.end()) continue;
      step.arrays.push_back(array);
      e.arrays.push_back(array < table_.inputs()
                             ? e_.arrays[static_cast<std::size_t>(array)]
                             : name_of_step(static_cast<std::size_t>(array - table_.inputs())));
      e.ranks.push_back(access.dimensions.size());
    }
    form_.steps.push_back(std::move(step));
  }

  static Access resized(Access access, std::size_t indices) {
    for (Affine& dimension : access.dimensions) dimension.factors.resize(indices);
    return access;
  }

  // The places of the first `count` of `indices` indices.
  static std::vector<Affine> places_of(std::size_t count, std::size_t indices) {
    std::vector<Affine> places;
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back({std::vector<std::int64_t>(indices), 0});
      places.back().factors[i] = 1;
    }
    return places;
  }

  int part_of(int array) const {
    for (std::size_t p = 0; p < plan_.parts.size(); ++p)
      if (array == table_.inputs() + plan_.parts[p].array) return static_cast<int>(p);
    return -1;
  }

  // The names of the indices of a step that another step joins: the other step's names for the indices that
  // both have.
  std::vector<std::string> names_inside(const LoopNest& loops, int part,
                                        const std::vector<std::string>& outer) const {
    const Schedule::Part& of = plan_.parts[static_cast<std::size_t>(part)];
    const LoopNest& inner = table_[of.loops];
    std::vector<std::string> names;
    for (const Access& access : loops.body.accesses) {
      if (access.array != table_.inputs() + of.array) continue;
      for (const Affine& dimension : access.dimensions) names.push_back(outer[dimension.index().value()]);
    }
    for (std::size_t i = inner.free; i < inner.names.size(); ++i) {
      std::string name = inner.names[i];
      while (std::find(names.begin(), names.end(), name) != names.end()) name += '_';
      names.push_back(name);
    }
    return names;
  }

  // t0, t1, … with as many t's as it takes to differ from all names of the expression.
  std::string name_of_step(std::size_t step) const {
    std::vector<std::string> names = e_.arrays;
    names.push_back(e_.output_name);
    for (const Index& index : e_.indices) names.push_back(index.name);
    std::string letters = "t";
    const auto is_alike = [&](const std::string& name) {
      return name.size() > letters.size() && name.starts_with(letters) &&
             name.find_first_not_of("0123456789", letters.size()) == std::string::npos;
    };
    while (std::any_of(names.begin(), names.end(), is_alike)) letters += 't';
    return letters + std::to_string(step);
  }

  const Expression& e_;
  const FormSearch& planner_;
  const LoopsTable& table_;
  const Schedule& plan_;
  std::vector<int> from_;
  double element_bytes_;
  bool finishes_;           // whether one more step applies the finish
  std::vector<int> place_;  // of each part among the steps, and of the last
  Form form_;
};

LoopNest loops_of(const Expression& expression, const std::vector<std::int64_t>& extents) {
  LoopNest loops;
  loops.extents = extents;
  for (const Index& index : expression.indices) loops.names.push_back(index.name);
  loops.free = expression.free;
  loops.reduction = expression.reduction;
  loops.body = {expression.function, expression.accesses};
  if (expression.free == expression.indices.size()) {
    loops.body.function = composed(expression);
  } else {
    loops.body.accesses.resize(static_cast<std::size_t>(expression.function.inputs));
  }
  return loops;
}

// True if sizes are small enough that what is computed from them does not overflow.
bool is_usual(const Expression& expression, const std::vector<std::int64_t>& extents) {
  for (const std::int64_t extent : extents)
    if (extent < 1 || extent > most_elements) return false;
  for (const Access& access : expression.accesses) {
    for (const Affine& dimension : access.dimensions) {
      double reach = static_cast<double>(std::abs(dimension.offset));
      for (std::size_t i = 0; i < extents.size(); ++i)
        reach += static_cast<double>(std::abs(dimension.factors[i])) * static_cast<double>(extents[i]);
      if (reach > static_cast<double>(most_elements)) return false;
    }
  }
  return true;
}

}  // namespace

std::size_t Form::launches() const {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [](const FormStep& step) { return !step.joined; }));
}

std::vector<Form> forms(const Expression& expression, const std::vector<std::int64_t>& extents, May may,
                        std::int64_t element_bytes) {
  FormSearch planner(static_cast<int>(expression.arrays.size()), may, element_bytes);
  const int number = planner.table().number_of(loops_of(expression, extents));
  std::vector<Schedule> schedules;
  if (is_usual(expression, extents)) schedules = planner.schedules(number);
  const auto is_direct = [&](const Schedule& schedule) {
    return schedule.parts.empty() && schedule.last == number;
  };
  schedules.erase(std::remove_if(schedules.begin(), schedules.end(), is_direct), schedules.end());
  if (schedules.size() == most_forms) FormSearch::keep_best(schedules, most_forms - 1);
  schedules.insert(schedules.begin(), Schedule{{}, number});
  std::vector<Form> result;
  result.reserve(schedules.size());
  for (const Schedule& schedule : schedules)
    result.push_back(FormWriter(expression, planner, schedule, static_cast<double>(element_bytes)).form());
  return result;
}

std::size_t cheapest(const std::vector<Form>& forms, double operations_per_byte) {
  constexpr double launch_bytes = 4e6;  // bytes moved while a kernel starts behind another: some microseconds
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < forms.size(); ++n) {
    double cost = static_cast<double>(forms[n].launches()) * launch_bytes, operations = 0, bytes = 0;
    for (const FormStep& step : forms[n].steps) {
      if (!step.joined) {
        cost += std::max(operations / operations_per_byte, bytes);
        operations = bytes = 0;
      }
      operations += step.operations;
      bytes += step.bytes;
    }
    cost += std::max(operations / operations_per_byte, bytes);
    if (cost >= least) continue;
    least = cost;
    best = n;
  }
  return best;
}

std::string loops_text(const Form& form) {
  std::string lines;
  std::size_t depth = 0;  // how many loops are around a line
  std::vector<std::string> around;
  const auto line = [&](const std::string& words) { lines += std::string(2 * depth, ' ') + words + "\n"; };
  // Writes one line for all loops over these indices that are not around it already.
  const auto open = [&](const FormStep& step, std::size_t from, std::size_t to) {
    std::string words;
    for (std::size_t i = from; i < to; ++i) {
      const std::string& name = step.expression.indices[i].name;
      if (std::find(around.begin(), around.end(), name) != around.end()) continue;
      words += (words.empty() ? "for " : ", ") + name + " in 0:" + std::to_string(step.extents[i]);
    }
    if (words.empty()) return;
    line(words + ":");
    ++depth;
  };
  for (std::size_t n = 0; n < form.steps.size(); ++n) {
    const FormStep& step = form.steps[n];
    const Expression& e = step.expression;
    if (!step.joined) {
      depth = 0;
      around.clear();
    }
    open(step, 0, e.free);
    for (std::size_t i = 0; i < e.free; ++i) around.push_back(e.indices[i].name);
    const std::size_t inside = depth;
    open(step, e.free, e.indices.size());
    line(text(e));
    depth = inside;
  }
  return lines;
}

}  // namespace tunesmith::tensor_op
