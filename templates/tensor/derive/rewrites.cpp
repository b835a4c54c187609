// SPDX-License-Identifier: Apache-2.0
// The rewrites of a nest of loops: other nests that compute the same with an array between them. None
// introduces a subtraction. Each result has fewer reduced indices, fewer factors or fewer terms, so that
// rewriting ends.

#include <algorithm>
#include <bit>

#include "templates/tensor/derive/derivation.h"

namespace tunesmith::tensor_op {
namespace {

// The rewrites of one nest of loops.
class Rewriter {
 public:
  Rewriter(LoopsTable& table, int number)
      : table_(table), loops_(table[number]), body_(loops_.body), number_(number) {}

  std::vector<Rewrite> all(May may) {
    if (shared_values()) return std::move(result_);
    result_ = window_rewrites(table_, number_);
    if (may == May::distribute && (loops_.reduction == Reduction::sum || loops_.reduced() == 0)) {
      const std::vector<Term> terms = terms_of(body_.function, body_.root());
      if (terms.size() == 1) {
        products(terms[0]);
      } else if (!common_factors(terms)) {
        split(terms, {});
        shared_products(terms);
      }
    }
    return std::move(result_);
  }

 private:
  void add(std::vector<int> arrays, Body body, Indices reduced) {
    if (body.accesses.size() > most_arrays) return;
    const int outer = table_.outer(loops_, std::move(body), reduced);
    if (outer != number_) result_.push_back({std::move(arrays), outer, true});
  }

  // Adds the rewrite for outputs that have the same value, because no access names an index, or y and x stand
  // only in a[y + x]; and for sums over an index that no access names. Returns whether it did.
  bool shared_values() {
    const LoopsTable::Array array = table_.array(body_, loops_, loops_.reduced());
    if (table_[array.loops].outputs() >= loops_.outputs() &&
        (loops_.reduced() & ~body_.named(body_.root())) == 0)
      return false;
    if (table_[array.loops].copies()) return false;
    Composer composer;
    add({array.loops}, composer.finish(composer.access(array.access)), 0);
    for (Rewrite& rewrite : result_) rewrite.distributes = false;
    return !result_.empty();
  }

  // Multiplies some of the factors first, and sums them over the indices that the other factors do not have.
  void products(const Term& term) {
    std::vector<int> factors, numbers;
    for (const int factor : term.factors) (body_.reads(factor) ? factors : numbers).push_back(factor);
    if (factors.size() > most_factors) return;
    const std::uint32_t whole = (1U << factors.size()) - 1;
    const bool has_scale = term.negative || !numbers.empty();
    for (std::uint32_t chosen = 1; chosen <= whole; ++chosen) {
      std::vector<int> inner, others;
      Indices known = 0, others_know = 0;
      for (std::size_t f = 0; f < factors.size(); ++f) {
        const bool is_inner = (chosen >> f & 1) != 0;
        (is_inner ? inner : others).push_back(factors[f]);
        (is_inner ? known : others_know) |= body_.named(factors[f]);
      }
      const Indices summed = known & loops_.reduced() & ~others_know;
      if (chosen == whole && !(has_scale && summed != 0)) continue;
      if (!connected(inner)) continue;
      Composer composer;
      const Body part = composer.finish(composer.product(body_, inner));
      if (summed == 0 && part.is_access()) continue;
      const LoopsTable::Array array = table_.array(part, loops_, summed);
      if (summed == 0 && table_[array.loops].outputs() >= loops_.volume(loops_.all())) continue;
      Composer outer;
      int root = outer.product(body_, others);
      root = outer.product(root, outer.access(array.access));
      root = outer.product(body_, numbers, root);
      if (term.negative) root = outer.negated(root);
      add({array.loops}, outer.finish(root), loops_.reduced() & ~summed);
    }
    if (loops_.reduced() == 0 || has_scale) return;  // else the factors but the scale are split
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
      const std::vector<Term> terms = terms_of(body_.function, term.factors[f]);
      std::vector<int> others = term.factors;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(f));
      const bool subtracts =
          std::any_of(terms.begin(), terms.end(), [](const Term& each) { return each.negative; });
      if (terms.size() > 1 && !subtracts) split(terms, others);
    }
  }

  // True if each factor shares an index with another one, so that the product is no outer product.
  bool connected(const std::vector<int>& factors) const {
    std::vector<Indices> names(factors.size());
    std::transform(factors.begin(), factors.end(), names.begin(),
                   [this](int factor) { return body_.named(factor); });
    Indices reached = names.front();
    for (bool grows = true; grows;) {
      grows = false;
      for (const Indices each : names) {
        if ((each & reached) == 0 || (each & ~reached) == 0) continue;
        reached |= each;
        grows = true;
      }
    }
    return std::all_of(names.begin(), names.end(), [&](Indices each) { return (each & ~reached) == 0; });
  }

