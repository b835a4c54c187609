// SPDX-License-Identifier: Apache-2.0
#include "choose/time_model.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "choose/descend.h"
#include "choose/nearest.h"
#include "generator/error.h"
#include "generator/threads.h"

namespace tunesmith {
namespace {

// Incremented with each change of the model that changes factors. In tables it is the weight "model". A table
// to which launches do not matter has the model from before they could.
constexpr double version_without_launches = 3, version_with_launches = 4;
double model_version(const Weights& weights) {
  return uses_launch_shapes(weights) ? version_with_launches : version_without_launches;
}

// The weight of the kind, with which rows of different kinds have a covariance of 0. It is not fitted.
constexpr float apart = 1e4f;

constexpr float initial_weight = 1.0f / 16;
constexpr float initial_word_weight = 0.5f;
constexpr float initial_launch_weight = 0.1f;
constexpr double most_slowdown = 2.1;  // larger slowdowns are cut: beyond this the amount does not matter

// The slowdown of a variant that was tuned for another problem, and how many measurements it counts as. An op
// with kinds has problems of more sorts, and a guess for each: what was good on a few problems is seldom
// better than that elsewhere.
struct Usual {
  double slowdown, count;
};
constexpr Usual usual = {0.4, 2}, usual_among_kinds = {1, 8}, usual_of_a_guess = {0.1, 8};

// The covariance of two points: half of it is smooth, half has kinks, such as times have where a kernel's
// tiles begin to fill the device. Far points count as 0. A choice needs thousands of covariances, so they
// come from a table over the distance, by lines between its points: the error is below 1e-6.
class Covariance {
 public:
  Covariance() {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const double distance = static_cast<double>(i) / static_cast<double>(per_unit);
      at_[i] = static_cast<float>((std::exp(-distance * distance / 2) + std::exp(-distance)) / 2);
    }
  }
  float operator()(float squared_distance) const {
    if (!(squared_distance < far)) return 0;
    const float place = std::sqrt(squared_distance) * per_unit;
    const auto i = static_cast<std::size_t>(static_cast<int>(place));
    return at_[i] + (place - static_cast<float>(static_cast<int>(place))) * (at_[i + 1] - at_[i]);
  }

 private:
  static constexpr float far = 60, per_unit = 256;
  std::array<float, 1985> at_;  // up to the root of `far`, and one more
};

const Covariance& covariances() {
  static const Covariance all;
  return all;
}
float covariance(float squared_distance) { return covariances()(squared_distance); }

// The number of variants side by side, so that their sums become vectors.
constexpr std::size_t pack_size = 16;
using Pack = std::array<float, pack_size>;

// By variant: the sum of likeness times factor over all rows, and the likeness of the nearest row with a
// factor.
struct Sums {
  Pack sum{}, nearest{};
};
Sums sums_of(const float* factors, std::span<const float> like) {
  Sums sums;
  for (const float likeness : like) {
    for (std::size_t v = 0; v < pack_size; ++v) {
      sums.sum[v] += likeness * factors[v];
      const float known = factors[v] != 0 ? likeness : 0;
      sums.nearest[v] = sums.nearest[v] < known ? known : sums.nearest[v];
    }
    factors += pack_size;
  }
  return sums;
}

float log2_at_least_one(double value) { return static_cast<float>(std::log2(std::max(1.0, value))); }

Values sizes_of(const Op& op, const Problem& problem) {
  if (op.sizes) return op.sizes(problem);
  Values sizes;
  for (const Parameter& parameter : op.parameters)
    if (parameter.is_integer()) sizes.set(parameter.name, *problem.find(parameter.name));
  return sizes;
}

bool is_categorical(const Parameter& parameter) {
  return !parameter.categories.empty() && !parameter.refuses_text;
}

}  // namespace

TimeModel::TimeModel(const Op& op, const Weights& weights) : op_(&op), given_(weights) {
  if (const auto given = weights.find("noise"); given != weights.end()) noise_ = given->second;
  uses_launches_ = uses_launch_shapes(weights);
  for (std::size_t i = 0; i < launch_weights.size(); ++i)
    if (const auto given = weights.find(launch_weights[i]); given != weights.end())
      launch_weight_[i] = static_cast<float>(given->second);
}

