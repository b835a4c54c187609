// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "choose/nearest.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/nearest_name.h"
#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

// Proposes the base, the promising points, then the guide's choices; without a guide, or if that has no
// choice, the next point of the list.
class GuidedSearch : public Search {
 public:
  using MakeGuide = std::function<std::unique_ptr<Guide>(const Points&)>;
  GuidedSearch(const SearchSpace& space, std::optional<std::uint64_t> seed, Prior prior,
               const MakeGuide& make_guide = nullptr)
      : points_(space, seed, prior), guide_(make_guide ? make_guide(points_) : nullptr) {}

  std::optional<Point> next() override {
    const SearchSpace& space = points_.space();
    if (!std::exchange(started_, true) && space.base) {
      if (const auto id = points_.id(*space.base)) take(*id);
      return space.base;
    }
    while (promised_ < space.promising.size()) {
      const Point& point = space.promising[promised_++];
      const auto id = points_.id(point);
      if (id && points_.mine(*id) && take(*id)) return point;
    }
    if (guide_) {
      const auto id = guide_->choose(history_);
      if (id && take(*id)) return points_.point(*id);
    }
    while (const auto id = points_.next()) {
      if (points_.mine(*id) && take(*id)) return points_.point(*id);
    }
    return std::nullopt;
  }

  void report(const Point& point, Verdict verdict, double median_us) override {
    const auto id = points_.id(point);
    const auto found = id ? history_.where.find(*id) : history_.where.end();
    if (found == history_.where.end()) return;
    History::Trial& trial = history_.trials[found->second];
    if (trial.state != History::State::in_flight) return;
    ++history_.reported;
    const bool ok = verdict == Verdict::ok && median_us > 0;
    trial.state = ok ? History::State::ok : History::State::failed;
    if (!ok) return;
    trial.log_us = std::log(median_us);
    std::vector<std::size_t>& fastest = history_.fastest;
    const auto slower = std::upper_bound(
        fastest.begin(), fastest.end(), trial.log_us,
        [&](double log_us, std::size_t other) { return log_us < history_.trials[other].log_us; });
    fastest.insert(slower, found->second);
  }

  void learn(const Point& point, Verdict verdict, double median_us) override {
    if (const auto id = points_.id(point)) take(*id);
    report(point, verdict, median_us);
  }

  std::optional<double> expected_gain() const override {
    return guide_ ? guide_->expected_gain() : std::nullopt;
  }

  void compiled(const Point& point, double milliseconds) override {
    const auto id = points_.id(point);
    if (guide_ && id && milliseconds > 0)
      history_.compile_ms[id->part].learn(point.config, std::log(milliseconds));
  }

  bool learns() const override { return guide_ && guide_->learns(); }

  std::span<const Drawn> drawn() const override { return points_.drawn(); }

  std::optional<double> predicted_us(const Point& point) const override {
    const auto id = points_.id(point);
    if (!guide_ || !id) return std::nullopt;
    const auto log_us = guide_->predicted(history_, *id);
    return log_us ? std::optional(std::exp(*log_us)) : std::nullopt;
  }

 private:
  bool take(PointId id) {
    const bool is_new = history_.where.try_emplace(id, history_.trials.size()).second;
    if (is_new) history_.trials.push_back({id});
    return is_new;
  }

  Points points_;
  std::unique_ptr<Guide> guide_;
  History history_;
  bool started_ = false;
  std::size_t promised_ = 0;
};

}  // namespace

std::optional<std::size_t> template_index(const Op& op, std::string_view name) {
  const auto found = std::find_if(op.templates.begin(), op.templates.end(),
                                  [&](const Template& each) { return each.name == name; });
  if (found == op.templates.end()) return std::nullopt;
  return static_cast<std::size_t>(found - op.templates.begin());
}

namespace {

// Returns the point of the config that `find` makes of the text in the template's space of the problem.
template <typename Find>
std::optional<Point> point_of(const Op& op, const Problem& problem, const DeviceFacts& device,
                              std::string_view template_name, std::string_view config, const Find& find) {
  const auto index = template_index(op, template_name);
  if (!index || why_not(op.templates[*index], problem, device)) return std::nullopt;
  const Template& tmpl = op.templates[*index];
  auto legal = find(tmpl, tmpl.space(problem, device), Values::parse(config));
  if (!legal) return std::nullopt;
  return Point{*index, std::move(*legal)};
}

}  // namespace

std::optional<Point> legal_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config) {
  return point_of(
      op, problem, device, template_name, config,
      [](const Template&, const Space& space, const Values& values) { return space.find(values); });
}

