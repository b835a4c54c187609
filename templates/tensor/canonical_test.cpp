// SPDX-License-Identifier: Apache-2.0
// Tests that a problem, which is stored under names of its own, keeps its meaning: reading it again gives the
// same text, the same extents and the same layouts, and its kernels compute what the caller's line says. The
// lines have terms of the factor 0, terms that cancel, negative factors and offsets, which a stored text
// writes otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "templates/tensor/op.h"
#include "tests/rounds.h"
#include "tunesmith/tensor.h"

namespace tunesmith::tensor_canonical_test {
namespace {

using namespace tensor_op;

using Places = std::map<char, std::int64_t>;  // of indices, by name

struct Term {
  std::int64_t factor;
  char index;
};

struct Dimension {
  std::vector<Term> terms;
  std::int64_t offset = 0;

  std::int64_t at(const Places& places) const {
    std::int64_t place = offset;
    for (const Term& term : terms) place += term.factor * places.at(term.index);
    return place;
  }
  std::int64_t factor(char index) const {
    std::int64_t sum = 0;
    for (const Term& term : terms) sum += term.index == index ? term.factor : 0;
    return sum;
  }
  std::string text() const {
    std::string words;
    for (const Term& term : terms) {
      words += term.factor < 0 ? "-" : words.empty() ? "" : "+";
      const std::int64_t times = std::abs(term.factor);
      words += (times == 1 ? "" : std::to_string(times) + "*") + std::string(1, term.index);
    }
    return words + (offset > 0 ? "+" + std::to_string(offset) : "");
  }
};

struct Read {
  std::vector<Dimension> dimensions;
  TensorLayout layout;
  std::vector<std::int64_t> elements;
};

// A line: a sum, or the largest, of products of arrays A, B, … of integers.
struct Line {
  std::string outputs, reduced;
  bool is_largest = false;
  Places extents;
  std::vector<Read> reads;

