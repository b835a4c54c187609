#include "tuner/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/error.h"
#include "generator/random.h"
#include "tuner/by_worth.h"

namespace tunesmith {
namespace {

// A template's space with more points than this is sampled, because no run comes to its end.
constexpr std::int64_t most_points = std::int64_t{1} << 22;
constexpr std::size_t most_drawn = 200'000;

// Lists of configs, one per template, in tiers: the second tier begins when all lists are at the end of the
// first.
class ListSearch : public Search {
 public:
  ListSearch(const SearchSpace& space, std::optional<std::uint64_t> seed, Prior prior)
      : base_(space.base),
        promising_(space.promising),
        random_(seed.value_or(0)),
        shuffled_(seed.has_value()) {
    for (const SearchSpace::Part& part : space.parts) {
      const auto which = prior == Prior::none ? Space::Which::legal : Space::Which::promising;
      List list{part.template_index, part.space, prior == Prior::worth && !part.space.worth().empty(), {{}}};
      const auto add = [&](const Config& config) { list.tiers.front().push_back(part.space.number(config)); };
      if (shuffled_ && which == Space::Which::legal && part.space.count() > most_points) {
        for (const Config& config : part.space.sample(most_drawn, random_.next())) add(config);
      } else {
        part.space.each([&](const Config& config) { return add(config), true; }, which);
      }
      if (shuffled_) shuffle(list.tiers.front(), random_.next());
      lists_.push_back(std::move(list));
    }
  }

  std::optional<Point> next() override {
    if (!std::exchange(started_, true)) return base_;
    while (promised_ < promising_.size()) {
      const Point& point = promising_[promised_++];
      if (!(point == base_)) return point;
    }
    while (List* const list = choose()) {
      Point point{list->template_index, list->space.config(list->tiers[tier_][list->next++])};
      if (point == base_) continue;
      if (std::find(promising_.begin(), promising_.end(), point) == promising_.end()) return point;
    }
    return std::nullopt;
  }

  void report(const Point&, Verdict, double) override {}

 private:
  struct List {
    std::size_t template_index;
    Space space;
    bool has_more;  // tiers that are not listed yet
    // Numbers of configs, by how many `worth` rules they break.
    std::vector<std::vector<std::uint64_t>> tiers;
    std::size_t next = 0;  // in the present tier
  };

  std::size_t left(const List& list) const {
    return tier_ < list.tiers.size() ? list.tiers[tier_].size() - list.next : 0;
  }

  static void shuffle(std::vector<std::uint64_t>& numbers, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      std::swap(numbers[i], numbers[i + random.below(numbers.size() - i)]);
  }

  // Most configs break a `worth` rule, and most runs end before them, so they are listed only when it is
  // their turn.
  void list_rest(List& list) {
    const auto add = [&](const Config& config) {
      const std::size_t broken = list.space.broken_worth(config);
      if (broken == 0) return;
      if (list.tiers.size() <= broken) list.tiers.resize(broken + 1);
      list.tiers[broken].push_back(list.space.number(config));
    };
    if (list.space.count() > most_points) {
      for (const Config& config : list.space.sample(most_drawn, random_.next())) add(config);
    } else {
      list.space.each([&](const Config& config) { return add(config), true; });
    }
    if (!shuffled_) return;
    for (std::size_t tier = 1; tier < list.tiers.size(); ++tier) shuffle(list.tiers[tier], random_.next());
  }

  bool next_tier() {
    bool more = false;
    ++tier_;
    for (List& list : lists_) {
      if (std::exchange(list.has_more, false)) list_rest(list);
      list.next = 0;
      more = more || tier_ < list.tiers.size();
    }
    return more;
  }

  List* choose() {
    do {
      double total = 0;
      for (List& list : lists_) {
        if (!shuffled_ && left(list) > 0) return &list;
        total += std::sqrt(static_cast<double>(left(list)));
      }
      if (total == 0) continue;
      double at = (random_.uniform() + 1) / 2 * total;
      List* last = nullptr;
      for (List& list : lists_) {
        if (left(list) == 0) continue;
        last = &list;
        at -= std::sqrt(static_cast<double>(left(list)));
        if (at < 0) break;
      }
      return last;
    } while (next_tier());
    return nullptr;
  }

  Point base_;
  std::vector<Point> promising_;
  std::size_t promised_ = 0;
  Random random_;
  bool shuffled_ = false;
  bool started_ = false;
  std::vector<List> lists_;
  std::size_t tier_ = 0;
};

}  // namespace

std::optional<Point> legal_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config) {
  const auto tmpl = std::find_if(op.templates.begin(), op.templates.end(),
                                 [&](const Template& each) { return each.name == template_name; });
  if (tmpl == op.templates.end() || why_not(*tmpl, problem, device)) return std::nullopt;
  auto legal = tmpl->space(problem, device).find(Values::parse(config));
  if (!legal) return std::nullopt;
  return Point{static_cast<std::size_t>(tmpl - op.templates.begin()), std::move(*legal)};
}

std::int64_t SearchSpace::count() const {
  std::int64_t total = 0;
  bool base_inside = false;
  for (const Part& part : parts) {
    total += part.count;
    base_inside = base_inside || part.template_index == base.template_index;
  }
  return total + (base_inside ? 0 : 1);
}

SearchSpace search_space(const Op& op, const Problem& problem, const DeviceFacts& device,
                         const std::vector<std::string>& only) {
  SearchSpace space{{0, base_config(op, problem, device)}, {}};
  for (const std::string& name : only) find_template(op, name);
  for (std::size_t i = 0; i < op.templates.size(); ++i) {
    const Template& tmpl = op.templates[i];
    bool wanted = only.empty();
    for (const std::string& name : only) wanted = wanted || name == tmpl.name;
    if (!wanted || why_not(tmpl, problem, device)) continue;
    Space configs = tmpl.space(problem, device);
    const std::int64_t count = configs.count();
    space.parts.push_back({i, std::move(configs), count});
  }
  return space;
}

Prior prior_of(std::string_view name) {
  if (name == "worth") return Prior::worth;
  if (name == "none") return Prior::none;
  throw UsageError("The prior " + std::string(name) + " does not exist; it is worth or none.");
}

std::unique_ptr<Search> make_exhaustive(const SearchSpace& space, Prior prior) {
  return std::make_unique<ListSearch>(space, std::nullopt, prior);
}

std::unique_ptr<Search> make_random(const SearchSpace& space, std::uint64_t seed, Prior prior) {
  return std::make_unique<ListSearch>(space, seed, prior);
}

std::unique_ptr<Search> make_search(std::string_view strategy, const SearchSpace& space, std::uint64_t seed,
                                    Prior prior) {
  if (strategy == "exhaustive") return make_exhaustive(space, prior);
  if (strategy == "random") return by_worth(make_random(space, seed, prior));
  throw UsageError("The strategy " + std::string(strategy) + " does not exist; it is exhaustive or random.");
}

}  // namespace tunesmith