// Names the features in the order of coordinates().
void TimeModel::name_features(const Problem& problem) {
  const Values sizes = sizes_of(*op_, problem);
  for (const auto& [name, value] : sizes.entries()) features_.push_back(name);
  for (const char* derived : {"bytes", "flops", "element"}) features_.emplace_back(derived);
  weight_.assign(features_.size(), initial_weight);
  for (const Parameter& parameter : op_->parameters) {
    if (!is_categorical(parameter)) continue;
    features_.push_back(parameter.name);
    weight_.push_back(initial_word_weight);
    ++categorical_;
  }
  weight_.resize(features_.size());
  for (std::size_t f = 0; f < features_.size(); ++f) {
    const auto given = given_.find(features_[f]);
    if (given != given_.end()) weight_[f] = static_cast<float>(given->second);
  }
  if (!op_->kind) return;
  weight_.push_back(apart);
  ++categorical_;
}

// Returns the kind's number, which for an unknown kind is that of no row.
std::size_t TimeModel::kind_of(const Problem& problem) const {
  if (!op_->kind) return 0;
  const auto known = std::find(kinds_.begin(), kinds_.end(), op_->kind(problem));
  return static_cast<std::size_t>(known - kinds_.begin());
}

std::vector<float> TimeModel::coordinates(const Problem& problem) const {
  std::vector<float> at;
  at.reserve(weight_.size());
  const Values sizes = sizes_of(*op_, problem);
  for (const auto& [name, value] : sizes.entries()) at.push_back(static_cast<float>(log2_of(value)));
  at.push_back(log2_at_least_one(bytes_moved(*op_, problem)));
  at.push_back(log2_at_least_one(op_->flops(problem)));
  at.push_back(log2_at_least_one(static_cast<double>(element_alignment(*op_, problem))));
  for (const Parameter& parameter : op_->parameters) {
    if (!is_categorical(parameter)) continue;
    const auto word =
        std::find(parameter.categories.begin(), parameter.categories.end(), problem.string(parameter.name));
    at.push_back(static_cast<float>(word - parameter.categories.begin()));
  }
  if (op_->kind) at.push_back(static_cast<float>(kind_of(problem)));
  return at;
}

TimeModel::Place TimeModel::place_of(const RowValue& one) const {
  return {one.row, uses_launches_ ? one.launch : LaunchShape()};
}

float TimeModel::squared_distance(const LaunchShape& a, const LaunchShape& b) const {
  float squared = 0;
  for (std::size_t i = 0; i < launch_weight_.size(); ++i) {
    const float octaves = static_cast<float>(a.eighths[i] - b.eighths[i]) / 8;
    squared += launch_weight_[i] * octaves * octaves;
  }
  return squared;
}

float TimeModel::squared_distance(const std::vector<float>& a, const std::vector<float>& b) const {
  float squared = 0;
  const std::size_t numbers = weight_.size() - categorical_;
  for (std::size_t f = 0; f < numbers; ++f) {
    const float difference = a[f] - b[f];
    squared += weight_[f] * difference * difference;
  }
  for (std::size_t f = numbers; f < weight_.size(); ++f) squared += a[f] == b[f] ? 0 : weight_[f];
  return squared;
}

float TimeModel::likeness(const Place& a, const Place& b) const {
  return covariance(squared_distance(at_[a.row], at_[b.row]) + squared_distance(a.launch, b.launch));
}

std::vector<float> TimeModel::squared_distance_to_rows(const std::vector<float>& at) const {
  std::vector<float> like(at_.size(), 0.0f);
  const std::size_t numbers = weight_.size() - categorical_;
  for (std::size_t f = 0; f < at.size(); ++f) {
    const float* const column = feature_major_.data() + f * like.size();
    const float weight = weight_[f];
    const float here = at[f];
    if (f < numbers) {
      for (std::size_t row = 0; row < like.size(); ++row) {
        const float difference = column[row] - here;
        like[row] += weight * difference * difference;
      }
    } else {
      for (std::size_t row = 0; row < like.size(); ++row) like[row] += column[row] == here ? 0 : weight;
    }
  }
  return like;
}