  std::string text() const {
    std::string words = "out[";
    for (const char index : outputs) words += (words.back() == '[' ? "" : ",") + std::string(1, index);
    words += reduced.empty() ? "] =" : is_largest ? "] max=" : "] +=";
    for (std::size_t r = 0; r < reads.size(); ++r) {
      words += (r == 0 ? " " : " * ") + name(r) + "[";
      for (const Dimension& dimension : reads[r].dimensions)
        words += (words.back() == '[' ? "" : ",") + dimension.text();
      words += "]";
    }
    return words;
  }
  static std::string name(std::size_t read) { return {static_cast<char>('A' + read)}; }
};

Line drawn_line(Random& random) {
  const auto among = [&](std::uint64_t count) { return random.below(count); };
  Line line;
  line.outputs = std::string("yxv").substr(0, 1 + among(3));
  line.reduced = std::string("kij").substr(0, among(4));
  line.is_largest = among(6) == 0;
  const std::string all = line.outputs + line.reduced;
  for (const char index : all) line.extents[index] = static_cast<std::int64_t>(1 + among(5));
  const auto any = [&] { return all[among(all.size())]; };
  const auto add = [&](Dimension& dimension, const Term& term) {
    const auto at = static_cast<std::ptrdiff_t>(among(dimension.terms.size() + 1));
    dimension.terms.insert(dimension.terms.begin() + at, term);
  };
  line.reads.resize(1 + among(3));
  for (Read& read : line.reads) {
    read.dimensions.resize(1 + among(3));
    for (Dimension& dimension : read.dimensions) {
      static constexpr std::int64_t factors[] = {1, 1, 1, 1, 2, 3, -1, 0};
      for (std::uint64_t terms = 1 + among(2); terms > 0; --terms)
        add(dimension, {factors[among(std::size(factors))], any()});
      if (among(3) > 0) continue;
      const Term term = {factors[among(std::size(factors))], any()};
      add(dimension, term);
      add(dimension, {-term.factor, term.index});
    }
  }
  const auto dimension = [&]() -> Dimension& {
    Read& read = line.reads[among(line.reads.size())];
    return read.dimensions[among(read.dimensions.size())];
  };
  for (const char index : line.reduced) {  // each moves something
    const auto moves = [=](const Dimension& its) { return its.factor(index) != 0; };
    const bool is_there = std::any_of(line.reads.begin(), line.reads.end(), [&](const Read& read) {
      return std::any_of(read.dimensions.begin(), read.dimensions.end(), moves);
    });
    if (!is_there) add(dimension(), {1, index});
  }
  for (Read& read : line.reads) {
    std::int64_t elements = 1;
    for (Dimension& its : read.dimensions) {
      std::int64_t least = 0, most = 0;
      std::size_t moving = 0;
      for (const auto& [index, extent] : line.extents) {
        const std::int64_t end = its.factor(index) * (extent - 1);
        (end < 0 ? least : most) += end;
        moving += its.factor(index) != 0 ? 1 : 0;
      }
      its.offset = -least + static_cast<std::int64_t>(among(2));
      // An index that stands alone has the array's extent.
      const bool has_room = moving > 1 || its.offset > 0;
      read.layout.extents.push_back(most + its.offset + 1 +
                                    static_cast<std::int64_t>(has_room ? among(2) : 0));
      elements *= read.layout.extents.back();
    }
    // Strides without gaps say the same as no strides.
    if (among(2) == 0) read.layout.strides = dense_strides(read.layout.extents);
    read.elements.resize(static_cast<std::size_t>(elements));
    for (std::int64_t& element : read.elements) element = static_cast<std::int64_t>(among(19)) - 9;
  }
  return line;
}

// The result of the loops as they are written.
std::vector<std::int64_t> plain_loops(const Line& line) {
  const std::string all = line.outputs + line.reduced;
  std::vector<std::int64_t> result;
  Places places;
  const auto term = [&] {
    std::int64_t product = 1;
    for (const Read& read : line.reads) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < read.dimensions.size(); ++d)
        at = at * read.layout.extents[d] + read.dimensions[d].at(places);
      product *= read.elements[static_cast<std::size_t>(at)];
    }
    return product;
  };
  const auto walk = [&](const auto& next, std::size_t depth, std::optional<std::int64_t>& reduced) -> void {
    if (depth == all.size()) {
      const std::int64_t its = term();
      reduced = !reduced ? its : line.is_largest ? std::max(*reduced, its) : *reduced + its;
      return;
    }
    for (std::int64_t at = 0; at < line.extents.at(all[depth]); ++at) {
      places[all[depth]] = at;
      std::optional<std::int64_t> own;
      next(next, depth + 1, depth < line.outputs.size() ? own : reduced);
      if (depth + 1 == line.outputs.size()) result.push_back(own.value());
    }
  };
  std::optional<std::int64_t> none;
  walk(walk, 0, none);
  return result;
}

// A problem as a typed function asks for it, and as a command line does.
struct Asked {
  std::vector<TensorLayout> layouts;
  TensorLayout out;
  TensorOptions options;
  std::string problem;  // in the line's own names
};
Asked asked(const Line& line) {
  Asked its;
  its.problem = "expression=\"" + line.text() + "\" dtype=i64";
  for (const auto& [index, extent] : line.extents) {
    its.options.extents.emplace_back(std::string(1, index), extent);
    its.problem += " " + std::string(1, index) + "=" + std::to_string(extent);
  }
  for (std::size_t r = 0; r < line.reads.size(); ++r) {
    const TensorLayout& layout = line.reads[r].layout;
    its.layouts.push_back(layout);
    its.problem += " " + Line::name(r) + "=" + joined(layout.extents) +
                   (layout.strides.empty() ? "" : ":" + joined(layout.strides));
    if (layout.extents.size() == 1 && layout.strides.empty()) its.problem += ":1";  // not to be a number
  }
  for (const char index : line.outputs) its.out.extents.push_back(line.extents.at(index));
  return its;
}

