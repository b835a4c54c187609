// SPDX-License-Identifier: Apache-2.0
#include "choose/launch_shape.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "choose/nearest.h"

namespace tunesmith {
namespace {

std::uint8_t eighths_of_octaves(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::round(8 * std::log2(std::max(1.0, value))), 0.0, 255.0));
}

}  // namespace

bool uses_launch_shapes(const Weights& weights) {
  return std::any_of(launch_weights.begin(), launch_weights.end(), [&](std::string_view name) {
    const auto weight = weights.find(name);
    return weight != weights.end() && weight->second > 0;
  });
}

LaunchShape launch_shape(const Op& op, const Problem& problem, const Work& work) {
  double most = 0, launches = 0, block = 0;
  for (const Step& step : work.steps) {
    const Launch* const launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    ++launches;
    const double its_threads = threads_of(*launch);
    if (its_threads > most) block = volume(launch->block);
    most = std::max(most, its_threads);
  }
  if (launches == 0) return {};
  const double threads = threads_of(work);
  return {{eighths_of_octaves(threads), eighths_of_octaves(op.flops(problem) / std::max(1.0, threads)),
           eighths_of_octaves(launches), eighths_of_octaves(block)}};
}

void find_launch_shapes(const Op& op, const DeviceFacts& device, TimingTable& table) {
  for (TimingTable::Anchor& anchor : table.anchors) {
    const Problem problem = complete_problem(op, anchor.problem);
    std::map<const Template*, Space> spaces;
    anchor.launch.assign(anchor.us.size(), {});
    for (std::size_t v = 0; v < anchor.us.size(); ++v) {
      if (anchor.us[v] <= 0) continue;
      const TimingTable::Variant& variant = table.variants[v];
      const auto tmpl = std::find_if(op.templates.begin(), op.templates.end(),
                                     [&](const Template& one) { return one.name == variant.template_name; });
      if (tmpl == op.templates.end() || why_not(*tmpl, problem, device)) continue;
      auto space = spaces.find(&*tmpl);
      if (space == spaces.end()) space = spaces.emplace(&*tmpl, tmpl->space(problem, device)).first;
      const auto config = config_on(op, *tmpl, problem, device, space->second, variant.config);
      if (config) anchor.launch[v] = launch_shape(op, problem, tmpl->work(problem, *config, device));
    }
  }
}

}  // namespace tunesmith