std::vector<float> TimeModel::likeness_to_rows(const std::vector<float>& at) const {
  std::vector<float> like = squared_distance_to_rows(at);
  for (float& one : like) one = covariance(one);
  return like;
}

// Finds a problem's row. A table has hundreds of problems, so texts are compared only if all numbers are
// equal.
std::optional<std::size_t> TimeModel::find(const Problem& problem, const std::vector<float>& at) const {
  for (std::size_t row = 0; row < at_.size(); ++row)
    if (at_[row] == at && problems_[row] == problem) return row;
  return std::nullopt;
}

std::size_t TimeModel::add_problem(const Problem& problem) {
  if (features_.empty()) name_features(problem);
  if (op_->kind && kind_of(problem) == kinds_.size()) kinds_.push_back(op_->kind(problem));
  std::vector<float> at = coordinates(problem);
  if (const auto known = find(problem, at)) return *known;
  problems_.push_back(problem);
  at_.push_back(std::move(at));
  row_kind_.push_back(kind_of(problem));
  known_.push_back({.row = problems_.size() - 1});
  return problems_.size() - 1;
}

std::size_t TimeModel::add_variant(bool is_guess) {
  variants_.emplace_back().is_guess = is_guess;
  return variants_.size() - 1;
}

void TimeModel::add_best(std::size_t row, double us, std::optional<double> factor) {
  RowValue& best = known_[row];
  if (us > 0 && (best.us == 0 || us < best.us)) best.us = us;
  best.take(factor);
}

void TimeModel::RowValue::take(std::optional<double> given) {
  if (!given || is_solved) return;
  factor = *given;
  is_solved = true;
}

void TimeModel::add_time(std::size_t variant, std::size_t row, double us, std::optional<double> factor,
                         const LaunchShape& launch) {
  if (us <= 0) return;
  add_best(row, us);
  std::vector<RowValue>& times = variants_[variant].times;
  auto known =
      std::find_if(times.begin(), times.end(), [&](const RowValue& time) { return time.row == row; });
  if (known == times.end()) known = times.insert(known, {.row = row, .us = us, .launch = launch});
  if (us < known->us) known->launch = launch;
  known->us = std::min(known->us, us);
  known->take(factor);
}

