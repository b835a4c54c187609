// SPDX-License-Identifier: Apache-2.0
// Chooses the variant to try next. It knows spaces and verdicts, but no devices, compilers or database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "tuner/search/verdict.h"

namespace tunesmith {

/// The name of a variant: a template of the op, and its config.
struct Point {
  std::size_t template_index = 0;  ///< position in Op::templates
  Config config;
  bool operator==(const Point&) const = default;
};

/// The position of a template in Op::templates, if the op has one of that name.
std::optional<std::size_t> template_index(const Op& op, std::string_view name);

/// The point of a template's name and a config's text, if the template serves the problem on the device and
/// the config is legal for it.
std::optional<Point> legal_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config);

/// The point of a table's variant, which on other problems of its kind may be another config (config_on()).
std::optional<Point> table_point(const Op& op, const Problem& problem, const DeviceFacts& device,
                                 std::string_view template_name, std::string_view config);

/// The variants that a search may choose from: the templates that can serve the problem on the device, each
/// with its legal configs.
struct SearchSpace {
  struct TemplateSpace {
    std::size_t template_index = 0;
    Space space;
    ConfigCount count = {};
    std::string name = {};  ///< of the template
  };
  std::optional<Point> base;  ///< always proposed first, even if its template is not searched
  std::vector<TemplateSpace> parts;
  std::vector<Point> promising = {};  ///< in the parts, without repetitions; proposed next
  /// If several searches share the space, this one proposes its share of the points, and the base: each other
  /// point is in exactly one share.
  std::size_t share = 0, shares = 1;
  std::int64_t count() const;  ///< variants, the base included; at most 2^63 - 1
};

/// The belief of a search before it has measured anything.
enum class Prior {
  worth,  ///< configs that keep all `worth` rules are better, and so are those that axes' names suggest
          ///< (experience.h)
  none,   ///< all legal configs are equally good
};

/// "worth" or "none"; throws UsageError otherwise.
Prior prior_of(std::string_view name);

/// `only` names the templates to search; empty: all. Throws UsageError if one of them is not the op's.
SearchSpace search_space(const Op& op, const Problem& problem, const DeviceFacts& device,
                         const std::vector<std::string>& only = {});

class Search {
 public:
  virtual ~Search() = default;

  /// Returns the next variant; nothing when the space is exhausted. May be called before earlier variants are
  /// reported.
  virtual std::optional<Point> next() = 0;

  /// Reports a verdict. `median_us` counts if the verdict is ok.
  virtual void report(const Point& point, Verdict verdict, double median_us) = 0;

  /// Reports a point that another search on the problem has measured, so that this one need not propose it.
  virtual void learn(const Point&, Verdict, double /*median_us*/) {}

  /// Reports how long a point's compilation took, before its verdict, in this run or an earlier one.
  virtual void compiled(const Point&, double /*milliseconds*/) {}

  /// True if the next proposal depends on reported verdicts, so that few should be in flight.
  virtual bool learns() const { return false; }

  /// The expected gain of its last proposal, as a part of the best time; nothing if it does not know.
  virtual std::optional<double> expected_gain() const { return std::nullopt; }

  /// The expected median of a point; nothing if it does not know yet, or does not learn.
  virtual std::optional<double> predicted_us(const Point&) const { return std::nullopt; }

  /// A template with too many configs to list: their number, and how many random ones it begins with.
  struct Drawn {
    std::size_t template_index = 0;
    ConfigCount configs = {};
    std::size_t drawn = 0;
  };
  virtual std::span<const Drawn> drawn() const { return {}; }
};

/// Ends a search when its model says several times in a row that the expected gain of the next proposal is
/// less than `least_gain` of the best time.
struct EndOfSearch {
  double least_gain = 0;  ///< 0: never
  int in_a_row = 0;
  bool reached(std::optional<double> expected_gain);
};

/// The strategies by name, each with half a sentence on what it does. Every strategy proposes each variant
/// once: the base, then the promising points, then the rest. The same seed and the same reports give the same
/// proposals on every machine.
struct Strategy {
  std::string_view name, what;
};
std::span<const Strategy> strategies();
std::string strategy_names();  ///< "auto, model, …"
/// The words of a strategy that is a program of the caller, for AskedProgram: of "unix:SOCKET" itself, of
/// "run:COMMAND" the command. Empty for others.
std::string asked_words(std::string_view strategy);
void refuse_unknown_strategy(std::string_view name);

/// Throws UsageError if there is no such strategy.
std::unique_ptr<Search> make_search(std::string_view strategy, const SearchSpace& space, std::uint64_t seed,
                                    Prior prior = Prior::worth);

}  // namespace tunesmith
