// SPDX-License-Identifier: Apache-2.0
// How much slower than the best a variant is likely to be on a problem that was not measured: a Gaussian
// process for each variant over the problems where it was (Rasmussen, Williams: Gaussian Processes for
// Machine Learning, 2006, chapters 2 and 5). A problem is a point; its coordinates are what times depend on.
// Pure arithmetic once it is solved; deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choose/timing_table.h"
#include "generator/cholesky.h"
#include "generator/op.h"

namespace tunesmith {

class TimeModel {
 public:
  explicit TimeModel(const Op& op, const Weights& weights = {});

  std::size_t add_problem(const Problem& problem);  ///< or finds it: its row
  std::size_t add_variant();
  /// Medians in microseconds. The least of a row's counts as the best that its problem allows. A factor is
  /// what solve_table() found for the same times: those are not solved again, and what is known beside them
  /// corrects them.
  void add_time(std::size_t variant, std::size_t row, double us, std::optional<double> factor = {});
  void add_best(std::size_t row, double us,
                std::optional<double> factor = {});  ///< a variant's that is not here

  /// Fits all weights to the times: each length scale in turn, so that what the model says of a time that it
  /// does not know is likely (leave one out).
  Weights fit();
  /// After the last add_; before what is below. Of what has no factor so many times of a variant are used at
  /// most: a cube of 160 takes less than a millisecond, one of 1000 some 60.
  void solve(std::size_t most = 160, unsigned threads = 1);

  struct Estimate {
    double slowdown = 0;   ///< logarithm of time / best time on the problem
    double deviation = 0;  ///< standard, of that; 0 where it was measured
    /// By which variants are compared: one that is not known well must promise more.
    double cautious() const { return slowdown + caution * deviation; }
    static constexpr double caution = 0.5;
  };
  struct Estimates {
    std::vector<Estimate> of;       ///< by variant
    double best_us = 0;             ///< of the best variant, in microseconds; 0: nothing is known
    std::vector<std::size_t> rows;  ///< of this very problem, whatever launches were given
    std::vector<float> likeness;  ///< by row: 1 of the same problem, near 0 where it says nothing of this one
  };
  Estimates estimate(const Problem& problem) const;

  struct MeasuredTime {
    const Problem* problem = nullptr;
    double us = 0, best_us = 0;
    float likeness = 0;
  };
  /// Where a variant was measured, the problems that are most like this one first; at most so many.
  std::vector<MeasuredTime> nearest(std::size_t variant, const Problem& problem, std::size_t most) const;

  /// For each row with at least two variants: the slowdown of the variant that would be chosen were the row
  /// not known (what is left of it against the row's best).
  std::vector<double> left_out() const;

  std::size_t variants() const { return variants_.size(); }
  std::size_t rows() const { return problems_.size(); }
  std::size_t times(std::size_t variant) const { return variants_[variant].times.size(); }

  // ---- What solve() found, for a table
  double factor(std::size_t variant, std::size_t row) const;  ///< 0 where there is no time
  double best_factor(std::size_t row) const { return known_[row].factor; }
  double spread() const { return spread_; }

 private:
  struct RowValue {  // a value of a row
    std::size_t row = 0;
    double us = 0;
    double value = 0;   // logarithm of a slowdown, or of the best time beside cost()
    double factor = 0;  // inverse covariance times (value - mean)
    bool is_solved = false;
    void take(std::optional<double> given);  // the first that is given counts
  };
  struct Variant {
    std::vector<RowValue> times;
    double mean = 0;
  };
  struct Inverse {
    std::vector<double> alpha;     // inverse covariance times values
    std::vector<double> diagonal;  // of the inverse
  };

  void name_features(const Problem& problem);
  std::vector<float> coordinates(const Problem& problem) const;
  float likeness(const std::vector<float>& a, const std::vector<float>& b) const;
  std::vector<float> likeness_to_rows(const std::vector<float>& at) const;
  std::optional<std::size_t> find(const Problem& problem, const std::vector<float>& at) const;
  double cost(const Problem& problem) const;
  struct CovarianceFactor {  // of these rows' covariances: variants are mostly known on the same rows
    std::vector<std::size_t> rows;
    Cholesky factor;
  };
  Cholesky factored(std::span<const std::size_t> rows) const;
  Inverse invert(std::span<const RowValue> known, double mean) const;
  double surprise() const;
  void begin();
  static bool any_solved(std::span<const RowValue> known);
  void solve_rest(std::vector<RowValue>& known, double mean, std::size_t most, CovarianceFactor& last) const;
  void feature_major();
  void lay_out();

  const Op* op_;
  Weights given_;
  std::vector<std::string> features_;  // named with the first problem; the categorical ones last
  std::size_t categorical_ = 0;
  std::vector<float> weight_;
  double noise_ = 0.1;
  std::vector<Problem> problems_;
  std::vector<std::vector<float>> at_;
  std::vector<RowValue> known_;  // by row: of its best time
  std::vector<Variant> variants_;
  double spread_ = 0.3;  // standard deviation of a slowdown that nothing is known of
  double best_mean_ = 0;

  // For estimates: a feature's values side by side; and of variants with many times, 16 side by side, row by
  // row, their factors, which are 0 only where there is no time.
  std::vector<float> feature_major_;
  std::vector<std::size_t> dense_, sparse_;  // variants
  std::vector<float> factors_;               // of those in dense_
  std::vector<double> best_factors_;         // by row
};

/// The table's times, not yet solved.
TimeModel model_of(const Op& op, const TimingTable& table, const Weights& weights = {});

/// Fits the weights of a table's model and writes them into it. Its factors are forgotten.
void fit_table(const Op& op, TimingTable& table);

/// Whether that was done for this version's model.
bool is_fitted(const Weights& weights);

/// What a table's factors follow from: its times, weights and problems, what this version's op makes of them,
/// and the version of the model. Never 0.
std::uint64_t solution_key(const Op& op, const TimingTable& table);

/// Solves the table's model for all its times: its factors, and the key that they belong to. Takes seconds
/// for a table of a thousand anchors.
void solve_table(const Op& op, TimingTable& table, unsigned threads = 1);

}  // namespace tunesmith