std::optional<Point> table_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config) {
  return point_of(op, problem, device, template_name, config,
                  [&](const Template& tmpl, const Space& space, const Values& values) {
                    return config_on(op, tmpl, problem, device, space, values);
                  });
}

std::int64_t SearchSpace::count() const {
  ConfigCount total;
  bool base_inside = false;
  for (const TemplateSpace& part : parts) {
    total.configs += part.count.configs;
    base_inside = base_inside || (base && part.template_index == base->template_index);
  }
  if (base && !base_inside) total.configs += 1;
  return total.saturated();
}

SearchSpace search_space(const Op& op, const Problem& problem, const DeviceFacts& device,
                         const std::vector<std::string>& only) {
  SearchSpace space{Point{0, base_config(op, problem, device)}, {}};
  for (const std::string& name : only) find_template(op, name);
  for (std::size_t i = 0; i < op.templates.size(); ++i) {
    const Template& tmpl = op.templates[i];
    bool wanted = only.empty();
    for (const std::string& name : only) wanted = wanted || name == tmpl.name;
    if (!wanted || why_not(tmpl, problem, device)) continue;
    Space configs = tmpl.space(problem, device);
    const ConfigCount count = configs.size();
    space.parts.push_back({i, std::move(configs), count, tmpl.name});
  }
  return space;
}

bool EndOfSearch::reached(std::optional<double> expected_gain) {
  constexpr int enough = 10;  // one draw of candidates may miss the good ones
  if (least_gain <= 0 || !expected_gain) return false;
  in_a_row = *expected_gain < least_gain ? in_a_row + 1 : 0;
  return in_a_row >= enough;
}

Prior prior_of(std::string_view name) {
  if (name == "worth") return Prior::worth;
  if (name == "none") return Prior::none;
  throw UsageError("The prior " + std::string(name) + " does not exist; it is worth or none.");
}

std::span<const Strategy> strategies() {
  static constexpr std::array<Strategy, 7> list = {{
      {"auto", "model, then neighbours and genetic too"},
      {"model", "a Gaussian process predicts times; most expected improvement first"},
      {"neighbours", "neighbours of the fastest, ordered by what the nearest points gave"},
      {"genetic", "crosses and mutates the fastest"},
      {"random", "random order"},
      {"exhaustive", "the templates in their order, each space in the order of its axes"},
      {"ablation", "configs that keep every heuristic or break one alone: what replay --ablate reads"},
  }};
  return list;
}

std::string strategy_names() {
  std::string names;
  for (const Strategy& strategy : strategies())
    names += (names.empty() ? "" : ", ") + std::string(strategy.name);
  return names;
}

std::string asked_words(std::string_view strategy) {
  constexpr std::string_view command = "run:";
  if (strategy.starts_with("unix:")) return std::string(strategy);
  return strategy.starts_with(command) ? std::string(strategy.substr(command.size())) : std::string();
}

void refuse_unknown_strategy(std::string_view name) {
  if (!asked_words(name).empty()) return;
  const auto all = strategies();
  if (std::any_of(all.begin(), all.end(), [&](const Strategy& each) { return each.name == name; })) return;
  std::vector<std::string> names;
  for (const Strategy& each : all) names.emplace_back(each.name);
  throw UsageError("The strategy " + std::string(name) + " does not exist; the strategies are " +
                   listed(names) + ", or run:COMMAND and unix:SOCKET for one of your own." +
                   did_you_mean(name, names));
}

std::unique_ptr<Search> make_search(std::string_view strategy, const SearchSpace& space, std::uint64_t seed,
                                    Prior prior) {
  refuse_unknown_strategy(strategy);
  const auto guided = [&](const GuidedSearch::MakeGuide& make_guide) -> std::unique_ptr<Search> {
    return std::make_unique<GuidedSearch>(space, seed, prior, make_guide);
  };
  if (strategy == "exhaustive") return std::make_unique<GuidedSearch>(space, std::nullopt, prior);
  if (strategy == "random") return guided(nullptr);
  if (strategy == "ablation")
    return guided([&](const Points& points) { return make_ablation(points, seed); });
  if (strategy == "genetic") return guided([&](const Points& points) { return make_genetic(points, seed); });
  if (strategy == "neighbours")
    return guided([&](const Points& points) { return make_neighbours(points, seed); });
  if (strategy == "model")
    return guided([&](const Points& points) { return make_model(points, seed, prior); });
  if (const std::string words = asked_words(strategy); !words.empty())
    return guided([&](const Points& points) { return make_asking(points, seed, words); });
  return guided([&](const Points& points) { return make_auto(points, seed, prior); });
}

}  // namespace tunesmith
