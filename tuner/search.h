// Which variant to try next. It knows spaces and verdicts, but no devices, compilers or database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "tuner/verdict.h"

namespace tunesmith {

/// The name of a variant: a template of the op, and its config.
struct Point {
  std::size_t template_index = 0;  ///< position in Op::templates
  Config config;
  bool operator==(const Point&) const = default;
};

/// The point that a template's name and a config's text mean, where the template serves the problem on the
/// device and the config is legal for it.
std::optional<Point> legal_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config);

/// What a search may choose from: the templates that can serve the problem on the device, each with its legal
/// configs.
struct SearchSpace {
  struct Part {
    std::size_t template_index = 0;
    Space space;
    std::int64_t count = 0;
  };
  Point base;  ///< always proposed first, even if its template is not searched
  std::vector<Part> parts;
  std::vector<Point> promising = {};  ///< in the parts, each once; proposed next
  std::int64_t count() const;         ///< of variants, the base included
};

/// How a search uses the `worth` rules of a space.
enum class Prior {
  worth,  ///< configs that keep all of them first, then those that break one, and so on
  none,   ///< all legal configs alike
};

/// "worth" or "none"; throws UsageError otherwise.
Prior prior_of(std::string_view name);

/// `only` names the templates to search; empty: all. Throws UsageError if one of them is not the op's.
SearchSpace search_space(const Op& op, const Problem& problem, const DeviceFacts& device,
                         const std::vector<std::string>& only = {});

class Search {
 public:
  virtual ~Search() = default;

  /// The next variant; nothing when the space is exhausted. May be called before earlier variants are
  /// reported.
  virtual std::optional<Point> next() = 0;

  /// `median_us` counts when the verdict is ok.
  virtual void report(const Point& point, Verdict verdict, double median_us) = 0;

  /// How long its compilation took; told before its verdict, in this run or from an earlier one.
  virtual void compiled(const Point&, double /*milliseconds*/) {}
};

/// The templates in their order, each space in the order of its axes.
std::unique_ptr<Search> make_exhaustive(const SearchSpace& space, Prior prior = Prior::worth);

/// Every variant once, in random order. The chance of a template is proportional to the square root of the
/// number of its variants that are left, so that a small template is covered early and a large one still gets
/// most of the draws. The same seed gives the same order on every machine.
std::unique_ptr<Search> make_random(const SearchSpace& space, std::uint64_t seed, Prior prior = Prior::worth);

/// "exhaustive" or "random", the latter by worth (by_worth.h); throws UsageError otherwise.
std::unique_ptr<Search> make_search(std::string_view strategy, const SearchSpace& space, std::uint64_t seed,
                                    Prior prior = Prior::worth);

}  // namespace tunesmith
