// The depth-first walk over a space's configs, for space.cpp alone. A rule that has read an axis which is not
// set yet waits for that axis; one that has not is decided for everything below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "generator/space.h"

namespace tunesmith {

/// Runs once.
class Space::Walk {
 public:
  using Visit = std::function<bool(const Config&)>;

  Walk(const Space& space, Subset subset);

  /// Only configs that agree with these values; the axes exist.
  void restrict(const Values& given);

  /// Calls `visit` with every config until it answers false.
  void each(const Visit& visit) { run(visit); }

  /// How many there are: whole subtrees at once where nothing more prunes them.
  std::int64_t count() {
    passes_by_ = true;
    run({});
    return static_cast<std::int64_t>(passed_);
  }

  /// Calls `visit` with those at these places, ascending, of the walk; passes by whole subtrees as count()
  /// does.
  void pick(std::span<const std::uint64_t> places, const Visit& visit) {
    if (places.empty()) return;
    passes_by_ = true;
    places_ = places;
    run(visit);
  }

 private:
  void run(const Visit& visit);
  bool below(std::size_t axis, const Visit& visit);
  bool pass_by(std::size_t axis, const Visit& visit);
  bool decide(const Rule* rule);
  void forget_postponed(std::size_t since);

  const std::vector<Axis>& axes_;
  std::vector<const Rule*> rules_;
  std::vector<std::vector<const Rule*>> waiting_;  // by the axis that must be set next
  std::vector<std::size_t> postponed_;             // to which axes, in order
  std::vector<std::vector<std::uint16_t>> indices_;
  std::size_t pending_ = 0;
  bool passes_by_ = false;
  std::uint64_t passed_ = 0;
  std::span<const std::uint64_t> places_;  // that are still to come
  Config config_;
};

}  // namespace tunesmith
