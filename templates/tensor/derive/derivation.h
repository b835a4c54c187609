// SPDX-License-Identifier: Apache-2.0
// The data of the derivation of forms: nests of loops, each known by a number, equal ones by the same number,
// and the rewrites of them. Private to this folder.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "language/builder.h"
#include "templates/tensor/derive/forms.h"

namespace tunesmith::tensor_op {

using Indices = std::uint32_t;  ///< a set of a nest's indices, one bit each
constexpr Indices bit(std::size_t index) { return Indices{1} << index; }

/// A function and the accesses that it reads: its n-th letter is accesses[n].
struct Body {
  elementwise_op::Expression function;
  std::vector<Access> accesses;

  int root() const { return static_cast<int>(function.nodes.size()) - 1; }
  bool is_access() const { return function.nodes.size() == 1 && !accesses.empty(); }
  Indices named() const { return named(root()); }
  Indices named(int root) const;  ///< the indices that the accesses below a node name
  bool reads(int root) const;     ///< whether there are accesses below a node
};

Indices named(const Access& access);

/// One of the terms of a sum.
struct Term {
  bool negative = false;
  std::vector<int> factors;  ///< nodes, whose product it is
};

/// The terms of the function below a node. A function that is no sum is one term, a function that is no
/// product one factor.
std::vector<Term> terms_of(const elementwise_op::Expression& function, int root);

/// Puts a body together from parts of others.
class Composer {
 public:
  int access(const Access& access);
  int number(std::int64_t whole);
  int part(const Body& from, int root);
  int product(int left, int right);  ///< one of them may be -1: the product is the other
  int product(const Body& from, std::span<const int> factors, int left = -1);
  int sum(int left, int right, bool negative);
  int negated(int node);
  Body finish(int root);

 private:
  elementwise_op::Builder builder_;
  std::vector<Access> accesses_;
};

/// A nest of loops, free indices first. It reads inputs and arrays that other loops compute.
struct LoopNest {
  std::vector<std::int64_t> extents;
  std::vector<std::string> names;  ///< for people; loops that differ in names alone are the same
  std::size_t free = 0;
  Reduction reduction = Reduction::sum;
  Body body;

  Indices reduced() const { return all() & ~((Indices{1} << free) - 1); }
  Indices all() const { return (Indices{1} << extents.size()) - 1; }
  double volume(Indices indices) const;
  double outputs() const { return volume(all() & ~reduced()); }
  double operations() const;
  bool copies() const { return body.is_access() && reduced() == 0; }
};

/// All loops of a derivation. The array that the loops with the number n compute is inputs() + n.
class LoopsTable {
 public:
  explicit LoopsTable(int inputs) : inputs_(inputs) {}

  int number_of(LoopNest loops);
  const LoopNest& operator[](int number) const { return known_[static_cast<std::size_t>(number)]; }
  std::size_t size() const { return known_.size(); }
  int inputs() const { return inputs_; }

  /// An array of the body's values, `summed` over these indices. The array has no index that the body does
  /// not name; a sum such as y + j is one of its indices if nothing else names y or j. `around` has the
  /// indices.
  struct Array {
    int loops = 0;
    Access access;  ///< reads it, in the indices of `around`
  };
  Array array(const Body& body, const LoopNest& around, Indices summed);

  /// The loops `around` with another body, over `reduced` of its reduced indices alone.
  int outer(const LoopNest& around, Body body, Indices reduced);

 private:
  int inputs_;
  std::map<std::vector<std::int64_t>, int> numbers_;
  std::deque<LoopNest> known_;  // which stay where they are
};

/// Another way to compute the same as loops do: other loops, which read arrays that further loops compute.
struct Rewrite {
  std::vector<int> arrays;  ///< the numbers of their loops
  int outer = 0;            ///< the number of the other loops
  bool distributes = false;
};

/// The rewrites of loops. One that saves and costs nothing is returned alone: the other rewrites may build on
/// it.
std::vector<Rewrite> rewrites(LoopsTable& table, int loops, May may);
std::vector<Rewrite> window_rewrites(LoopsTable& table, int loops);

}  // namespace tunesmith::tensor_op