std::vector<std::int64_t> computed(Dispatcher& dispatcher, const Line& line) {
  const Asked its = asked(line);
  std::vector<TensorInput> inputs;
  for (const Read& read : line.reads) inputs.push_back({read.elements.data(), read.layout});
  std::vector<std::int64_t> out(static_cast<std::size_t>(volume(its.out.extents)));
  EXPECT_TRUE(
      tensor(dispatcher, line.text(), ElementType::i64, inputs, out.data(), its.out, nullptr, its.options));
  return out;
}

DispatcherOptions on_host(Compile compile) {
  return {.device = "host", .database = "", .compile = compile, .cache_folder = ""};
}

TEST(TensorCanonical, AStoredProblemIsTheSameHoweverItIsAskedFor) {
  const Op& op = find_op("tensor");
  Random random(3);
  for (std::uint64_t round = 0; round < fuzz_rounds(3000); ++round) {
    const Line line = drawn_line(random);
    const Asked its = asked(line);
    SCOPED_TRACE(its.problem);
    const Problem stored = complete_problem(op, Problem::parse(its.problem));
    ASSERT_EQ(complete_problem(op, stored), stored);
    ASSERT_EQ(complete_problem(op, Problem::parse(stored.text())), stored);
    ASSERT_EQ(complete_problem(op, Problem::parse(tensor_problem(line.text(), ElementType::i64, its.layouts,
                                                                 its.out, its.options))),
              stored);
    std::vector<std::vector<std::int64_t>> shapes;
    for (const TensorLayout& layout : its.layouts) shapes.push_back(layout.extents);
    const TensorComputation dense = tensor_computation(line.text(), "i64", its.layouts, its.options);
    ASSERT_EQ(dense.shape, tensor_shape(line.text(), shapes, its.options));
    ASSERT_EQ(dense.problem, tensor_problem(line.text(), ElementType::i64, its.layouts,
                                            {.extents = dense.shape}, its.options));
    const ParseResult again = parse(stored.string("expression"));
    ASSERT_EQ(canonical_text(again.expression), stored.string("expression"));
    ASSERT_EQ(again.expression.indices.size(), line.extents.size());
  }
}

TEST(TensorCanonical, LinesWithTermsThatMoveNothingAreComputedAsTheyAreWritten) {
  Dispatcher dispatcher(on_host(Compile::never));
  Random random(5);
  for (std::uint64_t round = 0; round < fuzz_rounds(500); ++round) {
    const Line line = drawn_line(random);
    ASSERT_EQ(computed(dispatcher, line), plain_loops(line)) << asked(line).problem;
  }
}

// True if the stored text numbers the reduced indices otherwise than the line names them.
bool is_renumbered(const Line& line) {
  const std::string text = line.text();
  const Expression e = parse(text).expression;
  for (std::size_t i = e.free + 1; i < e.indices.size(); ++i)
    if (text.find(e.indices[i].name) < text.find(e.indices[i - 1].name)) return true;
  return false;
}

// The kernels are compiled for a line.
TEST(TensorCanonical, SoAreTheyByKernelsOfTheirOwn) {
  Dispatcher dispatcher(on_host(Compile::now));
  Random random(7);
  int left = 4;
  for (int round = 0; round < 3000 && left > 0; ++round) {
    const Line line = drawn_line(random);
    if (!is_renumbered(line)) continue;
    --left;
    const Asked its = asked(line);
    const Plan plan =
        tensor_plan(dispatcher, line.text(), ElementType::i64, its.layouts, its.out, its.options);
    EXPECT_NE(plan.variant().template_name, "base") << its.problem;
    EXPECT_EQ(computed(dispatcher, line), plain_loops(line)) << its.problem;
  }
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace tunesmith::tensor_canonical_test
