// SPDX-License-Identifier: Apache-2.0
// The points of a search space by number, in the order in which they are listed or drawn, and as coordinates
// for models that compute with them.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "generator/random.h"
#include "tuner/search/gaussian_process.h"
#include "tuner/search/search.h"

namespace tunesmith {

/// A point by numbers: the position of its template in SearchSpace::parts, and Space::number of its config;
/// in a space too large for that, a number that Points gave to the config.
struct PointId {
  std::size_t part = 0;
  std::uint64_t number = 0;
  auto operator<=>(const PointId&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

/// A template's space with more configs than `most_enumerated` is not listed: `most_drawn` random configs
/// stand for it, fewer if a config is too large for a number.
inline constexpr double most_enumerated = std::int64_t{1} << 22;
inline constexpr std::size_t most_drawn = 200'000;
inline constexpr std::size_t most_drawn_unnumbered = 50'000;

/// All points, each once, in tiers: first those that keep all `worth` rules, then those that break one, and
/// so on; with Prior::none all are in one tier. The next tier begins when all templates have reached the end
/// of theirs.
class Points {
 public:
  /// Without a seed, the templates are in their order, and each space in the order of its axes. With a seed,
  /// the order is random: the chance of a template is proportional to the square root of the number of its
  /// points that are left, so that a small template is covered early and a large one still gets most of the
  /// draws.
  Points(const SearchSpace& space, std::optional<std::uint64_t> seed, Prior prior);

  std::optional<PointId> next();

  /// Up to `size` different random points of those that are listed now; if there are few, the first in the
  /// list.
  std::vector<PointId> some(std::size_t size, Random& random) const;

  /// A point of the present tier, drawn as next() would draw it, but not taken; none if nothing is left.
  std::optional<PointId> any(Random& random) const;

  /// Visits the legal points that differ in one axis, and in conditional axes as a result. For a long axis
  /// these are the nearest values, and some that are spread over the others.
  void each_neighbour(PointId id, const std::function<void(PointId)>& visit) const;

  /// True if the point is in this search's share.
  bool mine(PointId id) const;

  std::optional<PointId> id(const Point& point) const;  ///< none if its template is not searched
  PointId id(std::size_t part, const Config& config) const;
  Point point(PointId id) const;
  Config config(PointId id) const;
  std::span<const Search::Drawn> drawn() const { return drawn_; }
  const SearchSpace& space() const { return space_; }
  std::size_t broken_worth(PointId id) const;

 private:
  struct List {
    bool has_more;  // true if some tiers are not listed yet
    // The numbers of configs, by how many `worth` rules they break.
    std::vector<std::vector<std::uint64_t>> tiers;
    std::size_t next = 0;  // in the present tier
  };
  // For a part whose configs have no number in their space: the configs that were met.
  struct Unnumbered {
    bool is_used = false;
    std::vector<Config> configs = {};
    std::map<Config, std::uint64_t, Config::WalkOrder> numbers = {};
  };
  std::size_t left(const List& list) const;
  std::vector<Config> draw(std::size_t part, Space::Subset subset);
  void list_rest(std::size_t part);
  bool next_tier();
  const List* list_at_random(Random& random) const;
  List* choose();

  SearchSpace space_;
  Random random_;
  bool shuffled_;
  std::vector<List> lists_;
  mutable std::vector<Unnumbered> unnumbered_;  // by part
  std::vector<Search::Drawn> drawn_;
  std::size_t tier_ = 0;
};

/// Turns points into coordinates. An integer axis has a coordinate that is half logarithmic, half by rank,
/// and, if its values are not all powers of 2, another for how often 2 divides them; a categorical axis has
/// one for each category. Axes of the same name in several templates are the same axis; the template is a
/// coordinate too.
class Embedding {
 public:
  explicit Embedding(const Points& points);
  const std::vector<std::size_t>& groups() const { return groups_; }  ///< of each coordinate
  Coordinates operator()(PointId id) const;

 private:
  struct AxisCoordinates {
    std::size_t at;                          // the first coordinate
    std::vector<std::vector<float>> values;  // by index on the part's axis
  };
  std::size_t add_group(std::size_t coordinates);

  const Points& points_;
  std::vector<std::size_t> groups_;
  std::vector<std::vector<AxisCoordinates>> placed_;  // by part and axis
  Coordinates absent_;
};

}  // namespace tunesmith
