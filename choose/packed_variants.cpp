// SPDX-License-Identifier: Apache-2.0
#include "choose/packed_variants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "choose/launch_set.h"
#include "choose/ready_configs.h"
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

// Adds what a choice costs on a problem. Of two choices that are one variant there the better comes first.
ServingVariant& add(ServingVariants& all, PackedVariant variant, std::size_t problem, double cost) {
  const std::string key = key_of(variant.spec());
  ServingVariant& serving = all.try_emplace(key, ServingVariant{std::move(variant)}).first->second;
  if (serving.costs.empty() || serving.costs.back().first != problem)
    serving.costs.emplace_back(problem, cost);
  return serving;
}

// Chooses variants greedily, the largest saving first. `cost` holds the problems' costs without any of them.
// `judged_by_others`: a variant's largest saving does not count.
std::vector<PortfolioVariant> what_saves_most(const ServingVariants& all, std::vector<double> cost,
                                              double least_gain, bool judged_by_others = false) {
  std::vector<PortfolioVariant> portfolio;
  // A gain only falls as variants are chosen, so one that was computed before is an upper bound.
  struct Bound {
    double gain;
    const ServingVariant* serving;
    bool operator<(const Bound& other) const { return gain < other.gain; }
  };
  const auto gain_of = [&](const ServingVariant& serving) {
    double gain = 0, largest = 0;
    for (const auto& [problem, its] : serving.costs) {
      const double saved = std::max(0.0, cost[problem] - its);
      gain += saved;
      largest = std::max(largest, saved);
    }
    return judged_by_others ? gain - largest : gain;
  };
  std::vector<Bound> bounds;
  for (const auto& [key, serving] : all)
    if (const double gain = gain_of(serving); gain > least_gain) bounds.push_back({gain, &serving});
  std::make_heap(bounds.begin(), bounds.end());
  while (!bounds.empty()) {
    std::pop_heap(bounds.begin(), bounds.end());
    Bound best = bounds.back();
    bounds.pop_back();
    best.gain = gain_of(*best.serving);
    if (best.gain <= least_gain) continue;
    if (!bounds.empty() && best.gain < bounds.front().gain) {
      bounds.push_back(best);
      std::push_heap(bounds.begin(), bounds.end());
      continue;
    }
    portfolio.push_back({best.serving->variant, best.gain / static_cast<double>(cost.size())});
    for (const auto& [problem, its] : best.serving->costs) cost[problem] = std::min(cost[problem], its);
  }
  return portfolio;
}

}  // namespace

bool compiles_in_own_text(const Op& op, const Values& constants) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    const Value* value = constants.find(parameter.name);
    const auto* const word = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return word != nullptr && std::find(parameter.categories.begin(), parameter.categories.end(), *word) ==
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

bool has_own_text(const Op& op, const Problem& problem) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& parameter) {
    return parameter.is_computation &&
           std::find(parameter.categories.begin(), parameter.categories.end(),
                     problem.string(parameter.name)) == parameter.categories.end();
  });
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
                                           std::span<const Problem> problems, bool may_compile) {
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
      if (compiles_in_own_text(op, constants) || compiles_in_numbers(op, tmpl)) continue;
      if (&tmpl == &op.templates.front()) {  // the base is always there, and later choices gain nothing
        cost.back() = std::min(worst, choice->cautious);
        break;
      }
      add(all, {&op, &tmpl, problem, choice->config}, at, choice->cautious);
      if (++found == most_choices) break;
    }
  }
  constexpr double least_gain = 0.01;  // summed over all problems
  return what_saves_most(all, std::move(cost), least_gain);
}

std::vector<PortfolioVariant> first_launch_portfolio(const Op& op, const Chooser& chooser,
                                                     const DeviceFacts& device,
                                                     std::span<const Candidate> candidates,
                                                     std::span<const Problem> problems) {
  static const double worst = std::log(8.0);  // one problem cannot outvote all others
  constexpr std::size_t most_choices = 24;    // per problem
  const double by_octave = loss_by_octave(device);
  struct Served {
    const Template* tmpl;
    std::string group;  // template and constants
    Config config;
    double loss;
  };
  std::vector<std::vector<Served>> served;  // by problem, as the next two
  std::vector<const Problem*> of;
  std::vector<double> cost;
  ServingVariants all;
  std::map<std::string, std::map<std::string, ServingVariant*>> groups;  // by config
  for (const Problem& problem : problems) {
    std::vector<Served> its;
    std::optional<double> base;
    Choices choices(chooser, problem, false);
    double best = 0;
    for (std::size_t i = 0; const Choice* choice = choices.at(i); ++i) {
      if (i == 0) best = choice->cautious;
      const double loss = choice->cautious - best;
      const Template& tmpl = find_template(op, candidates[choice->candidate].template_name);
      const Values constants = compiled_in(op, tmpl, problem);
      if (compiles_in_own_text(op, constants)) continue;
      if (&tmpl == &op.templates.front()) {  // the base is always there, and later choices gain nothing
        base = loss;
        break;
      }
      its.push_back({&tmpl, tmpl.name + " " + constants.text(), choice->config, loss});
      if (its.size() == most_choices) break;
    }
    if (its.empty() && !base) continue;
    const std::size_t at = cost.size();
    cost.push_back(std::min(worst, base.value_or(worst)));
    for (const Served& one : its)
      groups[one.group][one.config.text()] = &add(all, {&op, one.tmpl, problem, one.config}, at, one.loss);
    of.push_back(&problem);
    served.push_back(std::move(its));
  }
  for (std::size_t at = 0; at < served.size(); ++at) {
    std::map<std::string, std::vector<const Served*>> wanted_by_group;
    for (const Served& one : served[at]) wanted_by_group[one.group].push_back(&one);
    for (const auto& [group, wanted] : wanted_by_group) {
      const Space space = wanted.front()->tmpl->space(*of[at], device);
      for (const auto& [text, serving] : groups[group]) {
        const auto config = space.find(serving->variant.config.values());
        if (!config) continue;
        bool is_choice = false;
        double least = cost[at];
        for (const Served* one : wanted) {
          is_choice |= one->config == *config;
          least = std::min(least, one->loss + by_octave * octaves_apart(one->config, *config));
        }
        if (!is_choice && least < cost[at]) serving->costs.emplace_back(at, least);
      }
    }
  }
  constexpr double least_gain = 0.01;  // summed over all problems
  return what_saves_most(all, std::move(cost), least_gain, true);
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