Cholesky TimeModel::factored(std::span<const Place> places) const {
  std::vector<double> covariances;
  covariances.reserve(triangle_size(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      covariances.push_back(static_cast<double>(likeness(places[i], places[j])));
    covariances.push_back(1 + noise_);
  }
  return Cholesky(std::move(covariances));
}

TimeModel::Inverse TimeModel::invert(std::span<const RowValue> known, double mean) const {
  Inverses none;
  return invert(known, mean, none);
}

TimeModel::Inverse TimeModel::invert(std::span<const RowValue> known, double mean, Inverses& made) const {
  Inverse inverse{std::vector<double>(known.size()), std::vector<double>(known.size())};
  for (const std::vector<std::size_t>& its_kind : by_kind(known)) {
    std::vector<Place> places;
    std::vector<double> alpha;
    for (const std::size_t i : its_kind) {
      places.push_back(place_of(known[i]));
      alpha.push_back(known[i].value - mean);
    }
    auto its = made.find(places);
    if (its == made.end()) {
      Cholesky factor = factored(places);
      std::vector<double> diagonal = factor.inverse_diagonal();
      its = made.emplace(std::move(places), FactoredRows{std::move(factor), std::move(diagonal)}).first;
    }
    its->second.factor.solve(alpha);
    for (std::size_t k = 0; k < its_kind.size(); ++k) {
      inverse.alpha[its_kind[k]] = alpha[k];
      inverse.diagonal[its_kind[k]] = its->second.inverse_diagonal[k];
    }
  }
  return inverse;
}

// The indices of the times of each kind. Times of different kinds have a covariance of 0, so that each kind
// is solved by itself.
std::vector<std::vector<std::size_t>> TimeModel::by_kind(std::span<const RowValue> known) const {
  std::vector<std::vector<std::size_t>> of_each(kinds());
  for (std::size_t i = 0; i < known.size(); ++i) of_each[row_kind_[known[i].row]].push_back(i);
  std::erase_if(of_each, [](const std::vector<std::size_t>& its) { return its.empty(); });
  return of_each;
}

bool TimeModel::any_solved(std::span<const RowValue> known) {
  return std::any_of(known.begin(), known.end(), [](const RowValue& one) { return one.is_solved; });
}

// Computes values and means, which do not depend on weights. If some times are already solved, the mean comes
// from those.
void TimeModel::begin() {
  const auto mean_of = [&](const std::vector<RowValue>& known, double slowdown, double count) {
    const bool solved = any_solved(known);
    double sum = slowdown * count;
    for (const RowValue& one : known) {
      if (one.us == 0 || (solved && !one.is_solved)) continue;
      sum += one.value;
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  };
  for (RowValue& best : known_)
    if (best.us > 0) best.value = std::log(best.us / cost(problems_[best.row]));
  best_mean_ = mean_of(known_, 0, 0);
  for (Variant& one : variants_) {
    for (RowValue& time : one.times)
      time.value = std::min(std::log(time.us / known_[time.row].us), most_slowdown);
    const Usual& its = one.is_guess ? usual_of_a_guess : op_->kind ? usual_among_kinds : usual;
    one.mean = mean_of(one.times, its.slowdown, its.count);
  }
}

// Returns twice the negative logarithm of the probability of all slowdowns, each left out in turn. A part of
// the rows of each kind is enough for a few weights.
double TimeModel::surprise() const {
  constexpr std::size_t most_rows = 96;
  double squares = 0;
  double logs = 0;
  double count = 0;
  std::vector<RowValue> part;
  Inverses made;
  for (const Variant& one : variants_) {
    if (one.times.size() < 4) continue;
    part.clear();
    for (const std::vector<std::size_t>& its_kind : by_kind(one.times)) {
      const std::size_t n = its_kind.size(), taken = std::min(n, most_rows);
      for (std::size_t i = 0; i < taken; ++i) part.push_back(one.times[its_kind[i * n / taken]]);
    }
    const Inverse inverse = invert(part, one.mean, made);
    for (std::size_t i = 0; i < part.size(); ++i) {
      squares += inverse.alpha[i] * inverse.alpha[i] / inverse.diagonal[i];
      logs -= std::log(inverse.diagonal[i]);
    }
    count += static_cast<double>(part.size());
  }
  return count == 0 ? 0 : logs + count * std::log(std::max(squares / count, 1e-12));
}

Weights TimeModel::fit(bool of_launches) {
  begin();
  if (of_launches && !uses_launches_) launch_weight_.fill(initial_launch_weight);
  uses_launches_ = of_launches;
  double least = surprise();
  const auto improve = [&](auto& value, double step, double low, double high) {
    descend(value, step, low, high, least, [&] { return surprise(); });
  };
  for (const double step : {8.0, 4.0, 2.0, 1.5}) {
    for (std::size_t f = 0; f < features_.size(); ++f) improve(weight_[f], step, 1e-4, 4.0);
    for (std::size_t i = 0; of_launches && i < launch_weight_.size(); ++i)
      improve(launch_weight_[i], step, 1e-4, 4.0);
    improve(noise_, step, 1e-3, 2.0);
  }
  for (std::size_t i = 0; of_launches && i < launch_weight_.size(); ++i) {  // no coordinate without a use
    const float fitted = std::exchange(launch_weight_[i], 0.0f);
    const double without = surprise();
    if (without > least) launch_weight_[i] = fitted;
    least = std::min(least, without);
  }
  Weights weights;
  for (std::size_t f = 0; f < features_.size(); ++f) weights[features_[f]] = static_cast<double>(weight_[f]);
  for (std::size_t i = 0; i < launch_weight_.size(); ++i)
    if (of_launches && launch_weight_[i] > 0)
      weights[std::string(launch_weights[i])] = static_cast<double>(launch_weight_[i]);
  weights["noise"] = noise_;
  return weights;
}

double TimeModel::cost(const Problem& problem) const {
  // The microseconds of a launch, of bytes and of operations on a current GPU, by order of magnitude. The
  // process over the rows corrects the error if there are rows nearby.
  return 1.5 + bytes_moved(*op_, problem) / 3e6 + op_->flops(problem) / 3e7;
}

// Computes missing factors. If other times are solved already, these factors only correct them: their values
// are the residuals of the solved part.
void TimeModel::solve_rest(std::vector<RowValue>& known, double mean, std::size_t most,
                           std::vector<CovarianceFactor>& last) const {
  const bool is_correction = any_solved(known);
  std::size_t taken = 0;
  last.resize(kinds());
  for (const std::vector<std::size_t>& its_kind : by_kind(known)) {
    std::vector<RowValue*> rest;
    std::vector<Place> places;
    std::vector<double> values;
    for (const std::size_t i : its_kind) {
      RowValue& one = known[i];
      if (one.is_solved || one.us == 0 || taken == most) continue;
      ++taken;
      rest.push_back(&one);
      places.push_back(place_of(one));
      double said = mean;
      for (const RowValue& solved : known) {
        if (is_correction && solved.is_solved)
          said += solved.factor * static_cast<double>(likeness(place_of(one), place_of(solved)));
      }
      values.push_back(one.value - said);
    }
    if (rest.empty()) continue;
    CovarianceFactor& made = last[row_kind_[places.front().row]];
    if (places != made.places) made = {places, factored(places)};
    made.factor.solve(values);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i]->factor = values[i];
  }
}

void TimeModel::solve(std::size_t most, unsigned threads) {
  feature_major();
  begin();
  const auto given = given_.find("spread");
  std::mutex mutex;  // guards the sums
  double squares = 0;
  double count = 0;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::vector<CovarianceFactor> last;
    for (std::size_t i = next++; i <= variants_.size(); i = next++) {
      if (i == 0) {  // the longest part comes first
        solve_rest(known_, best_mean_, most, last);
        continue;
      }
      Variant& one = variants_[i - 1];
      solve_rest(one.times, one.mean, most, last);
      if (given != given_.end() || one.times.size() < 4) continue;
      const std::span<const RowValue> part(one.times.data(), std::min(one.times.size(), most));
      const Inverse inverse = invert(part, one.mean);
      const std::scoped_lock lock(mutex);
      for (std::size_t k = 0; k < part.size(); ++k)
        squares += inverse.alpha[k] * inverse.alpha[k] / inverse.diagonal[k];
      count += static_cast<double>(part.size());
    }
  };
  run_in_threads(threads, work);
  spread_ = given != given_.end() ? given->second : count == 0 ? usual.slowdown : std::sqrt(squares / count);
  lay_out();
}

