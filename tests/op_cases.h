// SPDX-License-Identifier: Apache-2.0
// Problems and configs for a test of any op: no code here knows an op by name.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "generator/threads.h"
#include "runtime/toolchain.h"

namespace tunesmith {

struct TemplateCase {
  const Op* op;
  const Template* tmpl;
};

// Used by gtest, whose default prints addresses.
inline void PrintTo(const TemplateCase& which, std::ostream* to) {
  *to << which.op->name << "/" << which.tmpl->name;
}

inline std::vector<TemplateCase> template_cases() {
  std::vector<TemplateCase> cases;
  for (const Op& op : ops()) {
    for (const Template& tmpl : op.templates) cases.push_back({&op, &tmpl});
  }
  return cases;
}

/// The op's examples, and problems with each combination of words (if there are more than 64, some that show
/// each word) and odd sizes. The sizes are small if a template compiles them in; a problem has at most
/// `most_flops`.
inline std::vector<Problem> test_problems(const Op& op, std::uint64_t seed, double most_flops) {
  std::size_t combinations = 1, most_categories = 1;
  for (const Parameter& parameter : op.parameters) {
    combinations *= std::max<std::size_t>(1, parameter.categories.size());
    most_categories = std::max(most_categories, parameter.categories.size());
  }
  const bool takes_some = combinations > 64;
  combinations = takes_some ? most_categories : std::max<std::size_t>(combinations, 4);
  Random random(seed);
  std::vector<Problem> problems;
  for (const std::string& example : op.examples) {
    problems.push_back(complete_problem(op, Problem::parse(example)));
  }
  for (std::size_t k = 0; k < combinations; ++k) {
    Problem given;
    std::size_t digits = k;
    for (const Parameter& parameter : op.parameters) {
      if (!parameter.categories.empty()) {
        given.set(parameter.name, parameter.categories[digits % parameter.categories.size()]);
        if (!takes_some) digits /= parameter.categories.size();
        continue;
      }
      if (!parameter.is_integer() || parameter.minimum < 0) {  // an offset needs other sizes
        given.set(parameter.name, parameter.initial.value());
        continue;
      }
      const bool constant = std::any_of(op.templates.begin(), op.templates.end(), [&](const Template& tmpl) {
        return std::find(tmpl.compiled_in.begin(), tmpl.compiled_in.end(), parameter.name) !=
               tmpl.compiled_in.end();
      });
      const auto size = static_cast<std::int64_t>(constant ? 1 + random.below(9) : 33 + random.below(500));
      given.set(parameter.name, std::clamp(size, parameter.minimum, parameter.maximum));
    }
    const auto too_large = [&] {
      return op.flops(given) > most_flops || bytes_moved(op, given) > most_flops;
    };
    while (too_large()) {
      const Parameter* largest = nullptr;
      for (const Parameter& parameter : op.parameters) {
        if (parameter.is_integer() && given.integer(parameter.name) > parameter.minimum &&
            (largest == nullptr || given.integer(parameter.name) > given.integer(largest->name)))
          largest = &parameter;
      }
      if (largest == nullptr) break;
      given.set(largest->name, std::max(largest->minimum, given.integer(largest->name) / 2));
    }
    try {
      problems.push_back(complete_problem(op, given));
    } catch (const UsageError&) {
      // These values do not go together.
    }
  }
  return problems;
}

/// test_problems(op, 1, 1e6), found once for all templates of the op.
inline const std::vector<Problem>& small_problems(const Op& op) {
  static std::map<std::string, std::vector<Problem>> known;
  const auto [its, is_new] = known.try_emplace(op.name);
  if (is_new) its->second = test_problems(op, 1, 1e6);
  return its->second;
}

/// The templates whose kernels may overlap with their predecessors: those with the axis START.
inline std::vector<TemplateCase> overlapping_cases() {
  std::vector<TemplateCase> cases;
  for (const TemplateCase& which : template_cases()) {
    for (const Problem& problem : small_problems(*which.op)) {
      if (which.tmpl->refuses && !which.tmpl->refuses(problem).empty()) continue;
      const std::vector<Axis> axes = which.tmpl->space(problem).axes();
      if (std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.name == "START"; }))
        cases.push_back(which);
      break;
    }
  }
  return cases;
}

