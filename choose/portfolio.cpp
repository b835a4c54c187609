// SPDX-License-Identifier: Apache-2.0
#include "choose/portfolio.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "choose/nearest.h"
#include "choose/packed_variants.h"
#include "choose/time_model.h"
#include "choose/winners_file.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "generator/render.h"
#include "kernel_file/find_op.h"

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

const Space& space_of(const Template& tmpl, const DeviceFacts& device, const Problem& problem,
                      Spaces& spaces) {
  auto space = spaces.find(&tmpl);
  if (space == spaces.end()) space = spaces.emplace(&tmpl, tmpl.space(problem, device)).first;
  return space->second;
}

// Returns the alignment that the config needs; nothing if it is no longer legal, or dispatch does not use it.
std::optional<std::int64_t> alignment_of(const DeviceFacts& device, const Problem& problem,
                                         const Template& tmpl, const std::optional<Config>& config) {
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

bool is_same(const TimingTable::Variant& a, const TimingTable::Variant& b) {
  return a.template_name == b.template_name && a.config == b.config;
}

// Returns the index of the variant, or the number of variants if it is not among them.
std::size_t find_variant(const std::vector<TimingTable::Variant>& variants, const TimingTable::Variant& one) {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const TimingTable::Variant& other) { return is_same(other, one); });
  return static_cast<std::size_t>(found - variants.begin());
}

// For an op with kinds: the configs that its templates name without measurements, as variants of a table.
// With their times a table says where these are good enough.
std::vector<TimingTable::Variant> guess_variants(const Op& op) {
  std::vector<TimingTable::Variant> variants;
  for (const Template& tmpl : op.templates) {
    const std::string body = body_hash(op, tmpl, files_of(op)).substr(0, digits);
    if (is_guess(op, tmpl.name, {})) variants.push_back({tmpl.name, {}, body});
    for (const Values& way : tmpl.ways) variants.push_back({tmpl.name, way, body});
  }
  return variants;
}

bool is_guess_or_way(const Op& op, const TimingTable::Variant& variant) {
  return is_guess_or_way(op, variant.template_name, variant.config);
}

// Returns the table of an op with kinds with each variant's times as those of what it is adapted to on the
// anchors of the kinds in which it is good somewhere. Others are left out, since each costs time on all
// anchors, but the base, the templates' guesses and those of `always`, which get times of all kinds.
TimingTable adapted_table(const TimingTable& measured, const Op& op, const DeviceFacts& device,
                          const std::vector<TimingTable::Variant>& always) {
  constexpr double good = 1.25;
  std::vector<std::size_t> kept;
  std::vector<std::set<std::string>> kinds;  // by kept variant: where it is good
  for (std::size_t v = 0; v < measured.variants.size(); ++v) {
    const bool is_base = measured.variants[v].template_name == op.templates.front().name;
    std::set<std::string> its;
    for (const TimingTable::Anchor& anchor : measured.anchors)
      if (anchor.us[v] > 0 && (is_base || anchor.us[v] <= good * anchor.best_us))
        its.insert(op.kind(anchor.problem));
    if (its.empty()) continue;
    kept.push_back(v);
    kinds.push_back(std::move(its));
  }
  TimingTable table = with_variants(measured, kept);
  std::vector<TimingTable::Variant> also = guess_variants(op);
  also.insert(also.end(), always.begin(), always.end());
  for (const TimingTable::Variant& variant : also)
    if (find_variant(table.variants, variant) == table.variants.size()) table.variants.push_back(variant);
  for (std::size_t a = 0; a < table.anchors.size(); ++a) {
    TimingTable::Anchor& anchor = table.anchors[a];
    std::map<std::pair<std::string, std::string>, double> us;  // by template and config
    for (std::size_t v = 0; v < measured.variants.size(); ++v)
      if (const double its = measured.anchors[a].us[v]; its > 0)
        us.emplace(std::pair(measured.variants[v].template_name, measured.variants[v].config.text()), its);
    anchor.us.assign(table.variants.size(), 0);
    Spaces spaces;
    const std::string kind = op.kind(anchor.problem);
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      if (v < kinds.size() && !kinds[v].contains(kind)) continue;
      const Template& tmpl = find_template(op, table.variants[v].template_name);
      if (why_not(tmpl, anchor.problem, device)) continue;
      const auto config = config_on(op, tmpl, anchor.problem, device,
                                    space_of(tmpl, device, anchor.problem, spaces), table.variants[v].config);
      if (!config) continue;
      const auto its = us.find({tmpl.name, config->text()});
      if (its != us.end()) anchor.us[v] = its->second;
    }
  }
  return table;
}

