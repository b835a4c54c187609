// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tunesmith {
namespace {

// The covariance Matern 5/2: twice differentiable, so less smooth than a Gaussian, as times are.
template <typename Number>
Number covariance(Number squared_distance) {
  const Number z = std::sqrt(5 * squared_distance);
  return (1 + z + z * z / 3) * std::exp(-z);
}

constexpr double jitter = 1e-6;  // keeps the matrix positive definite if two points are the same

}  // namespace

// The search for length scales: makes each in turn longer or shorter, as long as that makes the observations
// more likely. The squared distances are kept, so a step costs one covariance per pair and one factorisation.
class GaussianProcess::Fit {
 public:
  Fit(GaussianProcess& process, const std::vector<Coordinates>& points, std::span<const double> values)
      : process_(process), values_(values), size_(values.size()), parts_(process.weight_.size()) {
    for (std::vector<float>& part : parts_) part.assign(triangle_size(size_), 0);
    for (std::size_t c = 0; c < process.group_.size(); ++c) {
      std::vector<float>& part = parts_[process.group_[c]];
      for (std::size_t i = 0, at = 0; i < size_; ++i) {
        for (std::size_t j = 0; j <= i; ++j, ++at) {
          const float difference = points[i][c] - points[j][c];
          part[at] += difference * difference;
        }
      }
    }
    total_.assign(parts_.empty() ? 0 : parts_.front().size(), 0);
    for (std::size_t g = 0; g < parts_.size(); ++g) add(total_, g, process.weight_[g]);
  }

  void run() {
    constexpr int sweeps = 2;
    least_ = cost(total_);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for (std::size_t g = 0; g < parts_.size(); ++g) improve_scale(g);
      improve_noise();
    }
  }

 private:
  static constexpr double step = 1.6;   // of a length scale
  static constexpr int most_steps = 3;  // in one direction

  void add(std::vector<float>& total, std::size_t group, double weight) const {
    const auto w = static_cast<float>(weight);
    for (std::size_t at = 0; at < total.size(); ++at) total[at] += w * parts_[group][at];
  }

  void improve_scale(std::size_t g) {
    for (const double factor : {step * step, 1 / (step * step)}) {
      bool better = false;
      for (int n = 0; n < most_steps; ++n) {
        const double was = process_.weight_[g];
        std::vector<float> tried = total_;
        process_.weight_[g] = was * factor;
        add(tried, g, was * (factor - 1));
        const double now = cost(tried);
        if (now >= least_) {
          process_.weight_[g] = was;
          break;
        }
        least_ = now;
        total_ = std::move(tried);
        better = true;
      }
      if (better) return;
    }
  }

  void improve_noise() {
    for (const double factor : {step, 1 / step}) {
      const double was = process_.noise_;
      process_.noise_ = std::clamp(was * factor, 1e-4, 1.0);
      const double now = cost(total_);
      if (now < least_) {
        least_ = now;
        return;
      }
      process_.noise_ = was;
    }
  }

  // The negative logarithm of the probability of the values, with the function's variance at its most likely
  // value, and of the scales: the logarithms of the scales are spread by 1 around 0, that of the noise by 1.5
  // around 0.01.
  double cost(const std::vector<float>& distances) {
    std::vector<double> covariances(distances.size());
    for (std::size_t at = 0; at < distances.size(); ++at)
      covariances[at] = covariance(std::max(0.0F, distances[at]));
    for (std::size_t i = 0; i < size_; ++i) covariances[triangle_size(i) + i] += process_.noise_ + jitter;
    const Cholesky factor(std::move(covariances), jitter);
    std::vector<double> white(values_.begin(), values_.end());
    factor.solve_lower(white);
    double logs = 0;
    double squares = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      logs += std::log(factor.row(i)[i]);
      squares += white[i] * white[i];
    }
    double prior = 0;
    for (const double weight : process_.weight_) prior += std::pow(std::log(weight) / 2, 2) / 2;
    prior += std::pow(std::log(process_.noise_ / 0.01) / 1.5, 2) / 2;
    const auto n = static_cast<double>(size_);
    return logs + n / 2 * std::log(squares / n + 1e-12) + prior;
  }

  GaussianProcess& process_;
  std::span<const double> values_;
  std::size_t size_;
  std::vector<std::vector<float>> parts_;  // by group: squared distances of all pairs at length scale 1
  std::vector<float> total_;               // at the present scales
  double least_ = 0;
};