void TimeModel::feature_major() {
  const std::size_t rows = at_.size();
  feature_major_.resize(weight_.size() * rows);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t f = 0; f < weight_.size(); ++f) feature_major_[f * rows + row] = at_[row][f];
}

void TimeModel::lay_out() {
  const std::size_t rows = at_.size();
  knows_.assign(variants_.size(), std::vector<bool>(kinds()));
  launched_.assign(uses_launches_ ? variants_.size() * kinds() : 0, {});
  for (std::size_t v = 0; uses_launches_ && v < variants_.size(); ++v)
    for (const RowValue& time : variants_[v].times)
      launched_[v * kinds() + row_kind_[time.row]].push_back(
          {static_cast<float>(time.factor), static_cast<std::uint32_t>(time.row), time.launch});
  for (std::size_t v = 0; v < variants_.size(); ++v)
    for (const RowValue& time : variants_[v].times) knows_[v][row_kind_[time.row]] = true;
  best_factors_.clear();
  for (const RowValue& best : known_) best_factors_.push_back(best.factor);
  dense_.clear();
  sparse_.clear();
  for (std::size_t v = 0; v < variants_.size(); ++v)
    (!uses_launches_ && 8 * variants_[v].times.size() > rows ? dense_ : sparse_).push_back(v);
  factors_.assign((dense_.size() + pack_size - 1) / pack_size * pack_size * rows, 0);
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    for (const RowValue& time : variants_[dense_[i]].times) {
      const auto factor = static_cast<float>(time.factor);
      factors_[(i / pack_size * rows + time.row) * pack_size + i % pack_size] =
          factor != 0 ? factor : std::numeric_limits<float>::min();
    }
  }
}

