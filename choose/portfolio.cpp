// SPDX-License-Identifier: Apache-2.0
#include "choose/portfolio.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "choose/packed_variants.h"
#include "choose/time_model.h"
#include "choose/winners_file.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "generator/render.h"

namespace tunesmith {
namespace {

// The number of known variants that make a problem well known: the guesses of a search and twice as many
// further variants.
constexpr int well_known = 48;

// The fewest times of a problem from which its best variant can be judged.
constexpr std::ptrdiff_t fewest_known = 3;

std::ptrdiff_t fewest_of(std::size_t variants) {
  return std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(variants), 1, fewest_known);
}

constexpr std::size_t digits = 12;  // digits of a body's hash

// The least gain of a challenger over the portfolio: more than noise of the clock.
constexpr double least_gain = 0.02;

using Spaces = std::map<const Template*,
                        Space>;  // the spaces of one problem, each made once, because that takes milliseconds

// Returns the alignment that the variant needs; nothing if its config is no longer legal, or dispatch does
// not use it.
std::optional<std::int64_t> alignment_of(const Op& op, const DeviceFacts& device, const Problem& problem,
                                         const TimingTable::Variant& variant, Spaces& spaces) {
  const Template& tmpl = find_template(op, variant.template_name);
  auto space = spaces.find(&tmpl);
  if (space == spaces.end()) space = spaces.emplace(&tmpl, tmpl.space(problem, device)).first;
  const auto config = space->second.find(variant.config);
  if (!config) return std::nullopt;
  const Work work = tmpl.work(problem, *config, device);
  if (!reentrant(work) || exceeds(work, device)) return std::nullopt;
  return alignment_bytes(tmpl, problem, *config);
}

// Adds an anchor for the problem; returns false if the op no longer has such a problem.
bool add_problem(TimingTable& table, const Op& op, const std::string& text) {
  try {
    Problem problem = complete_problem(op, Problem::parse(text));
    table.anchors.emplace_back().problem = std::move(problem);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

TimingTable measured_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times) {
  TimingTable table;
  table.op = op.name;
  const BodyHashes bodies = bodies_of(op);
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // the index of each variant
  std::string stored_problem;
  bool is_problem = false;
  Spaces spaces;
  for (const TimeRow& time : times) {
    if (time.problem != stored_problem) {
      stored_problem = time.problem;
      spaces.clear();
      is_problem = add_problem(table, op, time.problem);
    }
    if (!is_problem) continue;
    TimingTable::Anchor& anchor = table.anchors.back();
    const TimingTable::Variant variant = {time.template_name, Values::parse(time.config),
                                          bodies.at(time.template_name).substr(0, digits)};
    const auto alignment = alignment_of(op, device, anchor.problem, variant, spaces);
    if (!alignment) continue;
    const auto [found, is_new] =
        places.emplace(std::pair(time.template_name, time.config), table.variants.size());
    if (is_new) table.variants.push_back(variant);
    anchor.us.resize(std::max(anchor.us.size(), found->second + 1));
    anchor.us[found->second] = time.median_us;
    const auto take = [&](double& best) {
      if (best <= 0 || time.median_us < best) best = time.median_us;
    };
    take(anchor.best_us);
    if (*alignment <= element_alignment(op, anchor.problem)) take(anchor.best_any_us);
  }
  for (TimingTable::Anchor& anchor : table.anchors) anchor.us.resize(table.variants.size());
  return table;
}

std::ptrdiff_t times_of(const TimingTable::Anchor& anchor) {
  return std::count_if(anchor.us.begin(), anchor.us.end(), [](double us) { return us > 0; });
}

// Returns the least of the known times; 0 if there is none.
double least_of(const std::vector<double>& times) {
  double least = 0;
  for (const double us : times)
    if (us > 0 && (least <= 0 || us < least)) least = us;
  return least;
}

// Returns the fastest wanted variant; nothing if no wanted variant has a time.
std::optional<std::size_t> fastest_of(const TimingTable::Anchor& anchor,
                                      const std::function<bool(std::size_t variant)>& wanted) {
  std::optional<std::size_t> fastest;
  for (std::size_t v = 0; v < anchor.us.size(); ++v)
    if (anchor.us[v] > 0 && wanted(v) && (!fastest || anchor.us[v] < anchor.us[*fastest])) fastest = v;
  return fastest;
}

bool is_same(const TimingTable::Variant& a, const TimingTable::Variant& b) {
  return a.template_name == b.template_name && a.config == b.config;
}

// Returns the index of the variant, or the number of variants if it is not among them.
std::size_t find_variant(const std::vector<TimingTable::Variant>& variants, const TimingTable::Variant& one) {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const TimingTable::Variant& other) { return is_same(other, one); });
  return static_cast<std::size_t>(found - variants.begin());
}

