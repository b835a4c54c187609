// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over the logarithm of the times, and a search for the greatest expected improvement
// (Jones, Schonlau, Welch 1998) among candidates that are likely to run.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "tuner/search/experience.h"
#include "tuner/search/gaussian_process.h"
#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

// The points that are drawn before the first model, far from each other; at least `fewest_drawn` even if
// there are guesses, which may all be wrong in the same way.
constexpr std::size_t first_points = 10;
constexpr std::size_t fewest_drawn = 3;
constexpr int draws_per_first_point = 20;

// The scales are chosen again, and the candidates drawn again, when the number of verdicts has grown by this
// factor.
constexpr double refit_factor = 1.15;
constexpr std::size_t most_fitted = 100;

// The time of a proposal is proportional to the product of these.
constexpr std::size_t most_observed = 300;
constexpr std::size_t most_candidates = 4096;

// All neighbours of this many of the fastest are candidates, and for the first of these the neighbours'
// neighbours too.
constexpr std::size_t elite = 8;
constexpr std::size_t inner_elite = 2;

// Differences above the median count half: how slow a slow point is says little about where the fast ones
// are.
constexpr double slow_part = 0.5;

// The process is taken to be surer than it says, so that proposals are nearer to the best.
constexpr double surer = 0.8;

// An improvement is worth the root of the time of its compilation: compilers work beside the device.
constexpr double cost_exponent = 0.5;

// The expectation of this many candidates together decides whether to go on: that of one alone is small long
// before the end.
constexpr std::size_t looked_ahead = 40;

// A failed point counts as slow as the slowest tenth.
constexpr double failed_quantile = 0.9;

double improvement(double expected, double deviation, double best) {
  const double u = (best - expected) / deviation;
  if (u < -6) return deviation * std::exp(-u * u / 2) * 0.4 / (u * u);  // else it would round to 0
  return deviation *
         (u * std::erfc(-u * 0.70710678118654752) / 2 + 0.3989422804014327 * std::exp(-u * u / 2));
}

class ModelGuide : public Guide {
 public:
  ModelGuide(const Points& points, std::uint64_t seed, Prior prior)
      : points_(points),
        random_(seed),
        embedding_(points),
        experience_(points, prior),
        process_(embedding_.groups()) {}

  std::optional<PointId> choose(const History& history) override {
    if (history.trials.size() < first_points || history.reported < first_points / 2 || drawn_ < fewest_drawn)
      return far_point(history);
    if (fitted_ == 0 || observed_.size() > most_observed + most_observed / 2 ||
        static_cast<double>(history.reported) >= refit_factor * static_cast<double>(fitted_))
      refit(history);
    for (std::size_t trial = seen_; trial < history.trials.size(); ++trial) observe(history, trial);
    seen_ = history.trials.size();
    return best_candidate(history);
  }

  std::optional<double> expected_gain() const override { return gain_; }

  std::optional<double> predicted(const History& history, PointId id) const override {
    if (process_.observed() == 0) return std::nullopt;
    const Times values = values_of(history, observed_);
    return values.mean + values.deviation * process_.mean(embedding_(id), values.scaled) +
           experience_.slower(id);
  }

 private:
  // The times of trials as the process sees them.
  struct Times {
    std::vector<double> scaled;
    double mean = 0, deviation = 1;
    double best = 0;  // best logarithm
  };

  double slower(const History& history, std::size_t trial) const {
    while (trial_slower_.size() <= trial)
      trial_slower_.push_back(experience_.slower(history.trials[trial_slower_.size()].id));
    return trial_slower_[trial];
  }

