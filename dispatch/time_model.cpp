#include "dispatch/time_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "generator/error.h"

namespace tunesmith {
namespace {

// Grows with each change of the model that gives other factors. In tables it is the weight "model".
constexpr double model_version = 3;

constexpr float initial_weight = 1.0f / 16;
constexpr float initial_word_weight = 0.5f;
constexpr double most_slowdown = 2.1;   // of what is far too slow it does not matter how much
constexpr double usual_slowdown = 0.4;  // of a variant that was tuned for another problem
constexpr double usual_count = 2;       // as if that had been seen so often

// Of numbers from -80 to 0, to 2 parts in 10^7, exact for 0: without a call or a branch, so that loops of it
// become vectors.
inline __attribute__((always_inline)) float exponential(float x) {
  constexpr float to_octaves = 1.44269504f;
  constexpr float ln2_high = 0.693359375f;  // few digits: its product with a small whole number is exact
  constexpr float ln2_low = -2.12194440e-4f;
  constexpr float whole = 12582912;  // 1.5 * 2^23: adding it rounds to a whole number, in the lowest bits
  const float shifted = x * to_octaves + whole;
  const float octaves = shifted - whole;
  const float rest = (x - octaves * ln2_high) - octaves * ln2_low;
  const float series =
      ((((1.0f / 720 * rest + 1.0f / 120) * rest + 1.0f / 24) * rest + 1.0f / 6) * rest + 0.5f) * rest *
          rest +
      rest + 1;
  return series * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u);
}

// Half of it smooth, half of it with kinks, such as times have where a kernel's tiles begin to fill the
// device.
inline __attribute__((always_inline)) float covariance(float squared_distance) {
  return (exponential(-squared_distance / 2) + exponential(-std::sqrt(squared_distance))) / 2;
}

// The two loops over all rows are compiled twice for x86-64, and most processors have the wider vectors. Both
// give the same bits: a lane is a row or a variant, nothing is added across lanes, and no product is fused
// with a sum.
#if defined(__x86_64__)
#define TUNESMITH_WIDE __attribute__((target("avx2")))
bool has_wide() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#else
#define TUNESMITH_WIDE
bool has_wide() { return false; }
#endif
#define TUNESMITH_IN_BOTH inline __attribute__((always_inline))

// Squared distances to `here`, a feature after the other, become covariances; what is far away counts as 0,
// without an exponential.
struct Distances {
  const float* columns;  // by feature, then by row
  std::size_t rows, numbers;
  std::span<const float> weights, here;
};
TUNESMITH_IN_BOTH void covariances_of(const Distances& of, float* __restrict__ like,
                                      float* __restrict__ squared) {
  constexpr float far = 60;
  const std::size_t rows = of.rows;
  for (std::size_t f = 0; f < of.here.size(); ++f) {
    const float* const __restrict__ column = of.columns + f * rows;
    const float weight = of.weights[f];
    const float here = of.here[f];
    if (f < of.numbers) {
      for (std::size_t row = 0; row < rows; ++row) {
        const float difference = column[row] - here;
        like[row] += weight * difference * difference;
      }
    } else {
      for (std::size_t row = 0; row < rows; ++row) like[row] += column[row] == here ? 0 : weight;
    }
  }
  // Loops of one thing each: those become vectors.
  for (std::size_t row = 0; row < rows; ++row) squared[row] = like[row] < far ? like[row] : far;
  for (std::size_t row = 0; row < rows; ++row) like[row] = covariance(squared[row]);
  for (std::size_t row = 0; row < rows; ++row) like[row] = squared[row] < far ? like[row] : 0;
}
TUNESMITH_WIDE void covariances_wide(const Distances& of, float* like, float* squared) {
  covariances_of(of, like, squared);
}
void covariances(const Distances& of, float* like, float* squared) {
  if (has_wide()) return covariances_wide(of, like, squared);
  covariances_of(of, like, squared);
}

// Compilers do not see by themselves that this is a vector.
constexpr std::size_t lanes = 8;
using Lanes = float __attribute__((vector_size(4 * lanes)));

// Of variants side by side, `lanes` in a group and `groups` of them at once, since each addition waits for
// the one before: the sum of likeness times factor, and the likeness of the nearest row with a factor.
template <std::size_t groups>
TUNESMITH_IN_BOTH void sums_of(const float* factors, const float* like, std::size_t rows, float* sums,
                               float* nearest) {
  std::array<Lanes, groups> sum = {};
  std::array<Lanes, groups> most = {};
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t g = 0; g < groups; ++g) {
      Lanes factor;
      std::memcpy(&factor, factors + (g * rows + row) * lanes, sizeof factor);
      sum[g] += like[row] * factor;
      const Lanes known = factor != 0 ? like[row] - Lanes{} : Lanes{};
      most[g] = most[g] < known ? known : most[g];
    }
  }
  std::memcpy(sums, sum.data(), sizeof sum);
  std::memcpy(nearest, most.data(), sizeof most);
}
// As many groups at once as fit into sixteen registers, then the rest.
template <std::size_t at_once = 6>
TUNESMITH_IN_BOTH void all_sums_of(std::size_t groups, const float* factors, const float* like,
                                   std::size_t rows, float* sums, float* nearest) {
  for (; groups >= at_once; groups -= at_once) {
    sums_of<at_once>(factors, like, rows, sums, nearest);
    factors += at_once * lanes * rows;
    sums += at_once * lanes;
    nearest += at_once * lanes;
  }
  if constexpr (at_once > 1) all_sums_of<at_once - 1>(groups, factors, like, rows, sums, nearest);
}
TUNESMITH_WIDE void sums_wide(std::size_t groups, const float* factors, const float* like, std::size_t rows,
                              float* sums, float* nearest) {
  all_sums_of(groups, factors, like, rows, sums, nearest);
}
void sums(std::size_t groups, const float* factors, const float* like, std::size_t rows, float* sums,
          float* nearest) {
  if (has_wide()) return sums_wide(groups, factors, like, rows, sums, nearest);
  all_sums_of(groups, factors, like, rows, sums, nearest);
}

