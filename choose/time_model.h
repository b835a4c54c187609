// SPDX-License-Identifier: Apache-2.0
// Estimates how much slower than the best a variant is on a problem that was not measured: a Gaussian process
// for each variant over the problems where it was measured (Rasmussen, Williams: Gaussian Processes for
// Machine Learning, 2006, chapters 2 and 5). A problem is a point whose coordinates determine times; where a
// table's weights say so, what the variant launches there (launch_shape.h) are further coordinates. Once
// solved, it is pure arithmetic; it is deterministic.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choose/launch_shape.h"
#include "choose/timing_table.h"
#include "generator/cholesky.h"
#include "generator/op.h"

namespace tunesmith {

class TimeModel {
 public:
  explicit TimeModel(const Op& op, const Weights& weights = {});

  std::size_t add_problem(const Problem& problem);  ///< adds or finds the problem; returns its row
  /// `is_guess`: its config is made for each problem (choose/nearest.h).
  std::size_t add_variant(bool is_guess = false);
  /// Adds a median in microseconds. The least time of a row counts as the best that its problem allows. A
  /// factor is the result of solve_table() for the same times: these are not solved again, and additional
  /// times are solved as corrections to them.
  void add_time(std::size_t variant, std::size_t row, double us, std::optional<double> factor = {},
                const LaunchShape& launch = {});
  void add_best(std::size_t row, double us,
                std::optional<double> factor = {});  ///< the time of a variant that is not in the model

  /// Fits all weights to the times: each length scale in turn, to make the model's predictions of left-out
  /// times likely (leave one out). Those of launches are fitted if `of_launches`, beginning with given
  /// weights of the others; else they are 0.
  Weights fit(bool of_launches = false);
  /// Solves the model. Call it after the last add_*() and before the functions below. At most `most` times
  /// without a factor are used per variant: a cube of 160 takes less than a millisecond, one of 1000 some 60.
  void solve(std::size_t most = 160, unsigned threads = 1);

  struct Estimate {
    double slowdown = 0;   ///< logarithm of time / best time on the problem
    double deviation = 0;  ///< standard deviation of the slowdown; 0 if it was measured
    /// The value by which variants are compared: an uncertain variant must promise more.
    double cautious() const { return slowdown + caution * deviation; }
    static constexpr double caution = 0.5;
  };
  struct Estimates {
    std::vector<Estimate> of;       ///< by variant
    double best_us = 0;             ///< time of the best variant, in microseconds; 0: nothing is known
    std::vector<std::size_t> rows;  ///< rows of this same problem, for any launch numbers
    /// By variant: true if it has a time on a problem of this one's kind (Op::kind). Without one its estimate
    /// is that of an unknown variant.
    std::vector<bool> is_known;
    std::vector<float>
        likeness;  ///< by row: 1 for the same problem, near 0 if the row says nothing about this one
    // For estimate_of():
    std::size_t kind = 0;
    std::vector<float> squared_distance;  // by row; empty if launches do not matter
  };
  /// Where launches matter, each variant counts as launching what it does on the nearest problem that it has
  /// a time on or, if that promises more, on the nearest with another launch.
  Estimates estimate(const Problem& problem) const;
  bool uses_launches() const { return uses_launches_; }
  /// Returns the variant's estimate if this is what it launches; `all` are those of the problem.
  Estimate estimate_of(std::size_t variant, const Estimates& all, const LaunchShape& launch) const;

  struct MeasuredTime {
    const Problem* problem = nullptr;
    double us = 0, best_us = 0;
    float likeness = 0;
  };
  /// Returns at most `most` problems of this one's kind on which a variant was measured, the most similar
  /// first.
  std::vector<MeasuredTime> nearest(std::size_t variant, const Problem& problem, std::size_t most) const;

  /// Returns, for each row with at least two variants, the slowdown (against the row's best) of the variant
  /// that would be chosen if the row were not known.
  std::vector<double> left_out() const;

  std::size_t variants() const { return variants_.size(); }
  std::size_t rows() const { return problems_.size(); }
  std::size_t times(std::size_t variant) const { return variants_[variant].times.size(); }

  // ---- Results of solve(), for a table
  double factor(std::size_t variant, std::size_t row) const;  ///< 0 where there is no time
  double best_factor(std::size_t row) const { return known_[row].factor; }
  double spread() const { return spread_; }

 private:
  struct RowValue {  // a value of a row
    std::size_t row = 0;
    double us = 0;
    double value = 0;   // logarithm of a slowdown, or of the best time relative to cost()
    double factor = 0;  // inverse covariance times (value - mean)
    bool is_solved = false;
    LaunchShape launch = {};
    void take(std::optional<double> given);  // the first given factor counts
  };
  struct Variant {
    std::vector<RowValue> times;
    bool is_guess = false;
    double mean = 0;
  };
  struct Inverse {
    std::vector<double> alpha;     // inverse covariance times values
    std::vector<double> diagonal;  // the diagonal of the inverse
  };

