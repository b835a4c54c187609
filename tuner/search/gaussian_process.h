// SPDX-License-Identifier: Apache-2.0
// A Gaussian process: predicts a smooth function between points at which it was observed, and the
// prediction's uncertainty. Pure arithmetic; knows nothing of kernels or times.
// Rasmussen, Williams: Gaussian Processes for Machine Learning, 2006, chapters 2 and 5.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "generator/cholesky.h"

namespace tunesmith {

/// The coordinates of a point, each about 0 to 1.
using Coordinates = std::vector<float>;

class GaussianProcess {
 public:
  /// Coordinates of the same group share a length scale.
  explicit GaussianProcess(std::vector<std::size_t> group_of_coordinate);

  /// Chooses the length scales and the noise that make these observations likely; the mean is 0.
  void fit(const std::vector<Coordinates>& points, std::span<const double> values);

  /// Forgets the observations; predictions are for these candidates from now on.
  void begin(const std::vector<Coordinates>& candidates);
  void observe(const Coordinates& point);
  std::size_t observed() const { return factor_.size(); }

  /// Predicts each candidate, from one value per observed point. A point without a known value (NaN) is
  /// believed to have the value that the others predict, which makes its neighbourhood less uncertain.
  struct Prediction {
    std::vector<float> mean;
    std::vector<float> deviation;
  };
  Prediction predict(std::span<const double> values) const;

  /// The prediction of one other point, without its deviation.
  double mean(const Coordinates& point, std::span<const double> values) const;

  /// The squared distance, in length scales.
  double distance(const Coordinates& a, const Coordinates& b) const;

 private:
  class Fit;
  std::vector<double> whitened(std::span<const double> values) const;
  std::vector<double> covariances_with(const Coordinates& point) const;

  std::vector<std::size_t> group_;           // of each coordinate
  std::vector<double> weight_;               // of each group: 1 / length scale^2
  double noise_ = 0.01;                      // variance, relative to that of the function
  std::vector<std::vector<float>> columns_;  // of the candidates: by coordinate
  std::vector<Coordinates> points_;
  Cholesky factor_;                            // of the observed points' covariances
  std::vector<std::vector<float>> projected_;  // the factor's inverse times the covariances, by observation
  std::vector<float> variance_;
};

}  // namespace tunesmith