/// The config with START=overlapped, if it is legal.
inline std::optional<Config> overlapped(const Template& tmpl, const Problem& problem, const Config& config,
                                        bool triggers) {
  Values values = config.values();
  values.set("START", "overlapped");
  values.set("TRIGGER", triggers ? "early" : "none");
  return tmpl.space(problem).find(values);
}

/// A number of random configs that means: every promising config, and 1000 of all legal ones.
inline constexpr std::size_t all_configs = std::numeric_limits<std::size_t>::max();

/// TUNESMITH_TEST_CONFIGS: the number of random configs of a template in addition to those that cover its
/// axes, or "all" for all_configs.
inline std::size_t random_configs(std::size_t otherwise) {
  const char* given = std::getenv("TUNESMITH_TEST_CONFIGS");
  if (given == nullptr) return otherwise;
  return std::string_view(given) == "all" ? all_configs : std::stoul(given);
}

/// The part of a large sample, such as a template's kernels, whose turn it is: TUNESMITH_TEST_TURN counts up
/// from commit to commit (scripts/test.sh), so that `turns` commits take all, and at most `most` items at a
/// time. A sample is taken as a whole, but for at most 3 * `most` items, if TUNESMITH_TEST_WHOLE names the
/// template ("conv1d/tiled") or its room ("tensor/contract"), and for `most` if it names the op ("conv1d"),
/// which has many templates. Returns all if there is no turn or the run is a long one.
template <typename Item>
std::vector<Item> in_turn(std::vector<Item> items, std::size_t turns, const TemplateCase& which,
                          std::size_t most = all_configs) {
  const char* turn = std::getenv("TUNESMITH_TEST_TURN");
  const char* whole = std::getenv("TUNESMITH_TEST_WHOLE");
  const std::string names = " " + std::string(whole == nullptr ? "" : whole) + " ";
  const auto& [op, tmpl] = which;
  const auto is_named = [&](const std::string& folder, const std::string& file) {
    return names.find(" " + folder + file + " ") != std::string::npos;
  };
  const std::string room = tmpl->room.substr(0, tmpl->room.find('/'));  // "contract/": also of contract_any
  const std::string sibling = tmpl->name.substr(0, tmpl->name.rfind("_any"));
  if (turn == nullptr || *turn == '\0' || random_configs(0) == all_configs) return items;
  const auto parts = [&](std::size_t its_most) {
    return items.size() / its_most + (items.size() % its_most == 0 ? 0U : 1U);
  };
  if (is_named(op->name + "/", sibling) || (!room.empty() && is_named(op->name + "/", room))) {
    turns = parts(most == all_configs ? most : 3 * most);
  } else {
    turns = is_named(op->name, "") ? parts(most) : std::max(turns, parts(most));
  }
  std::size_t at = std::stoul(turn);  // so that one of a few items is left
  std::vector<Item> its;
  for (Item& item : items)
    if (at++ % std::min(turns, items.size()) == 0) its.push_back(std::move(item));
  return its;
}

