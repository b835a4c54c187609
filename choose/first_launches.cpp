// SPDX-License-Identifier: Apache-2.0
#include "choose/first_launches.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "choose/packed_variants.h"
#include "choose/select.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "generator/sample.h"

namespace tunesmith {
namespace {

// The problem with the categories of another; nothing if they do not go with its sizes.
std::optional<Problem> with_categories_of(const Op& op, Problem problem, const Problem& other,
                                          const std::vector<std::string>& names) {
  for (const std::string& name : names) problem.set(name, *other.find(name));
  try {
    return complete_problem(op, problem);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// For an op with few combinations of categories (types, functions): adds for each combination the templates
// whose default configs serve most of the usual problems with one binary.
void add_each_category(std::vector<PackedVariant>& all, const Op& op, const DeviceFacts& device,
                       std::span<const Problem> problems) {
  constexpr std::size_t with_categories = 48;
  const bool has_table = !device.name.empty();
  const std::size_t most_combinations = has_table ? 96 : 24, most_templates = has_table ? 2 : 1;
  std::vector<std::string> names;
  for (const Template& tmpl : op.templates)
    for (const std::string& name : tmpl.compiled_in)
      if (tmpl.untuned && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const std::vector<Problem> combinations = with_each_category(op, names);
  if (combinations.size() > most_combinations) return;
  for (const Problem& its : combinations) {
    std::vector<Problem> with_its;
    for (const Problem& problem : problems.first(std::min(problems.size(), with_categories)))
      if (auto changed = with_categories_of(op, problem, its, names)) with_its.push_back(std::move(*changed));
    std::set<const Template*> templates;
    for (PortfolioVariant& one : untuned_of(op, device, with_its)) {
      if (one.variant.tmpl->constants || !templates.insert(one.variant.tmpl).second) continue;
      all.push_back(std::move(one.variant));
      if (templates.size() == most_templates) break;
    }
  }
}

// True if a template besides the base serves the problem without a text of the user's own.
bool may_be_packed(const Op& op, const Problem& problem, const DeviceFacts& device) {
  return std::any_of(op.templates.begin() + 1, op.templates.end(), [&](const Template& tmpl) {
    return !why_not(tmpl, problem, device) && !compiles_in_own_text(op, compiled_in(op, tmpl, problem));
  });
}

// Draws so many problems for which something can be packed, or fewer if these are rare.
std::vector<Problem> servable_problems(const Op& op, std::size_t count, const DeviceFacts& device) {
  constexpr std::size_t most_draws = 8;  // per problem
  const auto draw = [&](std::size_t all) {
    std::vector<Problem> problems = sample_problems(op, all, 1);
    std::erase_if(problems, [&](const Problem& problem) { return !may_be_packed(op, problem, device); });
    return problems;
  };
  std::vector<Problem> problems = draw(count);
  if (10 * problems.size() < 9 * count) {
    const std::size_t per_draw = std::max<std::size_t>(problems.size(), count / most_draws);
    problems = draw(count * count / per_draw);
    if (problems.size() > count) problems.resize(count);
  }
  return problems;
}

}  // namespace

std::vector<PackedVariant> first_launches_of(const DeviceFacts& device, std::span<const DeviceTable> tables,
                                             const std::function<bool(const Op&)>& names_defaults) {
  constexpr std::size_t drawn = 600;  // problems of an op; a choice for one takes some 0.2 ms
  const bool has_table = !device.name.empty();
  const std::size_t most_measured = has_table ? 602 : 25, most_defaults = has_table ? 60 : 20;
  std::vector<PackedVariant> all;
  std::vector<PortfolioVariant> measured, defaults;
  const auto add_to = [](std::vector<PortfolioVariant>& list, std::vector<PortfolioVariant> its) {
    std::move(its.begin(), its.end(), std::back_inserter(list));
  };
  for (const Op& op : ops()) {
    const std::vector<Problem> problems = servable_problems(op, drawn, device);
    std::vector<Candidate> candidates;
    for (const DeviceTable& read : tables) {
      if (read.table.op != op.name || read.device.kind != device.kind) continue;
      std::vector<Candidate> its = candidates_of(read);
      std::move(its.begin(), its.end(), std::back_inserter(candidates));
    }
    if (!candidates.empty()) {
      const Chooser chooser(op, device, candidates);
      add_to(measured, first_launch_portfolio(op, chooser, device, candidates, problems));
    }
    if (device.kind == DeviceKind::cuda && names_defaults(op)) {
      add_to(defaults, untuned_of(op, device, problems));
      add_each_category(all, op, device, problems);
    }
  }
  const auto add_first = [&](std::vector<PortfolioVariant>& list, std::size_t most) {
    std::stable_sort(list.begin(), list.end(),
                     [](const PortfolioVariant& a, const PortfolioVariant& b) { return a.gain > b.gain; });
    list.resize(std::min(list.size(), most));
    for (PortfolioVariant& its : list) all.push_back(std::move(its.variant));
  };
  add_first(measured, most_measured);
  add_first(defaults, most_defaults);
  return all;
}

}  // namespace tunesmith
