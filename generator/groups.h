// SPDX-License-Identifier: Apache-2.0
// A space as a product of groups of axes that no rule connects; each group is counted, drawn from and walked
// on its own. Only space.cpp uses it. A rule connects the axes that it reads. Groups begin with the axes that
// rules read first; if a rule reads an axis of another group, the two are joined and begun again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "generator/random.h"
#include "generator/space.h"

namespace tunesmith {

/// Returns up to `size` different numbers below `bound`, in random order.
std::vector<std::uint64_t> random_places(std::size_t size, std::uint64_t bound, Random& random);

class Space::Groups {
 public:
  /// Covers the configs that agree with `given`, whose axes exist.
  Groups(const Space& space, Subset subset, const Values& given = {});

  ConfigCount count();
  /// The first config of a walk: it consists of the first configs of all groups. A drawn config if the first
  /// is too far into the walk.
  std::optional<Config> first();
  /// As Space::sample().
  std::vector<Config> sample(std::size_t size, Random& random);

 private:
  struct Group {
    std::uint32_t axes = 0;               // one bit per axis
    std::vector<std::size_t> rules = {};  // ascending: a rule may rely on the rules before it
    bool is_done = false;
    ConfigCount count = {};
    std::vector<Config> found = {};  // some drawn configs, if the group cannot be counted
  };

  template <typename Work>
  void for_each(Work work);
  void join(std::size_t at, std::uint32_t axes);
  Walk walk_of(const Group& group) const;
  std::uint32_t look(Group& group, std::size_t wanted, Random& random) const;
  std::uint32_t draw(Group& group, const Walk& walk, std::size_t wanted, Random& random) const;
  ConfigCount product() const;
  void put(const Group& group, const Config& from, Config& to) const;
  void put_drawn(const Group& group, std::vector<Config>& configs, Random& random) const;
  void put_places(const Group& group, const std::vector<std::uint64_t>& places,
                  std::vector<Config>& configs) const;

  bool holds(const Group& group, const Config& config) const;

  const Space& space_;
  Values given_;
  std::vector<const Rule*> rules_;
  std::vector<Group> groups_;
  bool is_empty_ = false;  // true: a rule that reads no axis is broken
};

}  // namespace tunesmith