double TimeModel::factor(std::size_t variant, std::size_t row) const {
  for (const RowValue& time : variants_[variant].times)
    if (time.row == row) return time.factor;
  return 0;
}

TimeModel::Estimate TimeModel::estimated(const Variant& one, float sum, float nearest) const {
  const double known = static_cast<double>(nearest * nearest) / (1 + noise_);
  return {std::max(0.0, one.mean + static_cast<double>(sum)), spread_ * std::sqrt(1 - known)};
}

TimeModel::Estimate TimeModel::estimate_of(std::size_t variant, const Estimates& all,
                                           const LaunchShape& launch) const {
  const bool is_estimated = uses_launches_ && all.kind < kinds() && all.of[variant].deviation > 0;
  return is_estimated ? estimated_at(variant, all, launch) : all.of[variant];
}

TimeModel::Estimate TimeModel::estimated_at(std::size_t variant, const Estimates& all,
                                            const LaunchShape& launch) const {
  const Covariance& covariance_of = covariances();
  float sum = 0, nearest = 0;
  for (const LaunchedTime& time : launched_[variant * kinds() + all.kind]) {
    const float like = covariance_of(all.squared_distance[time.row] + squared_distance(launch, time.launch));
    sum += like * time.factor;
    nearest = std::max(nearest, like);
  }
  return estimated(variants_[variant], sum, nearest);
}

TimeModel::Estimates TimeModel::estimate(const Problem& problem) const {
  Estimates estimates;
  const std::size_t variants = variants_.size();
  estimates.of.reserve(variants);
  for (const Variant& one : variants_) estimates.of.push_back({one.mean, spread_});
  estimates.is_known.assign(variants, !op_->kind);
  if (problems_.empty()) return estimates;
  estimates.kind = kind_of(problem);
  if (op_->kind && estimates.kind < kinds())
    for (std::size_t v = 0; v < variants; ++v) estimates.is_known[v] = knows_[v][estimates.kind];
  const std::vector<float> at = coordinates(problem);
  estimates.likeness = squared_distance_to_rows(at);
  if (uses_launches_) estimates.squared_distance = estimates.likeness;
  for (float& one : estimates.likeness) one = covariance(one);
  const float* const like = estimates.likeness.data();
  const std::size_t rows = problems_.size();
  const auto set = [&](std::size_t v, float sum, float nearest) {
    estimates.of[v] = estimated(variants_[v], sum, nearest);
  };
  for (std::size_t first = 0; first < dense_.size(); first += pack_size) {
    const Sums sums = sums_of(factors_.data() + first * rows, estimates.likeness);
    for (std::size_t i = 0; i < pack_size && first + i < dense_.size(); ++i)
      set(dense_[first + i], sums.sum[i], sums.nearest[i]);
  }
  for (const std::size_t v : sparse_) {
    if (uses_launches_) {
      if (!estimates.is_known[v] || estimates.kind >= kinds()) continue;
      // The nearest time, and the nearest one with another launch.
      const LaunchedTime* first = nullptr;
      const LaunchedTime* second = nullptr;
      const std::vector<float>& squared = estimates.squared_distance;
      for (const LaunchedTime& time : launched_[v * kinds() + estimates.kind]) {
        if (first == nullptr || squared[time.row] < squared[first->row]) {
          if (first != nullptr && first->launch != time.launch) second = first;
          first = &time;
        } else if (time.launch != first->launch &&
                   (second == nullptr || squared[time.row] < squared[second->row])) {
          second = &time;
        }
      }
      if (first == nullptr) continue;
      estimates.of[v] = estimated_at(v, estimates, first->launch);
      if (second == nullptr) continue;
      const Estimate other = estimated_at(v, estimates, second->launch);
      if (other.cautious() < estimates.of[v].cautious()) estimates.of[v] = other;
      continue;
    }
    float added = 0, nearest = 0;
    for (const RowValue& time : variants_[v].times) {
      added += like[time.row] * static_cast<float>(time.factor);
      nearest = std::max(nearest, like[time.row]);
    }
    set(v, added, nearest);
  }
  // Times measured on this problem, for any launch numbers: their mean if there are several.
  std::vector<double> count;
  int same = 0;  // counted without a branch, because mostly there is none
  for (std::size_t row = 0; row < rows; ++row) same += like[row] == 1 ? 1 : 0;
  for (std::size_t row = 0; same > 0 && row < rows; ++row) {
    if (like[row] != 1 || at_[row] != at || !same_until_launch(*op_, problems_[row], problem)) continue;
    count.resize(variants, 0.0);
    estimates.rows.push_back(row);
    const double least = known_[row].us;
    if (estimates.best_us == 0 || (least > 0 && least < estimates.best_us)) estimates.best_us = least;
    for (std::size_t v = 0; v < variants; ++v) {
      for (const RowValue& time : variants_[v].times) {
        if (time.row != row) continue;
        const double others = count[v] * estimates.of[v].slowdown;
        count[v] += 1;
        estimates.of[v] = {(others + std::log(time.us / least)) / count[v], 0};
      }
    }
  }
  if (estimates.best_us == 0) {
    const double logarithm = std::inner_product(estimates.likeness.begin(), estimates.likeness.end(),
                                                best_factors_.begin(), best_mean_);
    estimates.best_us = cost(problem) * std::exp(logarithm);
  }
  return estimates;
}