TimingTable measured_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                           const std::vector<TimingTable::Variant>& always = {}) {
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
    const Template& tmpl = find_template(op, variant.template_name);
    const auto alignment = alignment_of(device, anchor.problem, tmpl,
                                        space_of(tmpl, device, anchor.problem, spaces).find(variant.config));
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
  return op.kind ? adapted_table(table, op, device, always) : table;
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
    bool has_own_text = false;
    for (const TimingTable::Anchor& anchor : table.anchors) {
      if (why_not(tmpl, anchor.problem, device)) continue;
      if (tmpl.constants) constants.insert(tmpl.constants(anchor.problem).text());
      has_own_text |= op.kind && compiles_in_own_text(op, compiled_in(op, tmpl, anchor.problem));
    }
    if (constants.size() <= few && !has_own_text) templates.insert(tmpl.name);
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
  for (const std::size_t place : portfolio(op, device, narrow, op.kind ? most_at_once / 4 : most_at_once))
    chosen.push_back(at_once[place]);
  return chosen;
}

// Selects a portfolio that includes the base and the templates' guesses: dispatch should know where they are
// the fastest.
std::vector<std::size_t> portfolio_with_base(const Op& op, const DeviceFacts& device,
                                             const TimingTable& table, std::size_t most) {
  // A kind has few anchors, so two times on one are enough.
  const std::ptrdiff_t fewest = op.kind ? 2 : fewest_known;
  std::vector<std::size_t> chosen = portfolio(op, device, known_by(table, fewest), most - 1);
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
  const auto add = [&](std::size_t v) {
    if (std::find(chosen.begin(), chosen.end(), v) == chosen.end()) chosen.push_back(v);
  };
  if (most_known) add(*most_known);
  for (std::size_t v = 0; v < table.variants.size(); ++v)
    if (is_guess_or_way(op, table.variants[v]) && times(v) > 0) add(v);
  return chosen;
}

bool has_ways(const Op& op) {
  return std::any_of(op.templates.begin(), op.templates.end(),
                     [](const Template& tmpl) { return !tmpl.ways.empty(); });
}

using VariantsByKind = std::map<std::string, std::set<std::size_t>>;

// Returns, by kind, the variants with a time on one of its anchors.
VariantsByKind variants_by_kind(const TimingTable& table, const Op& op) {
  VariantsByKind known;
  for (const TimingTable::Anchor& anchor : table.anchors) {
    std::set<std::size_t>& its = known[op.kind(anchor.problem)];
    for (std::size_t v = 0; v < anchor.us.size(); ++v)
      if (anchor.us[v] > 0) its.insert(v);
  }
  return known;
}

// Returns the table with the portfolio that is best on its anchors. Of an op with kinds it has the portfolio
// of each kind, and a variant keeps its times on anchors of the kinds that it was chosen for. A kind of which
// only the base is known is left to the templates' guesses.
TimingTable with_portfolio(const TimingTable& table, const Op& op, const DeviceFacts& device,
                           std::size_t most) {
  if (!op.kind) {
    const std::vector<std::size_t> chosen = portfolio_with_base(op, device, table, most);
    return known_by(with_variants(table, chosen), fewest_of(chosen.size()));
  }
  std::map<std::string, TimingTable> parts;
  for (const TimingTable::Anchor& anchor : table.anchors) {
    TimingTable& part = parts[op.kind(anchor.problem)];
    if (part.anchors.empty()) part.variants = table.variants;
    part.anchors.push_back(anchor);
  }
  const auto is_base = [&](std::size_t v) {
    return table.variants[v].template_name == op.templates.front().name;
  };
  VariantsByKind chosen;
  std::vector<std::size_t> all;
  for (const auto& [kind, part] : parts) {
    const std::vector<std::size_t> its =
        portfolio_with_base(op, device, part, std::min(most, has_ways(op) ? most_beside_ways : most_of_kind));
    if (std::all_of(its.begin(), its.end(), is_base)) continue;
    chosen[kind].insert(its.begin(), its.end());
    for (const std::size_t v : its)
      if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  }
  TimingTable narrow = with_variants(table, all);
  for (TimingTable::Anchor& anchor : narrow.anchors) {
    const std::set<std::size_t>& its = chosen[op.kind(anchor.problem)];
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!its.contains(all[i])) anchor.us[i] = 0;
  }
  std::erase_if(narrow.anchors, [&](const TimingTable::Anchor& anchor) { return times_of(anchor) < 2; });
  return narrow;
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

TimingTable with_guesses(TimingTable table, const Op& op) {
  if (!op.kind) return table;
  for (TimingTable::Variant& guess : guess_variants(op))
    if (find_variant(table.variants, guess) == table.variants.size())
      table.variants.push_back(std::move(guess));
  for (TimingTable::Anchor& anchor : table.anchors) anchor.us.resize(table.variants.size());
  return table;
}

BodyHashes bodies_of(const Op& op) {
  BodyHashes bodies;
  for (const Template& tmpl : op.templates) bodies[tmpl.name] = body_hash(op, tmpl, files_of(op));
  return bodies;
}

TimingTable portfolio_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                            std::size_t most) {
  const TimingTable all = measured_table(op, device, times);
  if (op.kind) return with_portfolio(all, op, device, most);
  const std::vector<std::size_t> chosen = portfolio_with_base(op, device, all, most);
  return with_variants(known_by(all, fewest_of(chosen.size())), chosen);
}

