#include "dispatch/time_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr float initial_weight = 1.0f / 16;
constexpr float initial_word_weight = 0.5f;
constexpr double most_slowdown = 2.1;   // of what is far too slow it does not matter how much
constexpr double usual_slowdown = 0.4;  // of a variant that was tuned for another problem
constexpr double usual_count = 2;       // as if that had been seen so often

float covariance(float squared_distance) { return std::exp(-squared_distance / 2); }

float log2_at_least_one(double value) { return static_cast<float>(std::log2(std::max(1.0, value))); }

Values sizes_of(const Op& op, const Problem& problem) {
  if (op.sizes) return op.sizes(problem);
  Values sizes;
  for (const Parameter& parameter : op.parameters)
    if (parameter.is_integer()) sizes.set(parameter.name, *problem.find(parameter.name));
  return sizes;
}

bool is_word(const Parameter& parameter) { return !parameter.words.empty() && !parameter.refuses_text; }

}  // namespace

TimeModel::TimeModel(const Op& op, const Weights& weights) : op_(&op), given_(weights) {
  if (const auto given = weights.find("noise"); given != weights.end()) noise_ = given->second;
}

// As coordinates() orders them.
void TimeModel::name_features(const Problem& problem) {
  const Values sizes = sizes_of(*op_, problem);
  for (const auto& [name, value] : sizes.entries()) features_.push_back(name);
  for (const char* derived : {"bytes", "flops", "element"}) features_.emplace_back(derived);
  weight_.assign(features_.size(), initial_weight);
  for (const Parameter& parameter : op_->parameters) {
    if (!is_word(parameter)) continue;
    features_.push_back(parameter.name);
    weight_.push_back(initial_word_weight);
    ++words_;
  }
  for (std::size_t f = 0; f < features_.size(); ++f) {
    const auto given = given_.find(features_[f]);
    if (given != given_.end()) weight_[f] = static_cast<float>(given->second);
  }
}

std::vector<float> TimeModel::coordinates(const Problem& problem) const {
  std::vector<float> at;
  at.reserve(features_.size());
  const Values sizes = sizes_of(*op_, problem);
  for (const auto& [name, value] : sizes.entries()) at.push_back(static_cast<float>(log2_of(value)));
  at.push_back(log2_at_least_one(bytes_moved(*op_, problem)));
  at.push_back(log2_at_least_one(op_->flops(problem)));
  at.push_back(log2_at_least_one(static_cast<double>(element_alignment(*op_, problem))));
  for (const Parameter& parameter : op_->parameters) {
    if (!is_word(parameter)) continue;
    const auto word = std::find(parameter.words.begin(), parameter.words.end(), problem.word(parameter.name));
    at.push_back(static_cast<float>(word - parameter.words.begin()));
  }
  return at;
}

float TimeModel::likeness(const float* a, const float* b) const {
  float squared = 0;
  const std::size_t numbers = features_.size() - words_;
  for (std::size_t f = 0; f < numbers; ++f) {
    const float difference = a[f] - b[f];
    squared += weight_[f] * difference * difference;
  }
  for (std::size_t f = numbers; f < features_.size(); ++f) squared += a[f] == b[f] ? 0 : weight_[f];
  return covariance(squared);
}

std::vector<float> TimeModel::likeness_to_rows(const std::vector<float>& at) const {
  std::vector<float> like(at_.size());
  for (std::size_t row = 0; row < at_.size(); ++row) like[row] = likeness(at.data(), at_[row].data());
  return like;
}

std::size_t TimeModel::add_problem(const Problem& problem) {
  const auto known = std::find(problems_.begin(), problems_.end(), problem);
  if (known != problems_.end()) return static_cast<std::size_t>(known - problems_.begin());
  if (features_.empty()) name_features(problem);
  problems_.push_back(problem);
  at_.push_back(coordinates(problem));
  best_us_.push_back(0);
  return problems_.size() - 1;
}

std::size_t TimeModel::add_variant() {
  variants_.emplace_back();
  return variants_.size() - 1;
}

void TimeModel::add_best(std::size_t row, double us) {
  if (us > 0 && (best_us_[row] == 0 || us < best_us_[row])) best_us_[row] = us;
}

void TimeModel::add_time(std::size_t variant, std::size_t row, double us) {
  if (us <= 0) return;
  add_best(row, us);
  Variant& one = variants_[variant];
  const auto known = std::find(one.row.begin(), one.row.end(), row);
  if (known != one.row.end()) {
    double& before = one.us[static_cast<std::size_t>(known - one.row.begin())];
    before = std::min(before, us);
    return;
  }
  one.row.push_back(row);
  one.us.push_back(us);
}