std::vector<TimeModel::MeasuredTime> TimeModel::nearest(std::size_t variant, const Problem& problem,
                                                        std::size_t most) const {
  const std::vector<float> like = likeness_to_rows(coordinates(problem));
  const Variant& one = variants_[variant];
  std::vector<MeasuredTime> list;
  const std::size_t kind = kind_of(problem);
  for (const RowValue& time : one.times) {
    if (row_kind_[time.row] != kind) continue;
    list.push_back({&problems_[time.row], time.us, known_[time.row].us, like[time.row]});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const MeasuredTime& a, const MeasuredTime& b) { return a.likeness > b.likeness; });
  list.resize(std::min(most, list.size()));
  return list;
}

std::vector<double> TimeModel::left_out() const {
  struct Pick {
    double promised = 0;
    double slowdown = 0;
    int count = 0;
  };
  std::vector<Pick> picks(problems_.size());
  for (const Variant& one : variants_) {
    const Inverse inverse = invert(one.times, one.mean);
    for (std::size_t i = 0; i < one.times.size(); ++i) {
      const RowValue& time = one.times[i];
      const Estimate estimate{std::max(0.0, time.value - inverse.alpha[i] / inverse.diagonal[i]),
                              spread_ / std::sqrt(inverse.diagonal[i])};
      Pick& pick = picks[time.row];
      if (pick.count == 0 || estimate.cautious() < pick.promised) {
        pick.promised = estimate.cautious();
        pick.slowdown = time.value;
      }
      ++pick.count;
    }
  }
  std::vector<double> left;
  for (const Pick& pick : picks)
    if (pick.count >= 2) left.push_back(pick.slowdown);
  return left;
}

namespace {

struct TableModel {
  TimeModel model;
  std::vector<std::size_t> numbers;  // by the table's variants
};
TableModel model_with_numbers(const Op& op, const TimingTable& table, const Weights& weights) {
  TableModel made{TimeModel(op, weights), {}};
  std::optional<std::size_t> guess;  // all guesses are one variant: of each problem there is one
  for (const TimingTable::Variant& variant : table.variants) {
    const bool is_one = is_guess(op, variant.template_name, variant.config);
    made.numbers.push_back(is_one && guess ? *guess : made.model.add_variant(is_one));
    if (is_one) guess = made.numbers.back();
  }
  for (const TimingTable::Anchor& anchor : table.anchors) {
    const std::size_t row = made.model.add_problem(complete_problem(op, anchor.problem));
    made.model.add_best(row, anchor.best_us);
    for (std::size_t v = 0; v < anchor.us.size(); ++v)
      made.model.add_time(made.numbers[v], row, anchor.us[v], {},
                          anchor.launch.empty() ? LaunchShape() : anchor.launch[v]);
  }
  return made;
}

}  // namespace

