#include "tuner/by_worth.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "tuner/additive_model.h"

namespace tunesmith {
namespace {

// Of so many points that the search offers, one is tried now.
constexpr int offered_per_choice = 8;

// Those that wait are weighed again after so many choices; at most so many wait.
constexpr int choices_per_weighing = 16;
constexpr std::size_t most_weighed = 512;

// The predicted logarithm of a time is wrong by about so much, so that even a variant that should be slow has
// a small chance.
constexpr double error = 0.4;
constexpr double least_chance = 0.01;

// A variant that failed says of its values what one would that is so many times slower than the best.
constexpr double failed = 10;

class ByWorth : public Search {
 public:
  explicit ByWorth(std::unique_ptr<Search> search) : search_(std::move(search)) {}

  std::optional<Point> next() override {
    for (int i = 0; i < offered_per_choice && !exhausted_; ++i) {
      auto point = search_->next();
      if (!point) {
        exhausted_ = true;
        break;
      }
      const double worth = worth_of(*point);
      if (!weighable_) return point;  // the first ones, in the search's order
      waiting_.push_back({worth, std::move(*point)});
    }
    for (; waiting_.size() < most_weighed / 2 && exhausted_ && !later_.empty(); later_.pop_front())
      waiting_.push_back({worth_of(later_.front().point), std::move(later_.front().point)});
    if (waiting_.empty()) return std::nullopt;
    if (++choices_ % choices_per_weighing == 0) weigh();
    const auto best = std::max_element(waiting_.begin(), waiting_.end(),
                                       [](const Entry& a, const Entry& b) { return a.worth < b.worth; });
    std::swap(*best, waiting_.back());
    Point point = std::move(waiting_.back().point);
    waiting_.pop_back();
    return point;
  }

  void report(const Point& point, Verdict verdict, double median_us) override {
    search_->report(point, verdict, median_us);
    const bool ok = verdict == Verdict::ok && median_us > 0;
    if (ok && (best_us_ == 0 || median_us < best_us_)) best_us_ = median_us;
    if (best_us_ == 0) return;
    models_[point.template_index].time.learn(point.config, std::log(ok ? median_us : failed * best_us_));
  }

  void compiled(const Point& point, double milliseconds) override {
    search_->compiled(point, milliseconds);
    if (milliseconds > 0) models_[point.template_index].compile.learn(point.config, std::log(milliseconds));
  }

 private:
  struct Models {
    AdditiveModel compile, time;
  };
  struct Entry {
    double worth;
    Point point;
  };

  double worth_of(const Point& point) {
    const Models& models = models_[point.template_index];
    const auto compile = models.compile.predict(point.config);
    const auto time = models.time.predict(point.config);
    if (!compile || !time) return unknown_worth;
    weighable_ = true;
    const double slower = *time - std::log(best_us_);
    const double chance = std::max(0.5 * std::erfc(slower / (error * std::sqrt(2.0))), least_chance);
    return chance / std::exp(*compile);
  }

  // The models have learnt since.
  void weigh() {
    for (Entry& entry : waiting_) entry.worth = worth_of(entry.point);
    if (waiting_.size() <= most_weighed) return;
    std::sort(waiting_.begin(), waiting_.end(),
              [](const Entry& a, const Entry& b) { return a.worth > b.worth; });
    std::move(waiting_.begin() + most_weighed, waiting_.end(), std::back_inserter(later_));
    waiting_.erase(waiting_.begin() + most_weighed, waiting_.end());
  }

  // Of a template that nothing is known of: tried at once.
  static constexpr double unknown_worth = 1e9;

  std::unique_ptr<Search> search_;
  std::map<std::size_t, Models> models_;  // by template
  std::vector<Entry> waiting_;
  std::deque<Entry> later_;  // the least worthy, when too many wait
  bool weighable_ = false;
  bool exhausted_ = false;
  int choices_ = 0;
  double best_us_ = 0;
};

}  // namespace

std::unique_ptr<Search> by_worth(std::unique_ptr<Search> search) {
  return std::make_unique<ByWorth>(std::move(search));
}

}  // namespace tunesmith
