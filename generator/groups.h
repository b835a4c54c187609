// SPDX-License-Identifier: Apache-2.0
// A space as a product: groups of axes that no rule connects, each counted, drawn from and walked apart. For
// space.cpp alone. Which axes a rule connects is what it reads: groups begin with what the rules read first,
// and are joined, and begun again, where a rule reads an axis of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "generator/random.h"
#include "generator/space.h"

namespace tunesmith {

/// Up to `size` different numbers below `bound`, in random order.
std::vector<std::uint64_t> random_places(std::size_t size, std::uint64_t bound, Random& random);

class Space::Groups {
 public:
  /// Of the configs that agree with the values; the axes exist.
  Groups(const Space& space, Subset subset, const Values& given = {});

  ConfigCount count();
  /// The first in a walk, as that of a product is made of its factors' first ones. Where it is too far off,
  /// one that is drawn.
  std::optional<Config> first();
  /// As Space::sample().
  std::vector<Config> sample(std::size_t size, Random& random);

 private:
  struct Group {
    std::uint32_t axes = 0;               // one bit each
    std::vector<std::size_t> rules = {};  // ascending: a rule may rely on those before it
    bool is_done = false;
    ConfigCount count = {};
    std::vector<Config> found = {};  // of what cannot be counted: some, drawn
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
  bool is_empty_ = false;  // a rule that reads no axis is broken
};

}  // namespace tunesmith