// The sum of likeness times factor over all rows, each fourth one apart from the others.
using Quarters = double __attribute__((vector_size(32)));
double total(const float* like, const double* factors, std::size_t rows, double start) {
  Quarters sum = {start};
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const Quarters likeness = {like[row], like[row + 1], like[row + 2], like[row + 3]};
    Quarters factor;
    std::memcpy(&factor, factors + row, sizeof factor);
    sum += likeness * factor;
  }
  std::array<double, 4> parts;
  std::memcpy(parts.data(), &sum, sizeof sum);
  for (; row < rows; ++row) parts[row % 4] += static_cast<double>(like[row]) * factors[row];
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

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
  return covariance(std::min(squared, 160.0f));
}

std::vector<float> TimeModel::likeness_to_rows(const std::vector<float>& at) const {
  std::vector<float> like(at_.size(), 0.0f);
  std::vector<float> squared(at_.size());
  covariances({.columns = feature_major_.data(),
               .rows = at_.size(),
               .numbers = features_.size() - words_,
               .weights = weight_,
               .here = at},
              like.data(), squared.data());
  return like;
}

// A table has hundreds of problems, so texts are compared only where all numbers are the same.
std::optional<std::size_t> TimeModel::find(const Problem& problem, const std::vector<float>& at) const {
  for (std::size_t row = 0; row < at_.size(); ++row)
    if (at_[row] == at && problems_[row] == problem) return row;
  return std::nullopt;
}

std::size_t TimeModel::add_problem(const Problem& problem) {
  if (features_.empty()) name_features(problem);
  std::vector<float> at = coordinates(problem);
  if (const auto known = find(problem, at)) return *known;
  problems_.push_back(problem);
  at_.push_back(std::move(at));
  known_.push_back({.row = problems_.size() - 1});
  return problems_.size() - 1;
}

std::size_t TimeModel::add_variant() {
  variants_.emplace_back();
  return variants_.size() - 1;
}

void TimeModel::add_best(std::size_t row, double us, std::optional<double> factor) {
  Known& best = known_[row];
  if (us > 0 && (best.us == 0 || us < best.us)) best.us = us;
  best.take(factor);
}

void TimeModel::Known::take(std::optional<double> given) {
  if (!given || is_solved) return;
  factor = *given;
  is_solved = true;
}

void TimeModel::add_time(std::size_t variant, std::size_t row, double us, std::optional<double> factor) {
  if (us <= 0) return;
  add_best(row, us);
  std::vector<Known>& times = variants_[variant].times;
  auto known = std::find_if(times.begin(), times.end(), [&](const Known& time) { return time.row == row; });
  if (known == times.end()) known = times.insert(known, {.row = row, .us = us});
  known->us = std::min(known->us, us);
  known->take(factor);
}