// Keeps only anchors on which at least `fewest` variants have a time.
TimingTable known_by(TimingTable table, std::ptrdiff_t fewest) {
  std::erase_if(table.anchors, [&](const TimingTable::Anchor& anchor) { return times_of(anchor) < fewest; });
  return table;
}

// Returns a predicate that is true for variants of templates whose binaries can be in the library for any
// problem: no number is compiled in, and constants that follow from the problems have only few combinations.
std::function<bool(const TimingTable::Variant&)> starting_at_once(const Op& op, const TimingTable& table,
                                                                  const DeviceFacts& device) {
  constexpr std::size_t few = 16;
  std::set<std::string> templates;
  for (const Template& tmpl : op.templates) {
    if (compiles_in_numbers(op, tmpl)) continue;
    std::set<std::string> constants;
    for (const TimingTable::Anchor& anchor : table.anchors)
      if (tmpl.constants && !why_not(tmpl, anchor.problem, device))
        constants.insert(tmpl.constants(anchor.problem).text());
    if (constants.size() <= few) templates.insert(tmpl.name);
  }
  return
      [templates](const TimingTable::Variant& variant) { return templates.contains(variant.template_name); };
}

// Selects, of the variants that start at once, those that together lose least against the best of them, on
// the anchors where at least `fewest` of them have a time.
std::vector<std::size_t> portfolio_at_once(const Op& op, const DeviceFacts& device, const TimingTable& table,
                                           std::ptrdiff_t fewest) {
  const auto starts_at_once = starting_at_once(op, table, device);
  std::vector<std::size_t> at_once;
  for (std::size_t v = 0; v < table.variants.size(); ++v)
    if (starts_at_once(table.variants[v])) at_once.push_back(v);
  TimingTable narrow = known_by(with_variants(table, at_once), fewest);
  for (TimingTable::Anchor& anchor : narrow.anchors)
    anchor.best_us = anchor.best_any_us = least_of(anchor.us);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : portfolio(op, device, narrow, most_at_once))
    chosen.push_back(at_once[place]);
  return chosen;
}

// Selects a portfolio that includes the base: dispatch should know where that is the fastest.
std::vector<std::size_t> portfolio_with_base(const Op& op, const DeviceFacts& device,
                                             const TimingTable& table, std::size_t most) {
  std::vector<std::size_t> chosen = portfolio(op, device, known_by(table, fewest_known), most - 1);
  if (!std::all_of(table.variants.begin(), table.variants.end(), starting_at_once(op, table, device))) {
    for (const std::size_t v : portfolio_at_once(op, device, table, 1))
      if (std::find(chosen.begin(), chosen.end(), v) == chosen.end()) chosen.push_back(v);
  }
  const std::string& base = op.templates.front().name;
  const auto is_base = [&](std::size_t v) { return table.variants[v].template_name == base; };
  const auto times = [&](std::size_t v) {
    return std::count_if(table.anchors.begin(), table.anchors.end(),
                         [&](const TimingTable::Anchor& anchor) { return anchor.us[v] > 0; });
  };
  std::optional<std::size_t> most_known;
  for (std::size_t v = 0; v < table.variants.size(); ++v)
    if (is_base(v) && (!most_known || times(v) > times(*most_known))) most_known = v;
  if (most_known && std::find(chosen.begin(), chosen.end(), *most_known) == chosen.end())
    chosen.push_back(*most_known);
  return chosen;
}

}  // namespace

