// SPDX-License-Identifier: Apache-2.0
#include "choose/ready_configs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "generator/csv.h"

namespace tunesmith {

std::string ready_configs_file(std::string_view target, std::string_view op) {
  return "ready." + std::string(target) + "." + std::string(op) + ".csv";
}

std::string write_ready_configs(const Op& op, std::span<const PackedVariant> variants) {
  std::set<std::string> lines;
  for (const PackedVariant& one : variants) {
    if (one.op != &op || one.tmpl == &op.templates.front()) continue;
    lines.insert(csv_field(one.tmpl->name) + "," + csv_field(compiled_in(op, *one.tmpl, one.problem).text()) +
                 "," + csv_field(one.config.text()) + "\n");
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

void read_ready_configs(std::string_view text, ReadyConfigs& configs) {
  while (!text.empty()) {
    std::string_view line = take_csv_record(text);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != 3) continue;
    ReadyConfig its{fields[1], Values::parse(fields[2])};
    std::vector<ReadyConfig>& known = configs[fields[0]];
    if (std::find(known.begin(), known.end(), its) == known.end()) known.push_back(std::move(its));
  }
}

double stand_in_loss(const Config& wanted, const Config& config) {
  // On the anchors of the H200's tables a config takes exp(0.04) to exp(0.11) times as long as the best of
  // its template for each octave that its numbers are away from that, as the templates differ; 0.1 is as
  // cautious as estimates are.
  constexpr double by_octave = 0.1, least = 0.5;
  double octaves = 0;
  for (std::size_t axis = 0; axis < wanted.axes().size(); ++axis) {
    const Value &a = wanted.value(axis), &b = config.value(axis);
    if (a == b) continue;
    octaves +=
        std::holds_alternative<std::string>(a) ? 1 : std::max(least, std::abs(log2_of(a) - log2_of(b)));
  }
  return by_octave * octaves;
}

}  // namespace tunesmith