TimingTable best_table(const Op& op, const DeviceFacts& device, const std::vector<TimeRow>& times,
                       std::size_t most) {
  TimingTable table = portfolio_table(op, device, times, most);
  fit_table(op, device, table);
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
  return with_portfolio(table, op, device, most_in_portfolio);
}

std::vector<TableGap> table_gaps(const TimingTable& table, const Op& op, const DeviceFacts& device,
                                 std::size_t most, const std::vector<std::string>& templates) {
  const auto starts_at_once = starting_at_once(op, table, device);
  const auto known_kinds = op.kind ? variants_by_kind(table, op) : VariantsByKind();
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
      if (op.kind && !known_kinds.at(op.kind(anchor.problem)).contains(v) &&
          !is_guess_or_way(op, table.variants[v]))
        continue;
      const Template& tmpl = find_template(op, table.variants[v].template_name);
      if (!why_not(tmpl, anchor.problem, device) &&
          alignment_of(device, anchor.problem, tmpl,
                       config_on(op, tmpl, anchor.problem, device,
                                 space_of(tmpl, device, anchor.problem, spaces), table.variants[v].config)))
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
    const Template& tmpl = find_template(op, table.variants[v].template_name);
    const auto alignment =
        alignment_of(device, anchor.problem, tmpl,
                     config_on(op, tmpl, anchor.problem, device,
                               space_of(tmpl, device, anchor.problem, spaces), table.variants[v].config));
    if (alignment && *alignment <= element_alignment(op, anchor.problem) &&
        (anchor.best_any_us <= 0 || time < anchor.best_any_us))
      anchor.best_any_us = time;
  }
}

TimingTable extended(TimingTable table, const Op& op, const DeviceFacts& device,
                     const std::vector<TimeRow>& times) {
  table = with_guesses(std::move(table), op);
  const TimingTable all = measured_table(op, device, times, table.variants);
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
  if (op.kind || table.variants.size() > most_in_portfolio) table = narrowed(table, op, device);
  fit_table(op, device, table);
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

AnchorTableRow row_of(const DeviceFacts& device, const TimingTable& table) {
  StoredTable stored = stored_table(device, table);
  return {.op = table.op, .text = std::move(stored.text), .factors = std::move(stored.factors)};
}

std::vector<NamedVariant> variants_of(const TimingTable& table) {
  std::vector<NamedVariant> list;
  for (const TimingTable::Variant& variant : table.variants)
    list.push_back({variant.template_name, variant.config.text()});
  return list;
}

std::vector<NamedVariant> named_guesses(const Op& op) {
  std::vector<NamedVariant> guesses;
  if (op.kind)
    for (const TimingTable::Variant& guess : guess_variants(op))
      guesses.push_back({guess.template_name, guess.config.text()});
  return guesses;
}

VariantLists lists_by_kind(const TimingTable& table, const Op& op, const DeviceFacts& device,
                           const std::vector<Problem>& problems) {
  VariantsByKind known = variants_by_kind(table, op);
  std::set<std::size_t> everywhere;  // challengers, which have no time yet
  const std::vector<NamedVariant> guesses = named_guesses(op);
  for (std::size_t v = 0; v < table.variants.size(); ++v)
    if (std::none_of(known.begin(), known.end(), [&](const auto& its) { return its.second.contains(v); }))
      everywhere.insert(v);
  constexpr std::size_t for_unknown = 12;
  const std::vector<std::size_t> of_all = portfolio(op, device, table, for_unknown);
  VariantLists lists;
  for (const Problem& problem : problems) {
    const auto of_kind = known.find(op.kind(problem));
    std::set<std::size_t> its = everywhere;
    if (of_kind != known.end()) {
      its.insert(of_kind->second.begin(), of_kind->second.end());
    } else {
      its.insert(of_all.begin(), of_all.end());
    }
    std::vector<NamedVariant>& list = lists[problem.text()] = guesses;
    for (const std::size_t v : its)
      if (!is_guess_or_way(op, table.variants[v]))
        list.push_back({table.variants[v].template_name, table.variants[v].config.text()});
  }
  return lists;
}

std::vector<BuiltIn> guesses_of(const std::vector<Candidate>& known) {
  std::vector<BuiltIn> guesses;
  const auto add = [&](const Candidate& candidate, const Problem& problem) {
    guesses.push_back({candidate.op, problem.text(), candidate.template_name, candidate.config.text()});
  };
  std::map<std::pair<std::string, std::string>, std::pair<const Candidate*, const Candidate::Time*>> best;
  for (const Candidate& candidate : known) {
    if (!candidate.problem.empty()) add(candidate, candidate.problem);
    const Op* const op = op_or_null(candidate.op);  // a search makes the templates' guesses itself
    if (op != nullptr && is_guess_or_way(*op, candidate.template_name, candidate.config)) continue;
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
