// SPDX-License-Identifier: Apache-2.0
#include "choose/ready_configs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "generator/csv.h"
#include "generator/rates.h"

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

double octaves_apart(const Config& a, const Config& b) {
  constexpr double least = 0.5;  // of an axis on which they differ
  double octaves = 0;
  for (std::size_t axis = 0; axis < a.axes().size(); ++axis) {
    const Value &left = a.value(axis), &right = b.value(axis);
    if (left == right) continue;
    octaves += std::holds_alternative<std::string>(left)
                   ? 1
                   : std::max(least, std::abs(log2_of(left) - log2_of(right)));
  }
  return octaves;
}

double loss_by_octave(const DeviceFacts& device) {
  return rates_of("any", device).value("any", "octave_away");
}

}  // namespace tunesmith