TimingTable completed(TimingTable table, const Op& op) {
  for (TimingTable::Anchor& anchor : table.anchors) anchor.problem = complete_problem(op, anchor.problem);
  const BodyHashes bodies = bodies_of(op);
  for (std::size_t v = 0; v < table.variants.size(); ++v) {
    const auto body = bodies.find(table.variants[v].template_name);
    if (body == bodies.end() || body->second.substr(0, digits) == table.variants[v].body) continue;
    table.variants[v].body = body->second.substr(0, digits);
    for (TimingTable::Anchor& anchor : table.anchors) anchor.us[v] = 0;
  }
  return table;
}

BodyHashes bodies_of(const Op& op) {
  BodyHashes bodies;
  for (const Template& tmpl : op.templates) bodies[tmpl.name] = body_hash(op, tmpl, files_of(op));
  return bodies;
}

TimingTable best_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                       std::size_t most) {
  const TimingTable all = measured_table(op, device, times);
  const std::vector<std::size_t> chosen = portfolio_with_base(op, device, all, most);
  TimingTable table = with_variants(known_by(all, fewest_of(chosen.size())), chosen);
  fit_table(op, table);
  return table;
}

TimingTable challenged(TimingTable table, const Op& op, const DeviceFacts& device,
                       const std::vector<std::vector<TimeRow>>& measured, const std::vector<BuiltIn>& winners,
                       std::size_t most) {
  struct Challenger {
    TimingTable::Variant variant;
    double gain = 0;  // a logarithm, on the problem that it won
  };
  std::vector<Challenger> challengers;
  const auto in_portfolio = [&](const TimingTable::Variant& variant) {
    return find_variant(table.variants, variant) < table.variants.size();
  };
  const auto add = [&](const TimingTable::Variant& variant, double gain) {
    if (gain < least_gain || in_portfolio(variant)) return;
    const auto known = std::find_if(challengers.begin(), challengers.end(),
                                    [&](const Challenger& other) { return is_same(other.variant, variant); });
    if (known == challengers.end()) {
      challengers.push_back({variant, gain});
    } else {
      known->gain = std::max(known->gain, gain);
    }
  };
  const BodyHashes bodies = bodies_of(op);
  std::map<std::string, double> gains;  // by anchor: the gain of the best known variant
  for (const TimingTable::Anchor& anchor : table.anchors)
    gains[anchor.problem.text()] = std::log(least_of(anchor.us) / anchor.best_us);
  for (const BuiltIn& winner : winners) {
    const auto body = bodies.find(winner.template_name);
    if (winner.op != op.name || body == bodies.end()) continue;
    const auto gain = gains.find(complete_problem(op, Problem::parse(winner.problem)).text());
    add({winner.template_name, Values::parse(winner.config), body->second.substr(0, digits)},
        gain == gains.end() ? least_gain : gain->second);
  }
  for (const std::vector<TimeRow>& times : measured) {
    const TimingTable all = measured_table(op, device, times);
    for (const TimingTable::Anchor& anchor : all.anchors) {
      if (times_of(anchor) < well_known) continue;
      const auto best = std::find(anchor.us.begin(), anchor.us.end(), least_of(anchor.us));
      std::vector<double> others;
      for (std::size_t v = 0; v < anchor.us.size(); ++v)
        if (in_portfolio(all.variants[v])) others.push_back(anchor.us[v]);
      const double least = least_of(others);
      add(all.variants[static_cast<std::size_t>(best - anchor.us.begin())],
          least <= 0 ? least_gain : std::log(least / *best));
    }
  }
  std::stable_sort(challengers.begin(), challengers.end(),
                   [](const Challenger& a, const Challenger& b) { return a.gain > b.gain; });
  challengers.resize(std::min(challengers.size(), most));
  for (Challenger& challenger : challengers) table.variants.push_back(std::move(challenger.variant));
  for (TimingTable::Anchor& anchor : table.anchors) anchor.us.resize(table.variants.size());
  return table;
}