  Times values_of(const History& history, const std::vector<std::size_t>& trials) const {
    std::vector<double> ok;
    Times values;
    values.best = std::numeric_limits<double>::infinity();
    for (const std::size_t at : trials) {
      const History::Trial& trial = history.trials[at];
      if (trial.state != History::State::ok) continue;
      ok.push_back(trial.log_us - slower(history, at));
      values.best = std::min(values.best, trial.log_us);
    }
    values.scaled.assign(trials.size(), 0);
    if (ok.empty()) return values;
    std::sort(ok.begin(), ok.end());
    const double median = ok[ok.size() / 2];
    const double failed = ok[std::min(
        ok.size() - 1, static_cast<std::size_t>(failed_quantile * static_cast<double>(ok.size())))];
    const auto bent = [&](double time) {
      return time > median ? median + (time - median) * slow_part : time;
    };
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const History::Trial& trial = history.trials[trials[i]];
      double& value = values.scaled[i];
      value = std::numeric_limits<double>::quiet_NaN();
      if (trial.state == History::State::in_flight) continue;
      value = bent(trial.state == History::State::ok ? trial.log_us - slower(history, trials[i]) : failed);
      sum += value;
      squares += value * value;
      count += 1;
    }
    values.mean = sum / count;
    values.deviation = std::sqrt(std::max(0.0, squares / count - values.mean * values.mean)) + 1e-6;
    for (double& value : values.scaled) value = (value - values.mean) / values.deviation;
    return values;
  }

  std::optional<PointId> far_point(const History& history) {
    ++drawn_;
    std::optional<PointId> farthest;
    double most = -std::numeric_limits<double>::infinity();
    for (int draw = 0; draw < draws_per_first_point; ++draw) {
      const auto id = points_.any(random_);
      if (!id || history.has(*id) || !points_.mine(*id)) continue;
      const Coordinates at = embedding_(*id);
      double nearest = history.trials.empty() ? 0 : std::numeric_limits<double>::infinity();
      for (const History::Trial& trial : history.trials)
        nearest = std::min(nearest, process_.distance(at, embedding_(trial.id)));
      const double score = std::sqrt(nearest) - experience_.slower(*id);
      if (score <= most) continue;
      most = score;
      farthest = id;
    }
    return farthest;
  }

  // The trials that the process is fitted to, or observes: the fastest half, and a random part of the rest.
  std::vector<std::size_t> chosen(const History& history, std::size_t size, bool in_flight) {
    std::vector<std::size_t> trials = history.fastest;
    for (std::size_t at = 0; at < history.trials.size(); ++at) {
      const History::State state = history.trials[at].state;
      if (state == History::State::failed || (in_flight && state == History::State::in_flight))
        trials.push_back(at);
    }
    if (trials.size() <= size) return trials;
    for (std::size_t i = size / 2; i < size; ++i)
      std::swap(trials[i], trials[i + random_.below(trials.size() - i)]);
    trials.resize(size);
    return trials;
  }

  void refit(const History& history) {
    const std::vector<std::size_t> trials = chosen(history, most_fitted, false);
    std::vector<Coordinates> at;
    at.reserve(trials.size());
    for (const std::size_t trial : trials) at.push_back(embedding_(history.trials[trial].id));
    process_.fit(at, values_of(history, trials).scaled);
    draw_candidates(history);
    observed_.clear();
    for (const std::size_t trial : chosen(history, most_observed, true)) observe(history, trial);
    seen_ = history.trials.size();
    fitted_ = std::max<std::size_t>(history.reported, 1);
  }

  void draw_candidates(const History& history) {
    std::set<PointId> ids;
    const auto add = [&](PointId id) {
      if (ids.size() < most_candidates && !history.has(id) && points_.mine(id)) ids.insert(id);
    };
    const std::vector<std::size_t>& fastest = history.fastest;
    for (std::size_t rank = 0; rank < std::min(elite, fastest.size()); ++rank) {
      points_.each_neighbour(history.trials[fastest[rank]].id, [&](PointId id) {
        add(id);
        if (rank < inner_elite && ids.size() < most_candidates / 2) points_.each_neighbour(id, add);
      });
    }
    for (const PointId id : points_.some(most_candidates * points_.space().shares, random_)) add(id);
    candidates_.assign(ids.begin(), ids.end());
    std::vector<Coordinates> at;
    slower_.clear();
    cost_.clear();
    for (const PointId id : candidates_) {
      at.push_back(embedding_(id));
      slower_.push_back(experience_.slower(id));
      cost_.push_back(cost(history, id));
    }
    process_.begin(at);
    places_ = std::move(at);
    near_.assign(candidates_.size(), 0);
    failed_near_.assign(candidates_.size(), 0);
    weighed_.clear();
  }

  // The cost of a candidate, if compile times are known.
  double cost(const History& history, PointId id) const {
    const auto model = history.compile_ms.find(id.part);
    if (model == history.compile_ms.end()) return 1;
    const auto log_ms = model->second.predict(points_.point(id).config);
    return log_ms ? std::exp(cost_exponent * *log_ms) : 1;
  }

  void observe(const History& history, std::size_t trial) {
    process_.observe(embedding_(history.trials[trial].id));
    observed_.push_back(trial);
    weighed_.push_back(false);
  }

  // Weighs by the share of failed points nearby.
  void weigh_failures(const History& history) {
    for (std::size_t i = 0; i < observed_.size(); ++i) {
      const History::Trial& trial = history.trials[observed_[i]];
      if (weighed_[i] || trial.state == History::State::in_flight) continue;
      weighed_[i] = true;
      const Coordinates at = embedding_(trial.id);
      for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const double z = 1 + 4 * process_.distance(at, places_[c]);
        const auto weight = static_cast<float>(1 / (z * z * z));
        near_[c] += weight;
        if (trial.state == History::State::failed) failed_near_[c] += weight;
      }
    }
  }

  std::optional<PointId> best_candidate(const History& history) {
    const bool fails = std::any_of(history.trials.begin(), history.trials.end(),
                                   [](const auto& trial) { return trial.state == History::State::failed; });
    if (fails) weigh_failures(history);
    const Times values = values_of(history, observed_);
    const GaussianProcess::Prediction prediction = process_.predict(values.scaled);
    std::optional<PointId> best;
    double most = -1;
    std::vector<double> gains;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (history.has(candidates_[c])) continue;
      const double expected = values.mean + values.deviation * prediction.mean[c] + slower_[c];
      double score = improvement(expected, surer * values.deviation * prediction.deviation[c], values.best);
      if (fails) score *= 1 - (failed_near_[c] + 0.02) / (near_[c] + 0.4);
      gains.push_back(score);
      score /= cost_[c];
      if (score <= most) continue;
      most = score;
      best = candidates_[c];
    }
    const auto ahead = static_cast<std::ptrdiff_t>(std::min(looked_ahead, gains.size()));
    std::partial_sort(gains.begin(), gains.begin() + ahead, gains.end(), std::greater<>());
    gain_ = std::accumulate(gains.begin(), gains.begin() + ahead, 0.0);
    return best;
  }

  const Points& points_;
  Random random_;
  Embedding embedding_;
  Experience experience_;
  GaussianProcess process_;
  std::optional<double> gain_;  // gain of the logarithm of the time, expected of the candidates ahead
  std::size_t drawn_ = 0;
  std::size_t fitted_ = 0;  // verdicts at the last refit
  std::size_t seen_ = 0;    // trials that the process observes or has left out
  std::vector<std::size_t> observed_;
  std::vector<bool> weighed_;
  std::vector<PointId> candidates_;
  std::vector<Coordinates> places_;
  std::vector<double> slower_, cost_;
  mutable std::vector<double> trial_slower_;  // by trial; asking the rules takes time
  std::vector<float> near_, failed_near_;
};

}  // namespace

std::unique_ptr<Guide> make_model(const Points& points, std::uint64_t seed, Prior prior) {
  return std::make_unique<ModelGuide>(points, seed, prior);
}

}  // namespace tunesmith