/// A sample for tests that take a second per item: as few items as show every word that any of them has (of a
/// config, say), but at least `least`. The same in every run; all, if TUNESMITH_TEST_CONFIGS asks for them.
template <typename Item, typename WordsOf>
std::vector<Item> sampled(std::vector<Item> items, std::size_t least, const WordsOf& words_of) {
  if (random_configs(0) == all_configs) return items;
  Random random(5);
  for (std::size_t i = 0; i < items.size(); ++i)
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  std::vector<std::vector<std::string>> words;
  for (const Item& item : items) {
    std::istringstream text(words_of(item));
    words.emplace_back(std::istream_iterator<std::string>(text), std::istream_iterator<std::string>());
  }
  std::unordered_set<std::string> shown;
  const auto news = [&](std::size_t item) {
    return std::count_if(words[item].begin(), words[item].end(),
                         [&](const std::string& word) { return !shown.contains(word); });
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::size_t best = i;
    for (std::size_t k = i; k < items.size(); ++k) best = news(k) > news(best) ? k : best;
    if (i >= least && news(best) == 0) {
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(i), items.end());
      break;
    }
    std::swap(items[i], items[best]);
    std::swap(words[i], words[best]);
    shown.insert(words[i].begin(), words[i].end());
  }
  return items;
}

struct VariantCase {
  Problem problem;
  Config config;
};

/// The words of a variant that the compiler sees.
inline std::string words_of(const TemplateCase& which, const VariantCase& variant) {
  return compiled_in(*which.op, *which.tmpl, variant.problem).text() + " " + variant.config.text();
}

/// Compiles the sources in as many threads as the machine has processors; equal sources are compiled once.
inline std::vector<Compilation> compile_all(const Toolchain& toolchain, const std::vector<Source>& sources) {
  std::vector<Compilation> compiled(sources.size());
  std::vector<std::size_t> distinct;
  std::unordered_map<std::string, std::size_t> first;  // by target and text
  for (std::size_t s = 0; s < sources.size(); ++s) {
    if (first.emplace(sources[s].target + "\n" + sources[s].text, s).second) distinct.push_back(s);
  }
  std::atomic<std::size_t> next = 0;
  run_in_threads(std::max(std::thread::hardware_concurrency(), 1u), [&] {
    for (std::size_t d = next++; d < distinct.size(); d = next++)
      compiled[distinct[d]] = toolchain.compile(sources[distinct[d]]);
  });
  for (std::size_t s = 0; s < sources.size(); ++s)
    compiled[s] = compiled[first.at(sources[s].target + "\n" + sources[s].text)];
  return compiled;
}

/// The problem that a variant was rendered for, and the companions that the same binary serves.
inline std::vector<Problem> served_problems(const TemplateCase& which, const VariantCase& variant,
                                            const DeviceFacts& device) {
  std::vector<Problem> served = {variant.problem};
  const Values constants = compiled_in(*which.op, *which.tmpl, variant.problem);
  for (const Problem& companion : which.op->companions(variant.problem)) {
    Problem problem = complete_problem(*which.op, companion);
    if (why_not(*which.tmpl, problem, device) || which.tmpl->space(problem).why_not(variant.config.values()))
      continue;
    if (compiled_in(*which.op, *which.tmpl, problem) == constants) served.push_back(std::move(problem));
  }
  return served;
}

