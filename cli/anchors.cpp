#include "cli/anchors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "generator/error.h"
#include "generator/ops.h"
#include "generator/render.h"

namespace tunesmith {
namespace {

constexpr std::size_t digits = 12;  // of a body's hash, as in table.h

std::map<std::string, std::string> bodies_of(const Op& op) {
  std::map<std::string, std::string> bodies;
  for (const Template& tmpl : op.templates) bodies[tmpl.name] = body_hash(op, tmpl, template_files());
  return bodies;
}

// Nothing where the config is not legal any more, or dispatch does not use it.
std::optional<std::int64_t> alignment_of(const Op& op, const DeviceFacts& device, const Problem& problem,
                                         const AnchorTable::Variant& variant) {
  const Template& tmpl = find_template(op, variant.template_name);
  const auto config = tmpl.space(problem, device).find(variant.config);
  if (!config || !reentrant(tmpl.work(problem, *config, device))) return std::nullopt;
  return alignment_bytes(tmpl, problem, *config);
}

}  // namespace

AnchorTable measured_table(const Op& op, const DeviceFacts& device, const Store& store,
                           std::int64_t device_id, const std::vector<Problem>& anchors) {
  AnchorTable table;
  table.op = op.name;
  std::map<std::string, std::size_t> places;
  for (const Problem& problem : anchors) {
    if (!places.emplace(problem.text(), table.anchors.size()).second) continue;
    table.anchors.emplace_back().problem = problem;
  }
  const std::map<std::string, std::string> bodies = bodies_of(op);
  std::map<std::pair<std::string, std::string>, std::size_t> variants;
  for (const Store::Time& time : store.times_of(op.name, device_id, "warm", "apart")) {
    const auto place = places.find(time.problem);
    const auto body = bodies.find(time.template_name);
    if (place == places.end() || body == bodies.end() || body->second != time.body_hash) continue;
    AnchorTable::Anchor& anchor = table.anchors[place->second];
    const AnchorTable::Variant variant = {time.template_name, Values::parse(time.config),
                                          body->second.substr(0, digits)};
    const auto alignment = alignment_of(op, device, anchor.problem, variant);
    if (!alignment) continue;
    const auto [found, is_new] =
        variants.emplace(std::pair(time.template_name, time.config), table.variants.size());
    if (is_new) table.variants.push_back(variant);
    anchor.us.resize(std::max(anchor.us.size(), found->second + 1));
    anchor.us[found->second] = time.median_us;
    const auto take = [&](double& best) {
      if (best <= 0 || time.median_us < best) best = time.median_us;
    };
    take(anchor.best_us);
    if (*alignment <= element_alignment(op, anchor.problem)) take(anchor.best_any_us);
  }
  for (AnchorTable::Anchor& anchor : table.anchors) anchor.us.resize(table.variants.size());
  std::erase_if(table.anchors, [](const AnchorTable::Anchor& anchor) { return anchor.best_us <= 0; });
  return table;
}

std::vector<NamedVariant> named(const AnchorTable& table, const std::vector<std::size_t>& variants) {
  std::vector<NamedVariant> list;
  for (const std::size_t v : variants)
    list.push_back({table.variants[v].template_name, table.variants[v].config.text()});
  return list;
}

std::string quality_text(const AnchorTable& table) {
  std::size_t known = 0;
  double sum = 0;
  double worst = 0;
  for (const AnchorTable::Anchor& anchor : table.anchors) {
    double least = 0;
    for (const double us : anchor.us)
      if (us > 0 && (least <= 0 || us < least)) least = us;
    if (least <= 0) continue;
    ++known;
    const double loss = std::log(least / anchor.best_us);
    sum += loss;
    worst = std::max(worst, loss);
  }
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "%zu variants; on %zu of %zu anchors one is known, within %.1f %% of the best on average "
                "and %.0f %% at worst",
                table.variants.size(), known, table.anchors.size(),
                known == 0 ? 0 : 100 * (std::exp(sum / static_cast<double>(known)) - 1),
                100 * (std::exp(worst) - 1));
  return text.data();
}

}  // namespace tunesmith
