// SPDX-License-Identifier: Apache-2.0
// The table of nests of loops, each known once, and the arrays between them.

#include <algorithm>
#include <bit>
#include <numeric>

#include "templates/tensor/derive/derivation.h"

namespace tunesmith::tensor_op {
namespace {

// A sum of indices as it stands along a dimension, without offset and common factor.
struct IndexSum {
  std::vector<std::int64_t> factors;
  Indices indices = 0;
  std::int64_t least = 0;
  double extent = 1;      // from the least to the largest value
  bool is_index = false;  // of its own, in the array
  int place = -1;         // among the array's dimensions, where it is one
};

std::int64_t common_factor(const Affine& dimension) {
  std::int64_t factor = 0;
  for (const std::int64_t each : dimension.factors) factor = std::gcd(factor, each);
  return factor;
}

IndexSum part_of(const Affine& dimension, const std::vector<std::int64_t>& extents) {
  IndexSum part;
  part.factors = dimension.factors;
  const std::int64_t factor = common_factor(dimension);
  for (std::size_t i = 0; i < part.factors.size() && factor != 0; ++i) {
    part.factors[i] /= factor;
    if (part.factors[i] == 0) continue;
    part.indices |= bit(i);
    const std::int64_t reach = part.factors[i] * (extents[i] - 1);
    part.least += std::min<std::int64_t>(reach, 0);
    part.extent += static_cast<double>(std::abs(reach));
  }
  return part;
}

std::string name_of(Indices indices, const LoopNest& around, const std::vector<std::string>& taken) {
  std::string name;
  for (std::size_t i = 0; i < around.names.size(); ++i) {
    if ((indices & bit(i)) == 0) continue;
    name += around.names[i];
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
  }
  while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += '_';
  return name;
}

std::vector<std::int64_t> key_of(const LoopNest& loops) {
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(loops.free)};
  const bool reduces = loops.free < loops.extents.size();
  key.push_back(reduces ? static_cast<std::int64_t>(loops.reduction) : -1);
  key.push_back(static_cast<std::int64_t>(loops.extents.size()));
  key.insert(key.end(), loops.extents.begin(), loops.extents.end());
  for (const Access& access : loops.body.accesses) {
    key.push_back(access.array);
    key.push_back(static_cast<std::int64_t>(access.dimensions.size()));
    for (const Affine& dimension : access.dimensions) {
      key.insert(key.end(), dimension.factors.begin(), dimension.factors.end());
      key.push_back(dimension.offset);
    }
  }
  for (const elementwise_op::Node& node : loops.body.function.nodes) {
    key.push_back(static_cast<std::int64_t>(node.operation));
    key.insert(key.end(), node.operands.begin(), node.operands.end());
    key.push_back(node.input);
    key.push_back(std::bit_cast<std::int64_t>(node.number));
    key.push_back(node.whole ? *node.whole : std::int64_t{-1});
    key.push_back(node.whole ? 1 : 0);
  }
  return key;
}

}  // namespace

double LoopNest::volume(Indices indices) const {
  double all = 1;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if ((indices & bit(i)) != 0) all *= static_cast<double>(extents[i]);
  return all;
}

double LoopNest::operations() const {
  const double terms = volume(reduced());
  return outputs() * (terms * static_cast<double>(operations_of(body.function)) + (terms - 1));
}

int LoopsTable::number_of(LoopNest loops) {
  const auto [found, is_new] = numbers_.emplace(key_of(loops), static_cast<int>(known_.size()));
  if (is_new) known_.push_back(std::move(loops));
  return found->second;
}