/// The first config of each problem; then configs that show every value of every axis that is legal on any of
/// the problems, and `more` random ones, dealt out to the problems in turn; the same in every run. Values are
/// dealt out before configs are looked for, because looking takes milliseconds: a value that an earlier
/// config shows is not looked for, the problem whose turn it is comes first, and a neighbour of a config that
/// was dealt out already is taken where it has the value and breaks no more heuristics. A config shows as
/// many new values as its neighbours allow, except values that break heuristics, which would be large and
/// slow.
inline std::vector<VariantCase> dealt_variants(const Template& tmpl, const std::vector<Problem>& problems,
                                               std::size_t more, std::uint64_t seed) {
  std::vector<Space> spaces;
  std::vector<VariantCase> variants;
  std::unordered_set<std::string> shown;  // AXIS=value
  const auto words = [](const Config& config) {
    std::vector<std::string> its;
    const Values values = config.values();
    for (const auto& [name, value] : values.entries()) its.push_back(Values{{name, value}}.text());
    return its;
  };
  const auto news = [&](const Config& config) {
    const std::vector<std::string> its = words(config);
    return std::count_if(its.begin(), its.end(),
                         [&](const std::string& word) { return !shown.contains(word); });
  };
  // By problem and value: a config beside one that was dealt out. To find that a value has no config takes a
  // large space half a second.
  std::vector<std::unordered_map<std::string, Config>> beside(problems.size());
  const auto add = [&](std::size_t p, const Config& config) {
    variants.push_back({problems[p], config});
    for (std::string& word : words(config)) shown.insert(std::move(word));
    for (const Config& next : spaces[p].neighbours(config.values()))
      if (spaces[p].broken_worth(next) <= spaces[p].broken_worth(config))
        for (std::string& word : words(next)) beside[p].emplace(std::move(word), next);
  };
  for (std::size_t p = 0; p < problems.size(); ++p) {
    spaces.push_back(tmpl.space(problems[p]));
    add(p, spaces.back().complete({}));
  }
  std::unordered_set<std::string> asked;
  std::size_t turn = 0;
  const auto show = [&](const Axis& axis, const Value& value) {
    const Values wanted{{axis.name, value}};
    if (shown.contains(wanted.text()) || !asked.insert(wanted.text()).second) return;
    for (std::size_t tried = 0; tried < 2 * spaces.size(); ++tried) {
      const std::size_t p = (turn + tried) % spaces.size();
      const auto there = std::find_if(spaces[p].axes().begin(), spaces[p].axes().end(),
                                      [&](const Axis& its) { return its.name == axis.name; });
      if (there == spaces[p].axes().end() || std::ranges::count(there->values, value) == 0) continue;
      std::optional<Config> config;
      if (tried >= spaces.size()) {
        config = spaces[p].first(wanted);
      } else if (const auto known = beside[p].find(wanted.text()); known != beside[p].end()) {
        config = known->second;
      }
      if (!config) continue;
      for (bool grows = true; grows;) {
        grows = false;
        for (Config& next : spaces[p].neighbours(config->values())) {
          if (news(next) <= news(*config) || spaces[p].broken_worth(next) > spaces[p].broken_worth(*config))
            continue;
          config = std::move(next);
          grows = true;
          break;
        }
      }
      add(p, *config);
      break;
    }
    ++turn;
  };
  for (const Space& space : spaces)
    for (const Axis& axis : space.axes())
      for (const Value& value : axis.values) show(axis, value);
  for (std::size_t p = 0; p < spaces.size(); ++p) {
    const std::size_t its = more / spaces.size() + (p < more % spaces.size() ? 1 : 0);
    if (its == 0) break;
    for (const Config& config : spaces[p].sample(its, seed)) add(p, config);
  }
  return variants;
}

/// The test variants of a template: dealt_variants(), or for all_configs each problem's part of the promising
/// configs and of 1000 random ones.
inline std::vector<VariantCase> test_variants(const Op& op, const Template& tmpl, std::size_t more,
                                              double most_flops) {
  std::vector<Problem> problems = test_problems(op, 1, most_flops);
  if (tmpl.refuses)
    std::erase_if(problems, [&](const Problem& problem) { return !tmpl.refuses(problem).empty(); });
  if (more != all_configs) return dealt_variants(tmpl, problems, more, 2);
  std::vector<VariantCase> variants;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const Space space = tmpl.space(problems[p]);
    std::vector<Config> configs = covering_configs(space, 1000, 2);  // the legal ones are up to 6e7
    std::unordered_set<std::uint64_t> seen;
    for (const Config& config : configs) seen.insert(space.number(config));
    const auto add = [&](const Config& config) {
      if (seen.insert(space.number(config)).second) configs.push_back(config);
      return true;
    };
    space.each(add, Space::Subset::promising);
    for (std::size_t c = 0; c < configs.size(); ++c) {
      if (c == 0 || c % problems.size() == p) variants.push_back({problems[p], configs[c]});
    }
  }
  return variants;
}

}  // namespace tunesmith