// Of one row of covariances after the other: Cholesky, then the inverse's diagonal and its product with the
// values.
TimeModel::Inverse TimeModel::invert(const std::vector<std::size_t>& rows,
                                     std::span<const double> values) const {
  const std::size_t n = rows.size();
  std::vector<double> l(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum =
          i == j ? 1 + noise_ : static_cast<double>(likeness(at_[rows[i]].data(), at_[rows[j]].data()));
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / l[j * n + j];
    }
  }
  // The inverse of the factor, in place of it, row by row.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t k = j; k < i; ++k) sum -= l[i * n + k] * l[k * n + j];
      l[i * n + j] = sum / l[i * n + i];
    }
    l[i * n + i] = 1 / l[i * n + i];
  }
  Inverse inverse{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  for (std::size_t i = 0; i < n; ++i) {
    double projected = 0;
    for (std::size_t j = 0; j <= i; ++j) projected += l[i * n + j] * values[j];
    for (std::size_t j = 0; j <= i; ++j) {
      inverse.alpha[j] += l[i * n + j] * projected;
      inverse.diagonal[j] += l[i * n + j] * l[i * n + j];
    }
  }
  return inverse;
}

// Slowdowns and means, which do not depend on weights.
void TimeModel::begin() {
  for (Variant& one : variants_) {
    one.slowdown.clear();
    for (std::size_t i = 0; i < one.row.size(); ++i)
      one.slowdown.push_back(std::min(std::log(one.us[i] / best_us_[one.row[i]]), most_slowdown));
    one.mean = (std::accumulate(one.slowdown.begin(), one.slowdown.end(), usual_count * usual_slowdown)) /
               (static_cast<double>(one.slowdown.size()) + usual_count);
  }
}

// Twice the negative logarithm of the probability of all slowdowns, each left out in turn.
double TimeModel::surprise() const {
  double squares = 0;
  double logs = 0;
  double count = 0;
  for (const Variant& one : variants_) {
    if (one.row.size() < 4) continue;
    std::vector<double> values;
    for (const double slowdown : one.slowdown) values.push_back(slowdown - one.mean);
    const Inverse inverse = invert(one.row, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      squares += inverse.alpha[i] * inverse.alpha[i] / inverse.diagonal[i];
      logs -= std::log(inverse.diagonal[i]);
    }
    count += static_cast<double>(values.size());
  }
  return count == 0 ? 0 : logs + count * std::log(std::max(squares / count, 1e-12));
}

Weights TimeModel::fit() {
  begin();
  double least = surprise();
  const auto improve = [&](auto& value, double step, double low, double high) {
    for (const double factor : {step, 1 / step}) {
      for (int i = 0; i < 4; ++i) {
        const auto before = value;
        const double next = static_cast<double>(before) * factor;
        if (next < low || next > high) break;
        value = static_cast<std::remove_reference_t<decltype(value)>>(next);
        const double now = surprise();
        if (now >= least) {
          value = before;
          break;
        }
        least = now;
      }
    }
  };
  for (const double step : {8.0, 4.0, 2.0, 1.5}) {
    for (float& weight : weight_) improve(weight, step, 1e-4, 4.0);
    improve(noise_, step, 1e-3, 2.0);
  }
  Weights weights;
  for (std::size_t f = 0; f < features_.size(); ++f) weights[features_[f]] = static_cast<double>(weight_[f]);
  weights["noise"] = noise_;
  return weights;
}

double TimeModel::cost(const Problem& problem) const {
  // Microseconds of a launch, of bytes and of operations: a GPU of today by order of magnitude. What is wrong
  // in it the process over the rows mends, where there are rows near.
  return 1.5 + bytes_moved(*op_, problem) / 3e6 + op_->flops(problem) / 3e7;
}