  // Writes c * a + c * b as c * (a + b).
  bool common_factors(std::vector<Term> terms) {
    std::vector<int> common;
    for (const int factor : std::vector<int>(terms[0].factors)) {
      const auto place = [&](Term& term) {
        return std::find(term.factors.begin(), term.factors.end(), factor);
      };
      const bool everywhere = std::all_of(terms.begin(), terms.end(), [&](Term& term) {
        return term.factors.size() > 1 && place(term) != term.factors.end();
      });
      if (!everywhere) continue;
      common.push_back(factor);
      for (Term& term : terms) term.factors.erase(place(term));
    }
    if (common.empty()) return false;
    Composer composer;
    const int factors = composer.product(body_, common);
    Body body = composer.finish(composer.product(factors, sum(composer, terms, {})));
    add({}, std::move(body), loops_.reduced());
    return true;
  }

  // The sum of terms times `factors`.
  int sum(Composer& composer, const std::vector<Term>& terms, const std::vector<int>& factors) const {
    int all = -1;
    for (const Term& term : terms) {
      const int product = composer.product(body_, factors, composer.product(body_, term.factors));
      all = composer.sum(all, product, term.negative);
    }
    return all;
  }

  // Sums one term and the rest separately; both are multiplied by `factors`.
  void split(const std::vector<Term>& terms, const std::vector<int>& factors) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (terms.size() == 2 && t == 1) break;  // the same two
      std::vector<Term> rest = terms;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(t));
      const bool rest_negative =
          std::all_of(rest.begin(), rest.end(), [](const Term& term) { return term.negative; });
      for (Term& term : rest) term.negative = term.negative != rest_negative;
      Term one = terms[t];
      one.negative = false;
      Composer first, second;
      const Body of_one = first.finish(sum(first, {one}, factors));
      const Body of_rest = second.finish(sum(second, rest, factors));
      if (of_one.accesses.empty() || of_rest.accesses.empty()) continue;
      const LoopsTable::Array left = table_.array(of_one, loops_, loops_.reduced());
      const LoopsTable::Array right = table_.array(of_rest, loops_, loops_.reduced());
      const double outputs = loops_.outputs();
      if (loops_.reduced() == 0 && table_[left.loops].outputs() >= outputs &&
          table_[right.loops].outputs() >= outputs)
        continue;
      Composer outer;
      // If the first term is subtracted, the order is swapped: a negation would cost an operation.
      const bool swapped = terms[t].negative && !rest_negative;
      int root = -1;
      std::vector<int> arrays;
      for (const bool is_left : {!swapped, swapped}) {
        const LoopsTable::Array& array = is_left ? left : right;
        const bool copies = table_[array.loops].copies();
        const Access& access = copies ? (is_left ? of_one : of_rest).accesses[0] : array.access;
        if (!copies) arrays.push_back(array.loops);
        root = outer.sum(root, outer.access(access), is_left ? terms[t].negative : rest_negative);
      }
      add(std::move(arrays), outer.finish(root), 0);
    }
  }

  // Computes a product of two factors once for all terms, if it has fewer elements than the loops have
  // iterations.
  void shared_products(const std::vector<Term>& terms) {
    struct Pair {
      std::size_t term, first, second;
      LoopsTable::Array array;
    };
    std::vector<Pair> pairs;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const std::vector<int>& factors = terms[t].factors;
      for (std::size_t f = 0; f < factors.size(); ++f) {
        for (std::size_t g = f + 1; g < factors.size(); ++g) {
          const std::vector<int> two = {factors[f], factors[g]};
          if (!body_.reads(two[0]) || !body_.reads(two[1]) || !connected(two)) continue;
          Composer composer;
          const Body part = composer.finish(composer.product(body_, two));
          const LoopsTable::Array array = table_.array(part, loops_, 0);
          if (table_[array.loops].outputs() < loops_.volume(loops_.all())) pairs.push_back({t, f, g, array});
        }
      }
    }
    std::vector<int> done;
    for (const Pair& pair : pairs) {
      if (std::find(done.begin(), done.end(), pair.array.loops) != done.end()) continue;
      done.push_back(pair.array.loops);
      Composer outer;
      int root = -1;
      for (std::size_t t = 0; t < terms.size(); ++t) {
        std::vector<int> factors = terms[t].factors;
        const auto replaced = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& other) {
          return other.term == t && other.array.loops == pair.array.loops;
        });
        int product = -1;
        if (replaced != pairs.end()) {
          factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(replaced->second));
          factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(replaced->first));
          product = outer.access(replaced->array.access);
        }
        root = outer.sum(root, outer.product(body_, factors, product), terms[t].negative);
      }
      add({pair.array.loops}, outer.finish(root), loops_.reduced());
    }
  }

  static constexpr std::size_t most_factors = 8;

  LoopsTable& table_;
  const LoopNest& loops_;
  const Body& body_;
  int number_;
  std::vector<Rewrite> result_;
};

}  // namespace

std::vector<Rewrite> rewrites(LoopsTable& table, int loops, May may) {
  return Rewriter(table, loops).all(may);
}

}  // namespace tunesmith::tensor_op
