// SPDX-License-Identifier: Apache-2.0
#include "choose/timing_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "choose/launch_shape.h"
#include "choose/nearest.h"
#include "generator/csv.h"
#include "generator/error.h"
#include "generator/number_text.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

std::string digits_text(int digits, double value) { return printed("%.*g", digits, value); }
std::string number_text(double value) { return digits_text(5, value); }

std::string line(std::initializer_list<std::string> fields) {
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : ",") + csv_field(field);
  return text;
}

double number(const std::string& field, const std::string& where) {
  const auto value = parsed_number<double>(field);
  if (!value || !std::isfinite(*value)) throw Error(where + " has \"" + field + "\" where a number belongs.");
  if (*value < 0) throw Error(where + " has \"" + field + "\" where a number that is not negative belongs.");
  return *value;
}

// True if a variant with a time on the anchor accepts pointers of any alignment there. `spaces` are those of
// the anchor, each made once.
bool takes_any(const Op& op, const DeviceFacts& device, const TimingTable::Variant& variant,
               const Problem& problem, std::map<const Template*, Space>& spaces) {
  const Template& tmpl = find_template(op, variant.template_name);
  auto space = spaces.find(&tmpl);
  if (space == spaces.end()) space = spaces.emplace(&tmpl, tmpl.space(problem, device)).first;
  const auto config = config_on(op, tmpl, problem, device, space->second, variant.config);
  return config && alignment_bytes(tmpl, problem, *config) <= element_alignment(op, problem);
}

// Returns the op if it is built in, else null. A user's kernel has its defaults in its file, so tables hold
// all its values.
const Op* built_in_op(const std::string& name) {
  const Op* op = op_or_null(name);
  return op == nullptr || op->user_kernel != nullptr ? nullptr : op;
}

// Adds the op's defaults. Returns the problem unchanged if this version has no such problem; its user reports
// that.
Problem with_defaults(const Op& op, Problem problem) {
  try {
    return complete_problem(op, problem);
  } catch (const UsageError&) {
    return problem;
  }
}

}  // namespace

std::string write_timing_table(const TimingTable& table) {
  const Op* op = built_in_op(table.op);
  const auto text_of = [&](const Problem& problem) {
    return (op == nullptr ? problem : without_defaults(*op, problem)).text();
  };
  std::string text = line({"op", table.op}) + "\n";
  for (const auto& [feature, weight] : table.weights)
    text += line({"weight", feature, digits_text(9, weight)}) + "\n";
  for (const TimingTable::Variant& variant : table.variants)
    text += line({"variant", variant.template_name, variant.config.text(), variant.body}) + "\n";
  for (const TimingTable::Anchor& anchor : table.anchors) {
    text += line(
        {"anchor", text_of(anchor.problem), number_text(anchor.best_us), number_text(anchor.best_any_us)});
    for (const double us : anchor.us) text += us > 0 ? "," + number_text(us) : ",";
    text += "\n";
  }
  return text;
}

TimingTable read_timing_table(std::string_view text, std::string_view where) {
  TimingTable table;
  for (int at = 1; !text.empty(); ++at) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view record = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string here = "Line " + std::to_string(at) + " of " + std::string(where);
    const std::vector<std::string> fields = csv_fields(record);
    const std::string kind = fields.empty() ? "" : fields.front();
    if (kind == "op" && fields.size() == 2) {
      table.op = fields[1];
    } else if (kind == "weight" && fields.size() == 3) {
      table.weights[fields[1]] = number(fields[2], here);
    } else if (kind == "variant" && fields.size() == 4 && table.anchors.empty()) {
      table.variants.push_back({fields[1], Values::parse(fields[2]), fields[3]});
    } else if (kind == "anchor" && fields.size() == 4 + table.variants.size()) {
      TimingTable::Anchor& anchor = table.anchors.emplace_back();
      anchor.problem = Problem::parse(fields[1]);
      anchor.best_us = number(fields[2], here);
      anchor.best_any_us = number(fields[3], here);
      for (std::size_t i = 4; i < fields.size(); ++i)
        anchor.us.push_back(fields[i].empty() ? 0 : number(fields[i], here));
    } else {
      throw Error(here +
                  " is none of the lines op,NAME; weight,FEATURE,NUMBER; "
                  "variant,TEMPLATE,CONFIG,BODY; anchor,PROBLEM,BEST,BEST_ANY and a time or nothing for "
                  "each of the " +
                  std::to_string(table.variants.size()) + " variants above it.");
    }
  }
  if (table.op.empty()) throw Error(std::string(where) + " names no op.");
  if (const Op* op = built_in_op(table.op); op != nullptr)
    for (TimingTable::Anchor& anchor : table.anchors)
      anchor.problem = with_defaults(*op, std::move(anchor.problem));
  return table;
}

