// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/additive_model.h"

#include <utility>

#include "generator/cholesky.h"
#include "generator/values.h"

namespace tunesmith {
namespace {

// The error of a compile time that is predicted from 12 others is 35 %, with 120 variants of conv2d 13x13.
constexpr std::size_t fewest_examples = 12;

constexpr double penalty = 0.5;  // the same as half an example with no effect

}  // namespace

std::vector<std::string> AdditiveModel::terms(const Config& config) const {
  std::vector<std::string> terms = {""};
  for (std::size_t axis = 0; axis < config.axes().size(); ++axis)
    terms.push_back(config.axes()[axis].name + "=" + to_text(config.value(axis)));
  return terms;
}

void AdditiveModel::learn(const Config& config, double value) {
  std::vector<std::size_t> places;
  for (std::string& term : terms(config))
    places.push_back(columns_.emplace(std::move(term), columns_.size()).first->second);
  products_.resize(columns_.size());
  for (std::vector<double>& row : products_) row.resize(columns_.size());
  moments_.resize(columns_.size());
  for (const std::size_t i : places) {
    moments_[i] += value;
    for (const std::size_t j : places) ++products_[i][j];
  }
  ++examples_;
}

std::optional<double> AdditiveModel::predict(const Config& config) const {
  if (examples_ < fewest_examples) return std::nullopt;
  if (examples_ >= solve_at_) solve();
  double sum = 0;
  for (const std::string& term : terms(config)) {
    const auto found = columns_.find(term);
    if (found != columns_.end() && found->second < effects_.size()) sum += effects_[found->second];
  }
  return sum;
}

// Solves (products + penalty) effects = moments.
void AdditiveModel::solve() const {
  solve_at_ = examples_ + examples_ / 16 + 1;  // one more of many examples changes little
  std::vector<double> lower;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    lower.insert(lower.end(), products_[i].begin(),
                 products_[i].begin() + static_cast<std::ptrdiff_t>(i) + 1);
    lower.back() += i == 0 ? 1e-9 : penalty;
  }
  effects_ = moments_;
  Cholesky(std::move(lower)).solve(effects_);
}

}  // namespace tunesmith