TimingTable with_first_launches(TimingTable table, const Op& op, const DeviceFacts& device,
                                const std::vector<std::vector<TimeRow>>& measured) {
  if (std::all_of(table.variants.begin(), table.variants.end(), starting_at_once(op, table, device)))
    return table;
  for (const std::vector<TimeRow>& times : measured) {
    const TimingTable all = measured_table(op, device, times);
    for (const std::size_t v : portfolio_at_once(op, device, all, well_known / 2))
      if (find_variant(table.variants, all.variants[v]) == table.variants.size())
        table.variants.push_back(all.variants[v]);
  }
  for (TimingTable::Anchor& anchor : table.anchors) anchor.us.resize(table.variants.size());
  return table;
}

TimingTable narrowed(const TimingTable& table, const Op& op, const DeviceFacts& device) {
  const std::vector<std::size_t> chosen = portfolio_with_base(op, device, table, most_in_portfolio);
  return known_by(with_variants(table, chosen), fewest_of(chosen.size()));
}

std::vector<TableGap> table_gaps(const TimingTable& table, const Op& op, const DeviceFacts& device,
                                 std::size_t most, const std::vector<std::string>& templates) {
  const auto starts_at_once = starting_at_once(op, table, device);
  std::vector<TableGap> all;
  for (const TimingTable::Anchor& anchor : table.anchors) {
    std::vector<NamedVariant> variants;
    const auto add = [&](std::size_t v) {
      variants.push_back({table.variants[v].template_name, table.variants[v].config.text()});
    };
    const auto known = fastest_of(anchor, [&](std::size_t v) { return starts_at_once(table.variants[v]); });
    const auto fastest = known ? known : fastest_of(anchor, [](std::size_t) { return true; });
    if (!fastest) continue;
    add(*fastest);
    Spaces spaces;
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      const bool is_wanted =
          templates.empty() ||
          std::find(templates.begin(), templates.end(), table.variants[v].template_name) != templates.end();
      if (anchor.us[v] > 0 || !is_wanted) continue;
      const Template& tmpl = find_template(op, table.variants[v].template_name);
      if (!why_not(tmpl, anchor.problem, device) &&
          alignment_of(op, device, anchor.problem, table.variants[v], spaces))
        add(v);
    }
    if (variants.size() > 1) all.push_back({anchor.problem, std::move(variants)});
  }
  std::stable_sort(all.begin(), all.end(), [](const TableGap& a, const TableGap& b) {
    return a.variants.size() > b.variants.size();
  });
  all.resize(std::min(all.size(), most));
  return all;
}

void fill(TimingTable::Anchor& anchor, const std::vector<double>& us, const TimingTable& table, const Op& op,
          const DeviceFacts& device) {
  std::vector<double> ratios;  // from variants that both have measured
  for (std::size_t v = 0; v < anchor.us.size(); ++v)
    if (anchor.us[v] > 0 && us[v] > 0) ratios.push_back(anchor.us[v] / us[v]);
  if (ratios.empty()) return;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  Spaces spaces;
  for (std::size_t v = 0; v < anchor.us.size(); ++v) {
    if (anchor.us[v] > 0 || us[v] <= 0) continue;
    const double time = anchor.us[v] = *middle * us[v];
    anchor.best_us = std::min(anchor.best_us, time);
    const auto alignment = alignment_of(op, device, anchor.problem, table.variants[v], spaces);
    if (alignment && *alignment <= element_alignment(op, anchor.problem) &&
        (anchor.best_any_us <= 0 || time < anchor.best_any_us))
      anchor.best_any_us = time;
  }
}