  void name_features(const Problem& problem);
  std::size_t kinds() const { return std::max<std::size_t>(kinds_.size(), 1); }
  std::size_t kind_of(const Problem& problem) const;
  std::vector<float> coordinates(const Problem& problem) const;
  struct Place {  // the coordinates of a time
    std::size_t row;
    LaunchShape launch = {};                         // none if launches do not matter
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  };
  Place place_of(const RowValue& one) const;
  float squared_distance(const std::vector<float>& a, const std::vector<float>& b) const;
  float squared_distance(const LaunchShape& a, const LaunchShape& b) const;
  float likeness(const Place& a, const Place& b) const;
  std::vector<float> squared_distance_to_rows(const std::vector<float>& at) const;
  std::vector<float> likeness_to_rows(const std::vector<float>& at) const;
  Estimate estimated_at(std::size_t variant, const Estimates& all, const LaunchShape& launch) const;
  Estimate estimated(const Variant& one, float sum, float nearest) const;
  std::optional<std::size_t> find(const Problem& problem, const std::vector<float>& at) const;
  double cost(const Problem& problem) const;
  struct CovarianceFactor {  // the factored covariances of these times; most variants are known on the same
                             // rows
    std::vector<Place> places;
    Cholesky factor;
  };
  struct FactoredRows {
    Cholesky factor;
    std::vector<double> inverse_diagonal;
  };
  using Inverses = std::map<std::vector<Place>, FactoredRows>;  // many variants are known on the same rows
  Cholesky factored(std::span<const Place> places) const;
  std::vector<std::vector<std::size_t>> by_kind(std::span<const RowValue> known) const;
  Inverse invert(std::span<const RowValue> known, double mean) const;
  Inverse invert(std::span<const RowValue> known, double mean, Inverses& made) const;
  double surprise() const;
  void begin();
  static bool any_solved(std::span<const RowValue> known);
  void solve_rest(std::vector<RowValue>& known, double mean, std::size_t most,
                  std::vector<CovarianceFactor>& last) const;
  void feature_major();
  void lay_out();

  const Op* op_;
  Weights given_;
  std::vector<std::string> features_;  // named when the first problem is added; the categorical ones last
  std::size_t categorical_ = 0;
  std::vector<float> weight_;
  std::vector<std::string>
      kinds_;  // of the rows, by number; the number is the last coordinate if there are kinds
  std::vector<std::size_t> row_kind_;
  std::array<float, launch_numbers_in_shape> launch_weight_ = {};
  bool uses_launches_ = false;
  double noise_ = 0.1;
  std::vector<Problem> problems_;
  std::vector<std::vector<float>> at_;
  std::vector<RowValue> known_;  // by row: its best time
  std::vector<Variant> variants_;
  double spread_ = 0.3;  // standard deviation of an unknown slowdown
  double best_mean_ = 0;

  // For estimates: the values of each feature side by side; and for variants with many times, the factors of
  // 16 variants side by side, row by row. A factor is 0 only if there is no time.
  std::vector<float> feature_major_;
  std::vector<std::size_t> dense_, sparse_;  // variants; all are sparse if launches matter
  std::vector<float> factors_;               // factors of the variants in dense_
  std::vector<double> best_factors_;         // by row
  std::vector<std::vector<bool>> knows_;     // by variant and kind: whether it has a time
  struct LaunchedTime {
    float factor;
    std::uint32_t row;
    LaunchShape launch;
  };
  std::vector<std::vector<LaunchedTime>> launched_;  // by variant and kind, if launches matter
};

/// Makes a model of the table's times, not yet solved.
TimeModel model_of(const Op& op, const TimingTable& table, const Weights& weights = {});

/// Fits the weights of a table's model and writes them into it. Launches matter to it only if that makes
/// choices from its times better, each anchor left out. Its factors are forgotten.
void fit_table(const Op& op, const DeviceFacts& device, TimingTable& table);

/// True if the weights were fitted for this version's model.
bool is_fitted(const Weights& weights);

/// A hash of everything that a table's factors follow from: its times, weights and problems, the launch
/// shapes that are stored beside them, this version's op, and the version of the model. Never 0.
std::uint64_t solution_key(const Op& op, const TimingTable& table);

/// Solves the table's model for all its times: writes the factors, their launch shapes and their key. Takes
/// seconds for a table of a thousand anchors.
void solve_table(const Op& op, const DeviceFacts& device, TimingTable& table, unsigned threads = 1);

}  // namespace tunesmith
