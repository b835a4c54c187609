// SPDX-License-Identifier: Apache-2.0
// A Gaussian process: what a smooth function is likely to be between points at which it was observed, and how
// sure that is. Pure arithmetic; knows nothing of kernels or times.
// Rasmussen, Williams: Gaussian Processes for Machine Learning, 2006, chapters 2 and 5.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "generator/cholesky.h"

namespace tunesmith {

/// A point: its coordinates, each about 0 to 1.
using Coordinates = std::vector<float>;

class GaussianProcess {
 public:
  /// Coordinates of the same group share a length scale.
  explicit GaussianProcess(std::vector<std::size_t> group_of_coordinate);

  /// Chooses the length scales and the noise that make these observations likely; mean 0.
  void fit(const std::vector<Coordinates>& points, std::span<const double> values);

  /// Forgets the observations; predictions are for these candidates from now on.
  void begin(const std::vector<Coordinates>& candidates);
  void observe(const Coordinates& point);
  std::size_t observed() const { return factor_.size(); }

  /// Of each candidate, from one value per observed point. Where a value is not known yet (NaN) the point is
  /// believed to be what the others say, which makes its neighbourhood less uncertain.
  struct Prediction {
    std::vector<float> mean;
    std::vector<float> deviation;
  };
  Prediction predict(std::span<const double> values) const;

  /// The same for one other point, without its deviation.
  double mean(const Coordinates& point, std::span<const double> values) const;

  /// In length scales, squared.
  double distance(const Coordinates& a, const Coordinates& b) const;

 private:
  class Fit;
  std::vector<double> whitened(std::span<const double> values) const;
  std::vector<double> covariances_with(const Coordinates& point) const;

  std::vector<std::size_t> group_;           // of each coordinate
  std::vector<double> weight_;               // of each group: 1 / length scale^2
  double noise_ = 0.01;                      // variance, where that of the function is 1
  std::vector<std::vector<float>> columns_;  // of the candidates: by coordinate
  std::vector<Coordinates> points_;
  Cholesky factor_;                            // of the observed points' covariances
  std::vector<std::vector<float>> projected_;  // the factor's inverse times the covariances, by observation
  std::vector<float> variance_;
};

}  // namespace tunesmith