TimingTable extended(TimingTable table, const Op& op, const DeviceFacts& device,
                     const std::vector<TimeRow>& times) {
  const TimingTable all = measured_table(op, device, times);
  std::vector<std::size_t>
      places;  // the indices of the table's variants in `all`; past the end: not measured
  for (const TimingTable::Variant& variant : table.variants)
    places.push_back(find_variant(all.variants, variant));
  const auto at_once = starting_at_once(op, table, device);
  // If only variants that start at once were measured and others serve the problem too, the best is not
  // known.
  const auto knows_the_best = [&](const TimingTable::Anchor& anchor) {
    bool others_serve = false;
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      if (at_once(table.variants[v])) continue;
      if (anchor.us[v] > 0) return true;
      others_serve |= !why_not(find_template(op, table.variants[v].template_name), anchor.problem, device);
    }
    return !others_serve;
  };
  for (const TimingTable::Anchor& measured : all.anchors) {
    TimingTable::Anchor anchor = measured;
    anchor.us.clear();
    for (const std::size_t place : places)
      anchor.us.push_back(place < measured.us.size() ? measured.us[place] : 0);
    const auto known =
        std::find_if(table.anchors.begin(), table.anchors.end(),
                     [&](const TimingTable::Anchor& other) { return other.problem == anchor.problem; });
    if (known != table.anchors.end()) {
      fill(*known, anchor.us, table, op, device);
    } else if (times_of(anchor) >= fewest_of(table.variants.size()) && knows_the_best(anchor)) {
      table.anchors.push_back(std::move(anchor));
    }
  }
  if (table.variants.size() > most_in_portfolio) table = narrowed(table, op, device);
  fit_table(op, table);
  return table;
}

std::set<std::string> known_well(const std::vector<TimeRow>& times) {
  std::map<std::string, int> known;
  for (const TimeRow& time : times) ++known[time.problem];
  std::set<std::string> problems;
  for (const auto& [problem, count] : known)
    if (count >= well_known) problems.insert(problem);
  return problems;
}

AnchorTableRow row_of(const TimingTable& table) {
  StoredTable stored = stored_table(table);
  return {.op = table.op, .text = std::move(stored.text), .factors = std::move(stored.factors)};
}

std::vector<NamedVariant> variants_of(const TimingTable& table) {
  std::vector<NamedVariant> list;
  for (const TimingTable::Variant& variant : table.variants)
    list.push_back({variant.template_name, variant.config.text()});
  return list;
}

std::vector<BuiltIn> guesses_of(const std::vector<Candidate>& known) {
  std::vector<BuiltIn> guesses;
  const auto add = [&](const Candidate& candidate, const Problem& problem) {
    guesses.push_back({candidate.op, problem.text(), candidate.template_name, candidate.config.text()});
  };
  std::map<std::pair<std::string, std::string>, std::pair<const Candidate*, const Candidate::Time*>> best;
  for (const Candidate& candidate : known) {
    if (!candidate.problem.empty()) add(candidate, candidate.problem);
    for (const Candidate::Time& time : candidate.times) {
      auto& [first, its] = best[{candidate.op, time.problem->text()}];
      if (its != nullptr && its->us <= time.us) continue;
      first = &candidate;
      its = &time;
    }
  }
  for (const auto& [key, fastest] : best) add(*fastest.first, *fastest.second->problem);
  return guesses;
}

std::string quality_text(const TimingTable& table) {
  std::size_t known = 0;
  double sum = 0;
  double worst = 0;
  for (const TimingTable::Anchor& anchor : table.anchors) {
    const double least = least_of(anchor.us);
    if (least <= 0) continue;
    ++known;
    const double loss = std::log(least / anchor.best_us);
    sum += loss;
    worst = std::max(worst, loss);
  }
  return printed(
      "%s; on %zu of %zu anchors one has a time, within %.1f %% of the best on average and %.0f %% at worst",
      counted(table.variants.size(), "variant").c_str(), known, table.anchors.size(),
      known == 0 ? 0 : 100 * (std::exp(sum / static_cast<double>(known)) - 1), 100 * (std::exp(worst) - 1));
}

}  // namespace tunesmith