TimeModel model_of(const Op& op, const TimingTable& table, const Weights& weights) {
  return model_with_numbers(op, table, weights).model;
}

namespace {

// Solves the model for all times, writes its spread into the weights, and returns the mean slowdown of what
// would be chosen for each anchor if that were left out.
double lost_by(const Op& op, const TimingTable& table, Weights& weights) {
  TimeModel model = model_of(op, table, weights);
  model.solve(table.anchors.size());
  weights["spread"] = model.spread();
  const std::vector<double> left = model.left_out();
  return left.empty() ? 0 : std::accumulate(left.begin(), left.end(), 0.0) / static_cast<double>(left.size());
}

}  // namespace

void fit_table(const Op& op, const DeviceFacts& device, TimingTable& table) {
  forget_factors(table);
  // With launches as coordinates a choice takes longer, so they have to gain this much of the time.
  constexpr double least_gain = 0.015;
  table.weights = model_of(op, table).fit();
  find_launch_shapes(op, device, table);
  Weights of_launches = model_of(op, table, table.weights).fit(true);
  const double lost = lost_by(op, table, table.weights);
  if (uses_launch_shapes(of_launches) && lost_by(op, table, of_launches) < lost - least_gain)
    table.weights = std::move(of_launches);
  table.weights["model"] = model_version(table.weights);
  forget_factors(table);
}

bool is_fitted(const Weights& weights) {
  const auto model = weights.find("model");
  return model != weights.end() && model->second == model_version(weights);
}

// Hashes to 64 bits the numbers and texts from which a solution is computed.
std::uint64_t solution_key(const Op& op, const TimingTable& table) {
  std::uint64_t key = 0;
  const auto add = [&key](std::uint64_t bits) {
    key = (key ^ bits) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
  };
  const auto add_number = [&](double value) { add(std::bit_cast<std::uint64_t>(value)); };
  const auto add_text = [&](std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  };
  add_number(model_version(table.weights));
  for (const auto& [name, weight] : table.weights) {
    add_text(name);
    add_number(weight);
  }
  const bool uses_launches = uses_launch_shapes(table.weights);
  add(table.variants.size());
  for (const TimingTable::Variant& variant : table.variants)
    if (op.kind) add(is_guess(op, variant.template_name, variant.config));
  for (const TimingTable::Anchor& anchor : table.anchors) {
    const Problem problem = complete_problem(op, anchor.problem);
    add_text(problem.text());  // anchors with the same text are one row of the model
    if (op.kind) add_text(op.kind(problem));
    const Values sizes = sizes_of(op, problem);
    for (const auto& [name, value] : sizes.entries()) {
      add_text(name);
      if (const auto* number = std::get_if<std::int64_t>(&value)) {
        add(static_cast<std::uint64_t>(*number));
      } else {
        add_text(std::get<std::string>(value));
      }
    }
    for (const double number : {bytes_moved(op, problem), op.flops(problem),
                                static_cast<double>(element_alignment(op, problem)), anchor.best_us})
      add_number(number);
    for (const double us : anchor.us) add_number(us);
    if (!uses_launches) continue;
    for (const LaunchShape& shape : anchor.launch) {
      for (const std::uint8_t eighths : shape.eighths) add(eighths);
    }
  }
  return key == 0 ? 1 : key;
}

void solve_table(const Op& op, const DeviceFacts& device, TimingTable& table, unsigned threads) {
  forget_factors(table);
  if (uses_launch_shapes(table.weights)) find_launch_shapes(op, device, table);
  auto [model, numbers] = model_with_numbers(op, table, table.weights);
  model.solve(table.anchors.size(), threads);
  for (TimingTable::Anchor& anchor : table.anchors) {
    const std::size_t row = model.add_problem(complete_problem(op, anchor.problem));
    anchor.best_factor = static_cast<float>(model.best_factor(row));
    for (std::size_t v = 0; v < table.variants.size(); ++v)
      anchor.factor.push_back(anchor.us[v] > 0 ? static_cast<float>(model.factor(numbers[v], row)) : 0.0f);
  }
  table.solved_from = solution_key(op, table);
}

}  // namespace tunesmith