GaussianProcess::GaussianProcess(std::vector<std::size_t> group_of_coordinate)
    : group_(std::move(group_of_coordinate)),
      weight_(group_.empty() ? 0 : *std::max_element(group_.begin(), group_.end()) + 1, 1.0) {}

void GaussianProcess::fit(const std::vector<Coordinates>& points, std::span<const double> values) {
  Fit(*this, points, values).run();
}

void GaussianProcess::begin(const std::vector<Coordinates>& candidates) {
  columns_.assign(group_.size(), std::vector<float>(candidates.size()));
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    for (std::size_t c = 0; c < group_.size(); ++c) columns_[c][at] = candidates[at][c];
  }
  points_.clear();
  factor_ = Cholesky({}, jitter);
  projected_.clear();
  variance_.assign(candidates.size(), 1);
}

double GaussianProcess::distance(const Coordinates& a, const Coordinates& b) const {
  double sum = 0;
  for (std::size_t c = 0; c < group_.size(); ++c) sum += weight_[group_[c]] * (a[c] - b[c]) * (a[c] - b[c]);
  return sum;
}

std::vector<double> GaussianProcess::covariances_with(const Coordinates& point) const {
  std::vector<double> covariances;
  for (const Coordinates& other : points_) covariances.push_back(covariance(distance(point, other)));
  return covariances;
}

void GaussianProcess::observe(const Coordinates& point) {
  factor_.append(covariances_with(point), 1 + noise_ + jitter);
  const std::span<const double> row = factor_.row(points_.size());
  std::vector<float> projected(variance_.size(), 0);
  for (std::size_t c = 0; c < group_.size(); ++c) {
    const auto weight = static_cast<float>(weight_[group_[c]]);
    for (std::size_t at = 0; at < projected.size(); ++at) {
      const float difference = columns_[c][at] - point[c];
      projected[at] += weight * difference * difference;
    }
  }
  for (float& value : projected) value = covariance(value);
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const auto factor = static_cast<float>(row[k]);
    for (std::size_t at = 0; at < projected.size(); ++at) projected[at] -= factor * projected_[k][at];
  }
  const auto scale = static_cast<float>(1 / row.back());
  for (std::size_t at = 0; at < projected.size(); ++at) {
    projected[at] *= scale;
    variance_[at] -= projected[at] * projected[at];
  }
  points_.push_back(point);
  projected_.push_back(std::move(projected));
}

// Independent values of variance 1 that explain the observed ones.
std::vector<double> GaussianProcess::whitened(std::span<const double> values) const {
  std::vector<double> white(factor_.size(), 0);
  for (std::size_t i = 0; i < white.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const std::span<const double> row = factor_.row(i);
    white[i] = (values[i] - std::inner_product(row.begin(), row.end() - 1, white.begin(), 0.0)) / row[i];
  }
  return white;
}

GaussianProcess::Prediction GaussianProcess::predict(std::span<const double> values) const {
  const std::vector<double> white = whitened(values);
  Prediction prediction{std::vector<float>(variance_.size(), 0), variance_};
  double squares = 0;
  double known = 0;
  for (std::size_t i = 0; i < white.size(); ++i) {
    if (std::isnan(values[i])) continue;
    squares += white[i] * white[i];
    known += 1;
    const auto factor = static_cast<float>(white[i]);
    const std::vector<float>& projected = projected_[i];
    for (std::size_t at = 0; at < projected.size(); ++at) prediction.mean[at] += factor * projected[at];
  }
  const auto scale = static_cast<float>(std::max(0.05, squares / std::max(known, 1.0)));
  for (float& value : prediction.deviation) value = std::sqrt(std::max(1e-8F, value * scale));
  return prediction;
}

double GaussianProcess::mean(const Coordinates& point, std::span<const double> values) const {
  std::vector<double> row = covariances_with(point);
  factor_.solve_lower(row);
  const std::vector<double> white = whitened(values);
  return std::inner_product(row.begin(), row.end(), white.begin(), 0.0);
}

}  // namespace tunesmith