// Of one row of covariances after the other: Cholesky, then the inverse's diagonal and its product with the
// values.
TimeModel::Inverse TimeModel::invert(std::span<const Known> known, double mean) const {
  const std::size_t n = known.size();
  std::vector<double> l(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const float* const at = at_[known[i].row].data();
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1 + noise_ : static_cast<double>(likeness(at, at_[known[j].row].data()));
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / l[j * n + j];
    }
  }
  // The inverse of the factor, in place of it: row i becomes minus its part left of the diagonal, times the
  // rows above, which are inverted already.
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t k = 0; k < i; ++k) {
      const double left = l[i * n + k];
      for (std::size_t j = 0; j <= k; ++j) row[j] -= left * l[k * n + j];
    }
    const double diagonal = 1 / l[i * n + i];
    for (std::size_t j = 0; j < i; ++j) l[i * n + j] = row[j] * diagonal;
    l[i * n + i] = diagonal;
  }
  Inverse inverse{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  for (std::size_t i = 0; i < n; ++i) {
    double projected = 0;
    for (std::size_t j = 0; j <= i; ++j) projected += l[i * n + j] * (known[j].value - mean);
    for (std::size_t j = 0; j <= i; ++j) {
      inverse.alpha[j] += l[i * n + j] * projected;
      inverse.diagonal[j] += l[i * n + j] * l[i * n + j];
    }
  }
  return inverse;
}

bool TimeModel::any_solved(std::span<const Known> known) {
  return std::any_of(known.begin(), known.end(), [](const Known& one) { return one.is_solved; });
}