// The bytes are the key, and for each anchor a number for the best time and one for each time, behind which
// its launch shape stands if the table's times have one.
std::string write_factors(const TimingTable& table) {
  std::string bytes;
  const auto add = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  if (table.solved_from == 0) return bytes;
  const bool has_shapes = uses_launch_shapes(table.weights);
  add(table.solved_from);
  for (const TimingTable::Anchor& anchor : table.anchors) {
    add(anchor.best_factor);
    for (std::size_t v = 0; v < anchor.us.size(); ++v)
      if (anchor.us[v] > 0) {
        add(anchor.factor[v]);
        if (has_shapes) add(anchor.launch[v]);
      }
  }
  return bytes;
}

void read_factors(std::string_view bytes, TimingTable& table) {
  forget_factors(table);
  const bool has_shapes = uses_launch_shapes(table.weights);
  std::size_t times = 0;
  for (const TimingTable::Anchor& anchor : table.anchors)
    times += static_cast<std::size_t>(
        std::count_if(anchor.us.begin(), anchor.us.end(), [](double us) { return us > 0; }));
  if (bytes.size() != sizeof table.solved_from + (times + table.anchors.size()) * sizeof(float) +
                          (has_shapes ? times * sizeof(LaunchShape) : 0))
    return;
  const auto take = [&](auto& value) {
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
  };
  take(table.solved_from);
  for (TimingTable::Anchor& anchor : table.anchors) {
    take(anchor.best_factor);
    anchor.factor.resize(anchor.us.size());
    if (has_shapes) anchor.launch.resize(anchor.us.size());
    for (std::size_t v = 0; v < anchor.us.size(); ++v)
      if (anchor.us[v] > 0) {
        take(anchor.factor[v]);
        if (has_shapes) take(anchor.launch[v]);
      }
  }
}

void forget_factors(TimingTable& table) {
  table.solved_from = 0;
  for (TimingTable::Anchor& anchor : table.anchors) {
    anchor.factor.clear();
    anchor.launch.clear();
    anchor.best_factor = 0;
  }
}

std::vector<std::size_t> portfolio(const Op& op, const DeviceFacts& device, const TimingTable& table,
                                   std::size_t most) {
  // A goal is an anchor with a kind of pointer; loss[goal][variant] is a logarithm. Pointers are mostly
  // aligned, and variants that need no alignment serve both kinds: with equal worth of both goals, hardly any
  // others would be chosen.
  static const double worst = std::log(4.0);
  constexpr double worth_of_any = 0.2;
  std::vector<std::vector<double>> loss;
  std::vector<double> worth;
  for (const TimingTable::Anchor& anchor : table.anchors) {
    std::map<const Template*, Space> spaces;
    for (const bool any : {false, true}) {
      const double best = any ? anchor.best_any_us : anchor.best_us;
      if (best <= 0) continue;
      worth.push_back(any ? worth_of_any : 1);
      std::vector<double>& row = loss.emplace_back(table.variants.size(), worst);
      for (std::size_t v = 0; v < row.size(); ++v) {
        if (anchor.us[v] <= 0 || (any && !takes_any(op, device, table.variants[v], anchor.problem, spaces)))
          continue;
        row[v] = std::clamp(std::log(anchor.us[v] / best), 0.0, worst);
      }
    }
  }
  std::vector<std::size_t> chosen;
  std::vector<double> least(loss.size(), worst);
  while (chosen.size() < std::min(most, table.variants.size())) {
    std::size_t best = 0;
    double best_gain = 0;
    for (std::size_t v = 0; v < table.variants.size(); ++v) {
      double gain = 0;
      for (std::size_t g = 0; g < loss.size(); ++g) gain += worth[g] * std::max(0.0, least[g] - loss[g][v]);
      if (gain > best_gain) {
        best = v;
        best_gain = gain;
      }
    }
    if (best_gain <= 1e-9) break;
    chosen.push_back(best);
    for (std::size_t g = 0; g < loss.size(); ++g) least[g] = std::min(least[g], loss[g][best]);
  }
  return chosen;
}

std::string fault_of(const Op& op, const TimingTable::Variant& variant) {
  const auto tmpl = std::find_if(op.templates.begin(), op.templates.end(),
                                 [&](const Template& one) { return one.name == variant.template_name; });
  return tmpl == op.templates.end() || is_current(op, *tmpl, variant.body)
             ? ""
             : "It is stale: its template has changed since it was measured.";
}

TimingTable with_variants(const TimingTable& table, const std::vector<std::size_t>& variants) {
  TimingTable narrow = table;
  narrow.variants.clear();
  forget_factors(narrow);
  for (TimingTable::Anchor& anchor : narrow.anchors) anchor.us.clear();
  for (const std::size_t v : variants) {
    narrow.variants.push_back(table.variants[v]);
    for (std::size_t a = 0; a < table.anchors.size(); ++a)
      narrow.anchors[a].us.push_back(table.anchors[a].us[v]);
  }
  return narrow;
}

}  // namespace tunesmith
