// SPDX-License-Identifier: Apache-2.0
// Random expressions with 1 to 3 outputs, 1 to 4 reductions, windows, diagonals and 1 to 3 terms, and their
// extents. Tests use them, and samples of unusual problems.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "templates/tensor/notation/expression.h"

namespace tunesmith::tensor_op {

class Drawer {
 public:
  using Extent = std::function<std::int64_t(bool is_reduced)>;

  Drawer(std::uint64_t seed, Extent extent) : random_(seed), extent_(std::move(extent)) {}
  explicit Drawer(std::uint64_t seed, std::size_t most_extent = 4)
      : Drawer(seed, [=, this](bool) { return 1 + static_cast<std::int64_t>(below(most_extent)); }) {}
  Drawer(const Drawer&) = delete;
  Drawer& operator=(const Drawer&) = delete;

  std::string expression() {
    outputs_.clear();
    reductions_.clear();
    accesses_.clear();
    extents_.clear();
    const std::size_t outputs = 1 + below(3), reductions = 1 + below(4);
    for (std::size_t n = 0; n < outputs; ++n) add(outputs_, "yxv"[n], false);
    for (std::size_t n = 0; n < reductions; ++n) add(reductions_, "ijkl"[n], true);
    std::string output = outputs_;
    if (below(6) == 0) output += outputs_[below(outputs_.size())];  // a diagonal is written
    std::string text = "out[" + spread(output) + "]";
    const std::size_t kind = below(8);
    text += kind == 0 ? " max= " : kind == 1 ? " min= " : " += ";
    const std::size_t terms = 1 + below(3);
    for (std::size_t t = 0; t < terms; ++t) text += (t == 0 ? "" : below(3) == 0 ? " - " : " + ") + term();
    return text;
  }

  /// A finish of whole numbers for the last expression.
  std::string finish() {
    std::string read;
    for (std::size_t n = below(outputs_.size() + 1); n > 0; --n)
      read += (read.empty() ? "" : ",") + std::string(1, outputs_[below(outputs_.size())]);
    if (below(4) == 0 && !read.empty()) read += "+1";
    read = accesses_.size() == most_arrays ? "3" : read.empty() ? "F" : "F[" + read + "]";
    static constexpr std::array<const char*, 5> patterns = {"max(out, 0)", "max(out + #, 0)", "# - 2 * out",
                                                            "abs(out - #) * #", "out * out + #"};
    return filled(patterns[below(patterns.size())], [&] { return read; });
  }

  std::vector<std::int64_t> extents(const Expression& e) const {
    std::vector<std::int64_t> all;
    for (const Index& index : e.indices) all.push_back(extents_.at(index.name[0]));
    return all;
  }

 private:
  // The text with each # replaced by what next() returns, the last one first.
  static std::string filled(std::string text, const std::function<std::string()>& next) {
    for (std::size_t at = text.size(); at > 0 && (at = text.rfind('#', at - 1)) != std::string::npos;)
      text.replace(at, 1, next());
    return text;
  }

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  void add(std::string& names, char name, bool is_reduced) {
    names += name;
    extents_[name] = extent_(is_reduced);
  }

  static std::string spread(const std::string& names) {
    std::string text;
    for (const char name : names) text += (text.empty() ? "" : ",") + std::string(1, name);
    return text;
  }

  char index() {
    const std::string& of = below(2) == 0 ? outputs_ : reductions_;
    return of[below(of.size())];
  }

  std::string dimension() {
    const char first = index();
    std::string text(1, first);
    std::int64_t offset = static_cast<std::int64_t>(below(8) == 0 ? below(3) : 0);
    if (below(8) == 0) text = "2*" + text;
    if (below(5) < 2) {
      const char second = below(3) == 0 ? index() : reductions_[below(reductions_.size())];
      const std::size_t kind = second == first ? 2 : below(6);  // an index minus itself is no index
      text += (kind == 0 ? "-" : kind == 1 ? "+2*" : "+") + std::string(1, second);
      if (kind == 0) offset += extents_[second] - 1;
    }
    return text + (offset > 0 ? "+" + std::to_string(offset) : "");
  }

  // A new access, or an earlier one: six are allowed.
  std::string access() {
    if (accesses_.size() == most_arrays || (!accesses_.empty() && below(4) == 0))
      return accesses_[below(accesses_.size())];
    std::string text;
    for (std::size_t rank = 1 + below(3); rank > 0; --rank) text += (text.empty() ? "" : ",") + dimension();
    // A window's accesses often look alike, so the last access's indices are used again.
    if (!accesses_.empty() && below(3) == 0) {
      const std::string& last = accesses_[below(accesses_.size())];
      text = last.substr(2, last.size() - 3);
    }
    const char name = below(8) == 0 && !accesses_.empty() ? accesses_.front()[0]
                                                          : static_cast<char>('A' + accesses_.size());
    std::string all = std::string(1, name) + "[" + text + "]";
    const auto rank_of = [](const std::string& words) { return std::count(words.begin(), words.end(), ','); };
    for (const std::string& other : accesses_) {
      if (other[0] == name && rank_of(other) != rank_of(all))
        all[0] = static_cast<char>('A' + accesses_.size());
    }
    if (std::find(accesses_.begin(), accesses_.end(), all) == accesses_.end()) accesses_.push_back(all);
    return all;
  }

  std::string factor() {
    static constexpr std::array<const char*, 7> patterns = {
        "(# + #)", "(# - #)", "(# - #) ** 2", "abs(# - #)", "max(#, #)", "@ * #", "-#"};
    const std::size_t kind = below(12);
    std::string text = kind < patterns.size() ? patterns[kind] : "#";
    text = filled(text, [&] { return access(); });
    if (text[0] == '@') text[0] = static_cast<char>('1' + below(3));
    return text;
  }

  std::string term() {
    std::string text = factor();
    for (std::size_t more = below(3); more > 0; --more) text += " * " + factor();
    return text;
  }

  std::mt19937_64 random_;
  Extent extent_;
  std::string outputs_, reductions_;
  std::vector<std::string> accesses_;
  std::map<char, std::int64_t> extents_;
};

}  // namespace tunesmith::tensor_op