// Values and means, which do not depend on weights. A mean is of what was solved with it, where there is any.
void TimeModel::begin() {
  const auto mean_of = [&](const std::vector<Known>& known, double usual, double count) {
    const bool solved = any_solved(known);
    double sum = usual * count;
    for (const Known& one : known) {
      if (one.us == 0 || (solved && !one.is_solved)) continue;
      sum += one.value;
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  };
  for (Known& best : known_)
    if (best.us > 0) best.value = std::log(best.us / cost(problems_[best.row]));
  best_mean_ = mean_of(known_, 0, 0);
  for (Variant& one : variants_) {
    for (Known& time : one.times)
      time.value = std::min(std::log(time.us / known_[time.row].us), most_slowdown);
    one.mean = mean_of(one.times, usual_slowdown, usual_count);
  }
}

// Twice the negative logarithm of the probability of all slowdowns, each left out in turn. A part of the rows
// is enough for a few weights.
double TimeModel::surprise() const {
  constexpr std::size_t most_rows = 96;
  double squares = 0;
  double logs = 0;
  double count = 0;
  std::vector<Known> part;
  for (const Variant& one : variants_) {
    const std::size_t n = one.times.size();
    if (n < 4) continue;
    const std::size_t taken = std::min(n, most_rows);
    part.clear();
    for (std::size_t i = 0; i < taken; ++i) part.push_back(one.times[i * n / taken]);
    const Inverse inverse = invert(part, one.mean);
    for (std::size_t i = 0; i < taken; ++i) {
      squares += inverse.alpha[i] * inverse.alpha[i] / inverse.diagonal[i];
      logs -= std::log(inverse.diagonal[i]);
    }
    count += static_cast<double>(taken);
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

// Factors of what has none. Where others are solved, these only correct them: their values are what the
// solved ones leave unsaid.
void TimeModel::solve_rest(std::vector<Known>& known, double mean, std::size_t most) const {
  std::vector<Known> rest;
  const bool is_correction = any_solved(known);
  for (Known& one : known) {
    if (one.is_solved || one.us == 0 || rest.size() == most) continue;
    rest.push_back(one);
    if (!is_correction) continue;
    double said = mean;
    for (const Known& solved : known) {
      if (solved.is_solved)
        said += solved.factor * static_cast<double>(likeness(at_[one.row].data(), at_[solved.row].data()));
    }
    rest.back().value = mean + one.value - said;
  }
  const Inverse inverse = invert(rest, mean);
  std::size_t i = 0;
  for (Known& one : known)
    if (i < rest.size() && one.row == rest[i].row) one.factor = inverse.alpha[i++];
}

void TimeModel::solve(std::size_t most) {
  feature_major();
  begin();
  if (!is_of_its_times()) {  // of another version's features, or changed by hand
    const auto forget = [](std::vector<Known>& known) {
      for (Known& one : known) {
        one.factor = 0;
        one.is_solved = false;
      }
    };
    forget(known_);
    for (Variant& one : variants_) forget(one.times);
    begin();
  }
  double squares = 0;
  double count = 0;
  const auto given = given_.find("spread");
  for (Variant& one : variants_) {
    solve_rest(one.times, one.mean, most);
    if (given != given_.end() || one.times.size() < 4) continue;
    const std::span<const Known> part(one.times.data(), std::min(one.times.size(), most));
    const Inverse inverse = invert(part, one.mean);
    for (std::size_t i = 0; i < part.size(); ++i)
      squares += inverse.alpha[i] * inverse.alpha[i] / inverse.diagonal[i];
    count += static_cast<double>(part.size());
  }
  spread_ = given != given_.end() ? given->second : count == 0 ? usual_slowdown : std::sqrt(squares / count);
  solve_rest(known_, best_mean_, most);
  lay_out();
}

void TimeModel::feature_major() {
  const std::size_t rows = at_.size();
  feature_major_.resize(features_.size() * rows);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t f = 0; f < features_.size(); ++f) feature_major_[f * rows + row] = at_[row][f];
}

void TimeModel::lay_out() {
  const std::size_t rows = at_.size();
  best_factors_.clear();
  for (const Known& best : known_) best_factors_.push_back(best.factor);
  dense_.clear();
  sparse_.clear();
  for (std::size_t v = 0; v < variants_.size(); ++v)
    (8 * variants_[v].times.size() > rows ? dense_ : sparse_).push_back(v);
  factors_.assign((dense_.size() + lanes - 1) / lanes * lanes * rows, 0);
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    for (const Known& time : variants_[dense_[i]].times) {
      const auto factor = static_cast<float>(time.factor);
      factors_[(i / lanes * rows + time.row) * lanes + i % lanes] =
          factor != 0 ? factor : std::numeric_limits<float>::min();
    }
  }
}

double TimeModel::factor(std::size_t variant, std::size_t row) const {
  for (const Known& time : variants_[variant].times)
    if (time.row == row) return time.factor;
  return 0;
}

// Of rows at equal distances, by how much what the factors say differs from the values, of best times too.
std::vector<double> TimeModel::misfits(std::size_t most_rows) const {
  std::vector<double> found;
  const std::size_t step = std::max<std::size_t>(1, at_.size() / std::max<std::size_t>(1, most_rows));
  for (std::size_t row = 0; row < at_.size(); row += step) {
    const std::vector<float> like = likeness_to_rows(at_[row]);
    const auto add = [&](const std::vector<Known>& known, double mean) {
      const bool some = any_solved(known);
      const auto counts = [&](const Known& one) { return one.us > 0 && (one.is_solved || !some); };
      const auto own = std::find_if(known.begin(), known.end(),
                                    [&](const Known& one) { return one.row == row && counts(one); });
      if (own == known.end()) return;
      double said = mean + noise_ * own->factor;
      for (const Known& one : known)
        if (counts(one)) said += one.factor * static_cast<double>(like[one.row]);
      found.push_back(std::abs(said - own->value));
    };
    for (const Variant& one : variants_) add(one.times, one.mean);
    add(known_, best_mean_);
  }
  return found;
}

double TimeModel::misfit() const {
  const std::vector<double> all = misfits(at_.size());
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

// Nine of ten: on single rows a winner from elsewhere may have changed the best time.
bool TimeModel::is_of_its_times() const {
  constexpr std::size_t rows = 12;
  constexpr double most = 0.1;  // a logarithm
  if (!any_solved(known_)) return true;
  std::vector<double> some = misfits(rows);
  const auto nearly_all = some.begin() + static_cast<std::ptrdiff_t>(some.size() * 9 / 10);
  std::nth_element(some.begin(), nearly_all, some.end());
  return nearly_all == some.end() || *nearly_all <= most;
}

TimeModel::Estimates TimeModel::estimate(const Problem& problem) const {
  Estimates estimates;
  const std::size_t variants = variants_.size();
  estimates.of.reserve(variants);
  for (const Variant& one : variants_) estimates.of.push_back({one.mean, spread_});
  if (problems_.empty()) return estimates;
  const std::vector<float> at = coordinates(problem);
  estimates.likeness = likeness_to_rows(at);
  const float* const like = estimates.likeness.data();
  const std::size_t rows = problems_.size();
  const auto set = [&](std::size_t v, float sum, float nearest) {
    const double known = static_cast<double>(nearest * nearest) / (1 + noise_);
    estimates.of[v] = {std::max(0.0, variants_[v].mean + static_cast<double>(sum)),
                       spread_ * std::sqrt(1 - known)};
  };
  const std::size_t groups = (dense_.size() + lanes - 1) / lanes;
  std::vector<float> sum(2 * groups * lanes);
  float* const nearest_of = sum.data() + groups * lanes;
  sums(groups, factors_.data(), like, rows, sum.data(), nearest_of);
  for (std::size_t i = 0; i < dense_.size(); ++i) set(dense_[i], sum[i], nearest_of[i]);
  for (const std::size_t v : sparse_) {
    float added = 0, nearest = 0;
    for (const Known& time : variants_[v].times) {
      added += like[time.row] * static_cast<float>(time.factor);
      nearest = std::max(nearest, like[time.row]);
    }
    set(v, added, nearest);
  }
  // What was measured on it, whatever launches were given: the mean, where they were given several numbers.
  std::vector<double> count;
  int same = 0;  // counted without a branch, since mostly there is none
  for (std::size_t row = 0; row < rows; ++row) same += like[row] == 1 ? 1 : 0;
  for (std::size_t row = 0; same > 0 && row < rows; ++row) {
    if (like[row] != 1 || at_[row] != at || !same_until_launch(*op_, problems_[row], problem)) continue;
    count.resize(variants, 0.0);
    estimates.rows.push_back(row);
    const double least = known_[row].us;
    if (estimates.best_us == 0 || (least > 0 && least < estimates.best_us)) estimates.best_us = least;
    for (std::size_t v = 0; v < variants; ++v) {
      for (const Known& time : variants_[v].times) {
        if (time.row != row) continue;
        const double others = count[v] * estimates.of[v].slowdown;
        count[v] += 1;
        estimates.of[v] = {(others + std::log(time.us / least)) / count[v], 0};
      }
    }
  }
  if (estimates.best_us == 0)
    estimates.best_us =
        known_.empty() ? 0 : cost(problem) * std::exp(total(like, best_factors_.data(), rows, best_mean_));
  return estimates;
}

std::vector<TimeModel::Measured> TimeModel::nearest(std::size_t variant, const Problem& problem,
                                                    std::size_t most) const {
  const std::vector<float> like = likeness_to_rows(coordinates(problem));
  const Variant& one = variants_[variant];
  std::vector<Measured> list;
  for (const Known& time : one.times) {
    list.push_back({&problems_[time.row], time.us, known_[time.row].us, like[time.row]});
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
    const Inverse inverse = invert(one.times, one.mean);
    for (std::size_t i = 0; i < one.times.size(); ++i) {
      const Known& time = one.times[i];
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

void fit_table(const Op& op, AnchorTable& table) {
  table.weights = model_of(op, table).fit();
  TimeModel model = model_of(op, table, table.weights);
  model.solve(table.anchors.size());
  table.weights["spread"] = model.spread();
  table.weights["model"] = model_version;
  for (AnchorTable::Anchor& anchor : table.anchors) {
    const std::size_t row = model.add_problem(complete_problem(op, anchor.problem));
    anchor.best_factor = model.best_factor(row);
    anchor.factor.clear();
    for (std::size_t v = 0; v < table.variants.size(); ++v) anchor.factor.push_back(model.factor(v, row));
  }
}

double misfit(const Op& op, const AnchorTable& table) {
  TimeModel model(op, table.weights);
  for (std::size_t v = 0; v < table.variants.size(); ++v) model.add_variant();
  for (const AnchorTable::Anchor& anchor : table.anchors) {
    const std::size_t row = model.add_problem(complete_problem(op, anchor.problem));
    model.add_best(row, anchor.best_us, anchor.best_factor);
    for (std::size_t v = 0; v < anchor.us.size(); ++v)
      model.add_time(v, row, anchor.us[v], anchor.factor.empty() ? 0 : anchor.factor[v]);
  }
  model.solve();
  return model.misfit();
}

bool is_fitted(const Weights& weights) {
  const auto model = weights.find("model");
  return model != weights.end() && model->second == model_version;
}

}  // namespace tunesmith