void TimeModel::solve() {
  begin();
  double squares = 0;
  double count = 0;
  for (Variant& one : variants_) {
    std::vector<double> values;
    for (const double slowdown : one.slowdown) values.push_back(slowdown - one.mean);
    const Inverse inverse = invert(one.row, values);
    one.factor.assign(inverse.alpha.begin(), inverse.alpha.end());
    if (values.size() < 4) continue;
    for (std::size_t i = 0; i < values.size(); ++i)
      squares += inverse.alpha[i] * inverse.alpha[i] / inverse.diagonal[i];
    count += static_cast<double>(values.size());
  }
  spread_ = count == 0 ? usual_slowdown : std::sqrt(squares / count);

  constexpr std::size_t most_rows = 256;  // a cube of them is some 10 ms
  std::vector<std::size_t> rows;
  std::vector<double> values;
  for (std::size_t row = 0; row < problems_.size() && rows.size() < most_rows; ++row) {
    if (best_us_[row] == 0) continue;
    rows.push_back(row);
    values.push_back(std::log(best_us_[row] / cost(problems_[row])));
  }
  best_factor_.assign(problems_.size(), 0);
  best_mean_ = values.empty()
                   ? 0
                   : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= best_mean_;
  const Inverse inverse = invert(rows, values);
  for (std::size_t i = 0; i < rows.size(); ++i) best_factor_[rows[i]] = static_cast<float>(inverse.alpha[i]);
}

TimeModel::Estimates TimeModel::estimate(const Problem& problem) const {
  Estimates estimates;
  for (const Variant& one : variants_) estimates.of.push_back({one.mean, spread_});
  if (problems_.empty()) return estimates;
  estimates.likeness = likeness_to_rows(coordinates(problem));
  const std::vector<float>& like = estimates.likeness;
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    const Variant& one = variants_[v];
    float sum = 0;
    float nearest = 0;
    for (std::size_t i = 0; i < one.row.size(); ++i) {
      const float k = like[one.row[i]];
      sum += k * one.factor[i];
      nearest = std::max(nearest, k);
    }
    const double known = static_cast<double>(nearest * nearest) / (1 + noise_);
    estimates.of[v] = {std::max(0.0, one.mean + static_cast<double>(sum)), spread_ * std::sqrt(1 - known)};
  }
  std::size_t row = 0;
  while (row < problems_.size() && (like[row] != 1 || problems_[row] != problem)) ++row;
  if (row < problems_.size()) {
    estimates.best_us = best_us_[row];
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      const Variant& one = variants_[v];
      const auto at = std::find(one.row.begin(), one.row.end(), row);
      if (at != one.row.end())
        estimates.of[v] = {std::log(one.us[static_cast<std::size_t>(at - one.row.begin())] / best_us_[row]),
                           0};
    }
  }
  if (estimates.best_us == 0) {
    double sum = best_mean_;
    for (std::size_t other = 0; other < like.size(); ++other)
      sum += static_cast<double>(like[other] * best_factor_[other]);
    estimates.best_us = cost(problem) * std::exp(sum);
  }
  return estimates;
}

std::vector<TimeModel::Measured> TimeModel::nearest(std::size_t variant, const Problem& problem,
                                                    std::size_t most) const {
  const std::vector<float> like = likeness_to_rows(coordinates(problem));
  const Variant& one = variants_[variant];
  std::vector<Measured> list;
  for (std::size_t i = 0; i < one.row.size(); ++i) {
    const std::size_t row = one.row[i];
    list.push_back({&problems_[row], one.us[i], best_us_[row], like[row]});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Measured& a, const Measured& b) { return a.likeness > b.likeness; });
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
    std::vector<double> values;
    for (const double slowdown : one.slowdown) values.push_back(slowdown - one.mean);
    const Inverse inverse = invert(one.row, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Estimate estimate{std::max(0.0, one.slowdown[i] - inverse.alpha[i] / inverse.diagonal[i]),
                              spread_ / std::sqrt(inverse.diagonal[i])};
      Pick& pick = picks[one.row[i]];
      if (pick.count == 0 || estimate.cautious() < pick.promised) {
        pick.promised = estimate.cautious();
        pick.slowdown = one.slowdown[i];
      }
      ++pick.count;
    }
  }
  std::vector<double> left;
  for (const Pick& pick : picks)
    if (pick.count >= 2) left.push_back(pick.slowdown);
  return left;
}

TimeModel model_of(const Op& op, const AnchorTable& table, const Weights& weights) {
  TimeModel model(op, weights);
  for (std::size_t v = 0; v < table.variants.size(); ++v) model.add_variant();
  for (const AnchorTable::Anchor& anchor : table.anchors) {
    const std::size_t row = model.add_problem(complete_problem(op, anchor.problem));
    model.add_best(row, anchor.best_us);
    for (std::size_t v = 0; v < anchor.us.size(); ++v) model.add_time(v, row, anchor.us[v]);
  }
  return model;
}

}  // namespace tunesmith
