// SPDX-License-Identifier: Apache-2.0
#include "choose/packed_variants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "choose/launch_set.h"
#include "generator/error.h"

namespace tunesmith {
namespace {

bool replaces_initial_text(const Op& op, const Values& constants) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    const Value* value = constants.find(parameter.name);
    return value != nullptr && parameter.refuses_text && parameter.initial && *value != *parameter.initial;
  });
}

// A variant, and its cost on each problem that it serves.
struct ServingVariant {
  PackedVariant variant;
  std::vector<std::pair<std::size_t, double>> costs = {};  // by problem: the logarithm of a time
};
using ServingVariants = std::map<std::string, ServingVariant>;  // by key

// Chooses variants greedily, the largest saving first. `cost` holds the problems' costs without any of them.
std::vector<PortfolioVariant> what_saves_most(const ServingVariants& all, std::vector<double> cost,
                                              double least_gain) {
  std::vector<PortfolioVariant> portfolio;
  for (;;) {
    const ServingVariant* best = nullptr;
    double best_gain = least_gain;
    for (const auto& [key, serving] : all) {
      double gain = 0;
      for (const auto& [problem, its] : serving.costs) gain += std::max(0.0, cost[problem] - its);
      if (gain <= best_gain) continue;
      best = &serving;
      best_gain = gain;
    }
    if (best == nullptr) return portfolio;
    portfolio.push_back({best->variant, best_gain / static_cast<double>(cost.size())});
    for (const auto& [problem, its] : best->costs) cost[problem] = std::min(cost[problem], its);
  }
}

}  // namespace

bool compiles_in_own_text(const Op& op, const Values& constants) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    const Value* value = constants.find(parameter.name);
    return value != nullptr && !parameter.is_integer() &&
           std::find(parameter.categories.begin(), parameter.categories.end(), to_text(*value)) ==
               parameter.categories.end();
  });
}

bool compiles_in_numbers(const Op& op, const Template& tmpl) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    return parameter.is_integer() && std::find(tmpl.compiled_in.begin(), tmpl.compiled_in.end(),
                                               parameter.name) != tmpl.compiled_in.end();
  });
}

std::vector<Problem> with_each_category(const Op& op, const std::vector<std::string>& names) {
  std::vector<Problem> problems(1);
  for (const Parameter& parameter : op.parameters) {
    std::vector<Value> values = {parameter.initial ? *parameter.initial
                                 : parameter.is_integer()
                                     ? Value(std::max<std::int64_t>(1, parameter.minimum))
                                     : Value(parameter.categories.front())};
    if (!parameter.is_integer() && std::find(names.begin(), names.end(), parameter.name) != names.end())
      values.assign(parameter.categories.begin(), parameter.categories.end());
    std::vector<Problem> longer;
    for (const Problem& problem : problems) {
      for (const Value& value : values) {
        longer.push_back(problem);
        longer.back().set(parameter.name, value);
      }
    }
    problems = std::move(longer);
  }
  std::vector<Problem> allowed;
  for (const Problem& problem : problems) {
    try {
      allowed.push_back(complete_problem(op, problem));
    } catch (const UsageError&) {
      // Some categories do not go together.
    }
  }
  return allowed;
}

std::vector<PackedVariant> bases_of(const Op& op) {
  const Template& base = op.templates.front();
  std::vector<PackedVariant> bases;
  std::set<std::string> constants;
  const auto add = [&](const Problem& problem) {
    if (constants.insert(compiled_in(op, base, problem).text()).second)
      bases.push_back({&op, &base, problem, base_config(op, problem)});
  };
  for (const Problem& problem : with_each_category(op, base.compiled_in)) add(problem);
  // A category that does not go with the other parameters' initial values has an example. An example with its
  // own text instead of an initial one is left out: no other caller has that text.
  for (const std::string& example : op.examples) {
    const Problem problem = complete_problem(op, Problem::parse(example));
    if (!replaces_initial_text(op, compiled_in(op, base, problem))) add(problem);
  }
  return bases;
}

std::vector<PortfolioVariant> portfolio_of(const Op& op, const Chooser& chooser,
                                           std::span<const Candidate> candidates,
                                           std::span<const Problem> problems, bool may_compile,
                                           bool with_numbers) {
  static const double worst = std::log(4.0);  // one problem cannot outvote all others
  constexpr std::size_t most_choices = 48;    // per problem
  std::vector<double> cost;                   // by problem: a logarithm, given the variants chosen so far
  ServingVariants all;
  for (const Problem& problem : problems) {
    const std::size_t at = cost.size();
    cost.push_back(worst);
    Choices choices(chooser, problem, may_compile);
    std::size_t found = 0;
    for (std::size_t i = 0; const Choice* choice = choices.at(i); ++i) {
      const Template& tmpl = find_template(op, candidates[choice->candidate].template_name);
      const Values constants = compiled_in(op, tmpl, problem);
      if (compiles_in_own_text(op, constants) || (!with_numbers && compiles_in_numbers(op, tmpl))) continue;
      if (&tmpl == &op.templates.front()) {  // the base is always there, and later choices gain nothing
        cost.back() = std::min(worst, choice->cautious);
        break;
      }
      PackedVariant one{&op, &tmpl, problem, choice->config};
      auto& serving = all.try_emplace(key_of(one.spec()), ServingVariant{one}).first->second;
      serving.costs.emplace_back(at, choice->cautious);
      if (++found == most_choices) break;
    }
  }
  constexpr double least_gain = 0.01;  // summed over all problems
  return what_saves_most(all, std::move(cost), least_gain);
}

std::vector<PortfolioVariant> untuned_of(const Op& op, const DeviceFacts& device,
                                         std::span<const Problem> problems) {
  // No table has the time that a default saves. The first one is assumed to save half of the base's time,
  // later ones a little less.
  static const double first_saves = std::log(2.0);
  constexpr double less_by_place = 0.9;
  ServingVariants all;
  for (std::size_t at = 0; at < problems.size(); ++at) {
    const Problem& problem = problems[at];
    double saves = first_saves;
    for (const UntunedVariant& guess : untuned(op, problem, device)) {
      const Values constants = compiled_in(op, *guess.tmpl, problem);
      if (compiles_in_numbers(op, *guess.tmpl) || compiles_in_own_text(op, constants)) continue;
      PackedVariant one{&op, guess.tmpl, problem, guess.config};
      all.try_emplace(key_of(one.spec()), ServingVariant{one}).first->second.costs.emplace_back(at, -saves);
      saves *= less_by_place;
      if (!guess.tmpl->constants) break;  // one binary serves all problems of these categories
    }
  }
  return what_saves_most(all, std::vector<double>(problems.size(), 0.0), 0);
}

std::vector<PackedVariant> launched_of(const Op& op, const Chooser& chooser, const DeviceFacts& device,
                                       const Problem& problem) {
  LaunchSet set = launch_set(op, chooser, problem, device);
  std::vector<PackedVariant> launched = {{&op, set.first.tmpl, problem, std::move(set.first.config)}};
  if (set.unaligned)
    launched.push_back({&op, set.unaligned->tmpl, problem, std::move(set.unaligned->config)});
  launched.push_back({&op, &op.templates.front(), problem, base_config(op, problem, device)});
  return launched;
}

}  // namespace tunesmith
