#include "tuner/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/error.h"
#include "generator/random.h"

namespace tunesmith {
namespace {

// Of one template. A config takes about a kilobyte, so a space beyond this is sampled: no run comes to its
// end.
constexpr std::size_t most_configs = 200'000;

/// Goes through lists of configs, one a template; which list is next is the only difference between the two.
class ListSearch : public Search {
 public:
  ListSearch(const SearchSpace& space, std::optional<std::uint64_t> seed)
      : base_(space.base), promising_(space.promising), random_(seed.value_or(0)) {
    shuffled_ = seed.has_value();
    for (const SearchSpace::Part& part : space.parts) {
      std::vector<Config> configs =
          shuffled_ ? part.space.sample(most_configs, random_.next()) : part.space.all();
      lists_.push_back({part.of, std::move(configs)});
    }
  }

  std::optional<Point> next() override {
    if (!std::exchange(started_, true)) return base_;
    while (promised_ < promising_.size()) {
      const Point& point = promising_[promised_++];
      if (!(point == base_)) return point;
    }
    while (List* const list = choose()) {
      Point point{list->of, std::move(list->configs[list->next++])};
      if (point == base_) continue;
      if (std::find(promising_.begin(), promising_.end(), point) == promising_.end()) return point;
    }
    return std::nullopt;
  }

  void report(const Point&, Verdict, double) override {}

 private:
  struct List {
    std::size_t of;
    std::vector<Config> configs;
    std::size_t next = 0;
    std::size_t left() const { return configs.size() - next; }
  };

  List* choose() {
    if (!shuffled_) {
      for (List& list : lists_) {
        if (list.left() > 0) return &list;
      }
      return nullptr;
    }
    double total = 0;
    for (const List& list : lists_) total += std::sqrt(static_cast<double>(list.left()));
    if (total == 0) return nullptr;
    double at = (random_.uniform() + 1) / 2 * total;
    List* last = nullptr;
    for (List& list : lists_) {
      if (list.left() == 0) continue;
      last = &list;
      at -= std::sqrt(static_cast<double>(list.left()));
      if (at < 0) break;
    }
    return last;
  }

  Point base_;
  std::vector<Point> promising_;
  std::size_t promised_ = 0;
  Random random_;
  bool shuffled_ = false;
  bool started_ = false;
  std::vector<List> lists_;
};

}  // namespace

std::optional<Point> legal_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config) {
  const auto of = std::find_if(op.templates.begin(), op.templates.end(),
                               [&](const Template& each) { return each.name == template_name; });
  if (of == op.templates.end() || why_not(*of, problem, device)) return std::nullopt;
  Point point{static_cast<std::size_t>(of - op.templates.begin()), Config::parse(config)};
  if (of->space(problem).why_not(point.config)) return std::nullopt;
  return point;
}

std::int64_t SearchSpace::count() const {
  std::int64_t total = 0;
  bool base_inside = false;
  for (const Part& part : parts) {
    total += part.count;
    base_inside = base_inside || part.of == base.of;
  }
  return total + (base_inside ? 0 : 1);
}

SearchSpace search_space(const Op& op, const Problem& problem, const DeviceFacts& device,
                         const std::vector<std::string>& only) {
  SearchSpace space{{0, base_config(op, problem)}, {}};
  for (const std::string& name : only) find_template(op, name);
  for (std::size_t i = 0; i < op.templates.size(); ++i) {
    const Template& of = op.templates[i];
    bool wanted = only.empty();
    for (const std::string& name : only) wanted = wanted || name == of.name;
    if (!wanted || why_not(of, problem, device)) continue;
    Space configs = of.space(problem);
    const std::int64_t count = configs.count();
    space.parts.push_back({i, std::move(configs), count});
  }
  return space;
}

std::unique_ptr<Search> make_exhaustive(const SearchSpace& space) {
  return std::make_unique<ListSearch>(space, std::nullopt);
}

std::unique_ptr<Search> make_random(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<ListSearch>(space, seed);
}

std::unique_ptr<Search> make_search(std::string_view strategy, const SearchSpace& space, std::uint64_t seed) {
  if (strategy == "exhaustive") return make_exhaustive(space);
  if (strategy == "random") return make_random(space, seed);
  throw UsageError("The strategy " + std::string(strategy) +
                   " is not known; there are exhaustive and random.");
}

}  // namespace tunesmith