LoopsTable::Array LoopsTable::array(const Body& body, const LoopNest& around, Indices summed) {
  const std::size_t count = around.extents.size();
  std::vector<IndexSum> parts;
  std::vector<std::vector<std::size_t>> part_at;  // the part for each dimension of each access
  for (const Access& access : body.accesses) {
    std::vector<std::size_t>& places = part_at.emplace_back();
    for (const Affine& dimension : access.dimensions) {
      IndexSum part = part_of(dimension, around.extents);
      const auto known = std::find_if(parts.begin(), parts.end(),
                                      [&](const IndexSum& other) { return other.factors == part.factors; });
      places.push_back(static_cast<std::size_t>(known - parts.begin()));
      if (known == parts.end()) parts.push_back(std::move(part));
    }
  }
  for (IndexSum& part : parts) {
    const bool alone = std::none_of(parts.begin(), parts.end(), [&](const IndexSum& other) {
      return &other != &part && (other.indices & part.indices) != 0;
    });
    part.is_index = alone && std::popcount(part.indices) > 1 && (part.indices & summed) == 0 &&
                    part.extent < around.volume(part.indices);
  }

  LoopNest inner;
  inner.reduction = around.reduction;
  Array result;
  std::vector<int> place(count, -1);
  const auto add = [&](std::int64_t extent, Indices indices) {
    inner.names.push_back(name_of(indices, around, inner.names));
    inner.extents.push_back(extent);
    return static_cast<int>(inner.extents.size()) - 1;
  };
  for (IndexSum& part : parts) {  // in the order of first use
    if (part.is_index) {
      part.place = add(static_cast<std::int64_t>(part.extent), part.indices);
      result.access.dimensions.push_back({part.factors, -part.least});
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if ((part.indices & ~summed & bit(i)) == 0 || place[i] >= 0) continue;
      place[i] = add(around.extents[i], bit(i));
      result.access.dimensions.push_back({std::vector<std::int64_t>(count), 0});
      result.access.dimensions.back().factors[i] = 1;
    }
  }
  inner.free = inner.extents.size();
  double repeats = 1;
  for (const IndexSum& part : parts) {
    for (std::size_t i = 0; i < count; ++i)
      if ((part.indices & summed & bit(i)) != 0 && place[i] < 0) place[i] = add(around.extents[i], bit(i));
  }
  for (std::size_t i = 0; i < count; ++i)
    if ((summed & bit(i)) != 0 && place[i] < 0) repeats *= static_cast<double>(around.extents[i]);

  Body moved = body;
  for (std::size_t a = 0; a < moved.accesses.size(); ++a) {
    for (std::size_t d = 0; d < moved.accesses[a].dimensions.size(); ++d) {
      Affine& dimension = moved.accesses[a].dimensions[d];
      const IndexSum& part = parts[part_at[a][d]];
      Affine to{std::vector<std::int64_t>(inner.extents.size()), dimension.offset};
      if (part.is_index) {
        const std::int64_t factor = common_factor(dimension);
        to.factors[static_cast<std::size_t>(part.place)] = factor;
        to.offset += factor * part.least;
      } else {
        for (std::size_t i = 0; i < count; ++i)
          if (dimension.factors[i] != 0)
            to.factors[static_cast<std::size_t>(place[i])] = dimension.factors[i];
      }
      dimension = std::move(to);
    }
  }
  if (repeats > 1 && around.reduction == Reduction::sum) {
    Composer composer;
    const int value = composer.part(moved, moved.root());
    moved = composer.finish(composer.product(value, composer.number(static_cast<std::int64_t>(repeats))));
  }
  inner.body = std::move(moved);
  result.loops = number_of(std::move(inner));
  result.access.array = inputs_ + result.loops;
  return result;
}

int LoopsTable::outer(const LoopNest& around, Body body, Indices reduced) {
  LoopNest loops;
  loops.free = around.free;
  loops.reduction = around.reduction;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < around.extents.size(); ++i) {
    if (i >= around.free && (reduced & bit(i)) == 0) continue;
    kept.push_back(i);
    loops.extents.push_back(around.extents[i]);
    loops.names.push_back(around.names[i]);
  }
  for (Access& access : body.accesses) {
    for (Affine& dimension : access.dimensions) {
      Affine to{{}, dimension.offset};
      for (const std::size_t i : kept) to.factors.push_back(dimension.factors[i]);
      dimension = std::move(to);
    }
  }
  loops.body = std::move(body);
  return number_of(std::move(loops));
}

}  // namespace tunesmith::tensor_op
