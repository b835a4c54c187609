// SPDX-License-Identifier: Apache-2.0
// Tests the forms of an index expression: each computes what its loops compute, and saves what it should.
#include "templates/tensor/derive/forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "templates/tensor/drawer.h"
#include "templates/tensor/notation/layout.h"
#include "templates/tensor/test_expressions.h"
#include "tests/rounds.h"

namespace tunesmith::tensor_op::derive_forms_test {
namespace {

using language::Node;
using language::Operation;

Expression parsed(const std::string& text, const std::string& finish = "out") {
  const ParseResult result = parse(text, finish);
  EXPECT_EQ(result.error, "") << text;
  return result.expression;
}

// The extent of each index, from "y=3 x=4".
std::vector<std::int64_t> extents_in(const Expression& e, const std::string& words) {
  std::map<std::string, std::int64_t> known;
  std::istringstream all(words);
  for (std::string word; all >> word;)
    known[word.substr(0, word.find('='))] = std::stoll(word.substr(word.find('=') + 1));
  std::vector<std::int64_t> extents;
  for (const Index& index : e.indices) extents.push_back(known.at(index.name));
  return extents;
}

struct Array {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> elements;
  std::int64_t& at(const Access& access, const std::vector<std::int64_t>& indices) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      const Affine& dimension = access.dimensions[d];
      const std::int64_t here =
          std::inner_product(indices.begin(), indices.end(), dimension.factors.begin(), dimension.offset);
      if (here < 0 || here >= extents[d]) throw std::out_of_range("an access is out of bounds");
      place = place * extents[d] + here;
    }
    return elements[static_cast<std::size_t>(place)];
  }
};

Array array_of(const std::vector<std::int64_t>& extents) {
  const auto size =
      std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<std::int64_t>());
  return {extents, std::vector<std::int64_t>(static_cast<std::size_t>(size))};
}

// The arrays that an expression reads, with elements drawn from -4 to 4.
std::vector<Array> drawn_inputs(const Expression& e, const std::vector<std::int64_t>& extents,
                                std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Array> inputs;
  for (std::size_t k = 0; k < e.arrays.size(); ++k) {
    inputs.push_back(array_of(least_extents(e, static_cast<int>(k), extents)));
    for (std::int64_t& element : inputs.back().elements)
      element = static_cast<std::int64_t>(random() % 9) - 4;
  }
  return inputs;
}

std::int64_t value(const language::Expression& function, const std::vector<std::int64_t>& inputs) {
  return language::evaluate_whole(function, DType::i64, inputs);
}

// Runs the loops of an expression as they are written.
void run(const Expression& e, const std::vector<std::int64_t>& extents, std::vector<Array*> arrays,
         Array& output) {
  std::vector<std::int64_t> indices(extents.size(), 0);
  std::vector<std::int64_t> inputs(e.accesses.size());
  for (;;) {
    for (std::size_t a = 0; a < inputs.size(); ++a)
      inputs[a] = arrays[static_cast<std::size_t>(e.accesses[a].array)]->at(e.accesses[a], indices);
    const bool is_first = std::all_of(indices.begin() + static_cast<std::ptrdiff_t>(e.free), indices.end(),
                                      [](std::int64_t index) { return index == 0; });
    std::int64_t& sum = output.at(e.output, indices);
    const std::int64_t term = value(e.function, inputs);
    sum = is_first                        ? term
          : e.reduction == Reduction::sum ? sum + term
          : e.reduction == Reduction::max ? std::max(sum, term)
                                          : std::min(sum, term);
    bool is_last = e.finish.is_there();
    for (std::size_t k = e.free; k < extents.size(); ++k) is_last = is_last && indices[k] + 1 == extents[k];
    if (is_last) {
      std::vector<std::int64_t> of = {sum};
      for (const int place : e.finish.accesses) of.push_back(inputs[static_cast<std::size_t>(place)]);
      sum = value(e.finish.function, of);
    }
    std::size_t i = extents.size();
    while (i > 0 && ++indices[i - 1] == extents[i - 1]) indices[--i] = 0;
    if (i == 0) return;
  }
}

std::vector<std::int64_t> run(const Form& form, std::vector<Array> inputs,
                              const std::vector<std::int64_t>& shape) {
  std::vector<Array> arrays = std::move(inputs);
  const std::size_t first = arrays.size();
  arrays.resize(first + form.steps.size());
  for (std::size_t n = 0; n < form.steps.size(); ++n) {
    const FormStep& step = form.steps[n];
    const auto free = static_cast<std::ptrdiff_t>(step.expression.free);
    arrays[first + n] = array_of(
        n + 1 == form.steps.size() ? shape : std::vector(step.extents.begin(), step.extents.begin() + free));
    std::vector<Array*> read;
    for (const int array : step.arrays) {
      if (array >= static_cast<int>(first + n)) throw std::out_of_range("a step reads a later one");
      read.push_back(&arrays[static_cast<std::size_t>(array)]);
    }
    run(step.expression, step.extents, read, arrays[first + n]);
  }
  return arrays.back().elements;
}

std::ptrdiff_t subtractions(const Form& form) {
  std::ptrdiff_t count = 0;
  for (const FormStep& step : form.steps) {
    count += std::count_if(
        step.expression.function.nodes.begin(), step.expression.function.nodes.end(), [](const Node& node) {
          return node.operation == Operation::subtract || node.operation == Operation::negate;
        });
  }
  return count;
}

std::string steps(const Form& form) {
  std::string all;
  for (const FormStep& step : form.steps) all += (step.joined ? "  " : "") + text(step.expression) + "\n";
  return all;
}

// For any expression: every form is right, stays inside the arrays and keeps what is promised of all forms.
void expect_right(const Expression& e, const std::vector<std::int64_t>& extents, const std::vector<Form>& all,
                  May may, std::uint64_t seed) {
  std::vector<Array> inputs = drawn_inputs(e, extents, seed);
  const std::vector<std::int64_t> shape = least_extents(e, -1, extents);
  ASSERT_FALSE(all.empty());
  ASSERT_LE(all.size(), most_forms);
  ASSERT_EQ(all[0].launches(), 1U);
  if (!e.finish.is_there()) {
    EXPECT_EQ(canonical_text(all[0].steps[0].expression), canonical_text(e));
  }
  Array direct = array_of(shape);
  std::vector<Array*> read;
  for (Array& input : inputs) read.push_back(&input);
  run(e, extents, read, direct);
  for (const Form& form : all) {
    const std::string what =
        text(e) + ", " + canonical_finish(e) + ", with " + joined(extents) + "\n" + steps(form);
    ASSERT_EQ(run(form, inputs, shape), direct.elements) << what;
    EXPECT_LE(form.launches(), form.steps.size()) << what;
    EXPECT_FALSE(form.steps[0].joined) << what;
    EXPECT_FALSE(may == May::reorder && form.distributes) << what;
    EXPECT_TRUE(subtractions(all[0]) > 0 || subtractions(form) == 0) << what;
    for (const Form& other : all) {
      const bool beats = other.operations <= form.operations && other.bytes <= form.bytes &&
                         (other.operations < form.operations || other.bytes < form.bytes);
      EXPECT_FALSE(beats && &form != &all[0]) << what << steps(other);
    }
  }
  const std::size_t best = cheapest(all, 13);
  ASSERT_LT(best, all.size());
  EXPECT_FALSE(loops_text(all[best]).empty());
}

// Each step computes what its text says.
void expect_readable(const FormStep& step) {
  const Expression& e = step.expression;
  const Expression again = parsed(text(e));
  std::vector<Array> arrays = drawn_inputs(e, step.extents, 7);
  const auto result = [&](const Expression& of) {
    std::vector<std::int64_t> extents;
    for (const Index& index : of.indices) extents.push_back(step.extents.at(e.place_of(index.name)));
    std::vector<Array*> read;
    for (const std::string& name : of.arrays)
      read.push_back(&arrays[static_cast<std::size_t>(std::find(e.arrays.begin(), e.arrays.end(), name) -
                                                      e.arrays.begin())]);
    Array output = array_of(least_extents(of, -1, extents));
    run(of, extents, read, output);
    return output.elements;
  };
  EXPECT_EQ(result(again), result(e)) << text(e);
}

TEST(TensorForms, SaveAtLeastWhatIsKnown) {
  for (const KnownExpression& each : known_expressions()) {
    const Expression e = parsed(each.expression);
    const std::vector<Form> all = forms(e, extents_in(e, each.extents), May::distribute);
    double least = all[0].operations;
    for (const Form& form : all) least = std::min(least, form.operations);
    EXPECT_LE(least, each.operations) << each.name;
    EXPECT_GE(all[0].operations, each.saved * least) << each.name;
  }
}

TEST(TensorForms, OfKnownExpressionsAreRight) {
  for (const KnownExpression& each : known_expressions()) {
    const Expression e = parsed(each.expression);
    const std::vector<std::int64_t> extents = extents_in(e, each.small);
    for (const May may : {May::reorder, May::distribute})
      expect_right(e, extents, forms(e, extents, may), may, 1);
  }
}

// There are more rewrites than are searched: the forms that are found are right, and there is always one.
TEST(TensorForms, OfManyFactorsAndTermsAreRight) {
  for (const char* const words :
       {"out[y,x,z] += a[y,i,j] * b[x,j,k] * c[z,k,i] * d[i,y] * e[j,x] * f[k,z]",
        "out[y,x] += (a[y,i] + b[i,j] + c[j,x]) ** 2 * (d[y,k] + e[k,j] + f[x,i]) ** 2",
        "out[y,x] += a[y,i] * b[x,j] + a[y,i] * c[j,k] - b[x,j] * c[j,k] + d[y,x] * a[y,i] * b[x,j] + "
        "e[i,j] * d[y,x] * c[j,k] - f[k] * b[x,j] * d[y,x]"}) {
    const Expression e = parsed(words);
    const std::vector<std::int64_t> extents = {3, 4, 3, 4, 3, 2};
    const std::vector<std::int64_t> own(extents.begin(),
                                        extents.begin() + static_cast<std::ptrdiff_t>(e.indices.size()));
    const std::vector<Form> all = forms(e, own, May::distribute);
    EXPECT_GT(all.size(), 1U) << words;
    expect_right(e, own, all, May::distribute, 3);
  }
}

// The steps of the form with the fewest operations.
std::string fewest(const std::string& words, const std::string& extents, May may = May::distribute,
                   const std::string& finish = "out") {
  const Expression e = parsed(words, finish);
  const std::vector<Form> all = forms(e, extents_in(e, extents), may);
  const auto least = std::min_element(
      all.begin(), all.end(), [](const Form& a, const Form& b) { return a.operations < b.operations; });
  return steps(*least);
}

TEST(TensorForms, AreNestsOfLoops) {
  EXPECT_EQ(fewest(known_expressions()[0].expression, known_expressions()[0].extents),
            "t0[b,y,x,v,u] += mu[b,k,y,x] * mu[b,k,v,u] + gamma[b,k,y,x,k,v,u]\n"
            "t1[b,y,x,v,u] += t0[b,y,x+j,v,u+j]\n"
            "t2[b,y,x,v,u] += t1[b,y+i,x,v+i,u]\n"
            "  out[b,c0,y,x,c0,v,u] = c[c0] * t2[b,y,x,v,u]\n");
  EXPECT_EQ(fewest(known_expressions()[9].expression, known_expressions()[9].extents),
            "t0[b,d] += B[b,c] * C[c,d]\n"
            "out[a,d] += A[a,b] * t0[b,d]\n");
  // No access names y, so the sum is computed once for all y. The scale is multiplied after the sum.
  EXPECT_EQ(fewest("out[y,x] += 3 * a[x,k]", "y=5 x=6 k=7"),
            "t0[x] += a[x,k]\n"
            "  t1[x] = t0[x] * 3\n"
            "  out[y,x] = t1[x]\n");
  // A sum of indices that stands for itself is one index.
  EXPECT_EQ(fewest("out[y,x] = exp(a[y+2*x])", "y=50 x=60"),
            "t0[y] = exp(a[y])\n"
            "out[y,x] = t0[y+2*x]\n");
  // Dilated, mirrored and shifted windows.
  EXPECT_EQ(fewest("out[y,x] max= abs(a[y+2*i,x-j+8])", "y=50 x=60 i=7 j=9"),
            "t0[y,x] = abs(a[y,x])\n"
            "t1[y,x] max= t0[y+2*i,x]\n"
            "out[y,x] max= t1[y,x-j+8]\n");
  // A term without a summed index counts as often as it is summed.
  EXPECT_EQ(fewest("out[y] += a[y+i] * b[y+i] - c[y,j]", "y=100 i=9 j=8"),
            "t0[y] = a[y] * b[y]\n"
            "t1[y] += t0[y+i]\n"
            "  t2[y] = t1[y] * 8\n"
            "t3[y] += c[y,j]\n"
            "  t4[y] = t3[y] * 9\n"
            "  out[y] = t2[y] - t4[y]\n");
}

TEST(TensorForms, FinishSumsAsTheyAreComputed) {
  const std::string line = "out[y,x] += g[i] * h[j] * image[y+i,x+j]", sizes = "y=40 x=50 i=9 j=9";
  EXPECT_EQ(fewest(line, sizes, May::distribute, "max(out + b[x], 0)"),
            "t0[y,x] += g[i] * image[y+i,x]\n"
            "t1[y,x] += h[j] * t0[y,x+j]\n"
            "  out[y,x] = max(t1[y,x] + b[x], 0)\n");
  // The sums go through no memory: the finish adds only b and its operations.
  const std::vector<std::int64_t> extents = {40, 50, 9, 9};
  const Form plain = forms(parsed(line), extents, May::distribute)[0];
  const Form finished = forms(parsed(line, "max(out + b[x], 0)"), extents, May::distribute)[0];
  EXPECT_EQ(finished.bytes, plain.bytes + 4 * 50);
  EXPECT_EQ(finished.operations, plain.operations + 2 * 40 * 50);
  EXPECT_EQ(finished.launches(), 1U);
  // Without a reduction the finish is part of the function.
  EXPECT_EQ(fewest("out[y,x] = 2 * a[x,y]", "y=4 x=5", May::reorder, "out - b[y]"),
            "out[y,x] = 2 * a[x,y] - b[y]\n");
}

TEST(TensorForms, ComputeASharedProductOnce) {
  EXPECT_EQ(
      fewest("out[y,x] += g[i] * a[y+i] * b[y+i] * c[x] + h[i] * a[y+i] * b[y+i] * d[x,i]", "y=100 x=20 i=9"),
      "t0[y] = a[y] * b[y]\n"
      "t1[i,x] = g[i] * c[x] + h[i] * d[x,i]\n"
      "out[y,x] += t0[y+i] * t1[i,x]\n");
}

// A sum over a window moves y up and x down: the array's corners would be read where c has no elements.
TEST(TensorForms, ReadNothingThatTheLoopsDoNotRead) {
  const std::string opposite = "out[y,x] += a[y+i] * b[x-i+8] * c[y+x]";
  EXPECT_EQ(forms(parsed(opposite), {40, 50, 9}, May::reorder).size(), 1U);
  const std::string inside = "out[y,x] += a[y+i] * b[x-i+8]";
  EXPECT_EQ(fewest(inside, "y=40 x=50 i=9", May::reorder),
            "t0[y,x] = a[y] * b[x]\n"
            "out[y,x] += t0[y+i,x-i+8]\n");
}

TEST(TensorForms, KeepEachValueUnlessTheyMayDistribute) {
  EXPECT_EQ(forms(parsed("out[a,d] += A[a,b] * B[b,c] * C[c,d]"), {9, 9, 9, 9}, May::reorder).size(), 1U);
  EXPECT_EQ(fewest("out[y,x] += w[y+i] * (a[y+i,x] - b[x])", "y=40 x=50 i=9", May::reorder),
            "t0[y,x] = w[y] * (a[y,x] - b[x])\n"
            "out[y,x] += t0[y+i,x]\n");
  // A difference is not taken apart: values that cancel in it would be lost.
  const std::string difference = "out[y,x] += w[i,k] * (a[y,i] - b[x,k])";
  EXPECT_EQ(forms(parsed(difference), {9, 9, 9, 9}, May::distribute).size(), 1U);
  // (max, +) is no sum of products here.
  EXPECT_EQ(forms(parsed("out[a,d] max= A[a,b] + B[b,c] + C[c,d]"), {9, 9, 9, 9}, May::distribute).size(),
            1U);
}

TEST(TensorForms, OfEmptyAndOfHugeExtentsAreTheLoopsAlone) {
  const Expression e = parsed("out[y,x] += image[y+i,x+j]");
  EXPECT_EQ(forms(e, {0, 5, 3, 3}, May::distribute).size(), 1U);
  EXPECT_EQ(forms(e, {5, 5, 0, 3}, May::distribute).size(), 1U);
  EXPECT_EQ(forms(e, {std::int64_t{1} << 40, 5, 1 << 20, 3}, May::distribute).size(), 1U);
}

TEST(TensorForms, CountEachElementOnce) {
  // Both accesses read the same 50 x 60 elements; the window's array is written and read.
  const Expression e = parsed("out[y,x,v] += a[y+i,x] * a[v+i,x]");
  const std::vector<Form> halves = forms(e, {41, 60, 41, 10}, May::reorder, 2);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0].bytes, 2 * (50 * 60 + 41 * 60 * 41));
  EXPECT_EQ(halves[0].operations, 41 * 60 * 41 * (10 + 9));
  EXPECT_EQ(halves[1].bytes, 2 * (50 * 60 + 41 * 60 * 41) + 2 * 4 * (50 * 60 * 50));
  EXPECT_EQ(halves[1].operations, 50 * 60 * 50 + 41 * 60 * 41 * 9);
  // A diagonal has as many elements as its index has values, and a joined step goes through no memory.
  const Expression trace = parsed("t[x] += m[i,i] * w[x]");
  const std::vector<Form> sums = forms(trace, {5, 90}, May::distribute);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].bytes, 4 * (90 + 5 + 5));
  EXPECT_EQ(sums[1].bytes, 4 * (90 + 5 + 5));
  EXPECT_EQ(sums[1].launches(), 1U);
}

TEST(TensorForms, NameArraysAsNothingElseIs) {
  EXPECT_EQ(fewest("t1[a,d] += A[a,b] * B[b,tt7] * C[tt7,d]", "a=9 b=9 tt7=9 d=9"),
            "ttt0[a,tt7] += A[a,b] * B[b,tt7]\n"
            "t1[a,d] += C[tt7,d] * ttt0[a,tt7]\n");
}

// TUNESMITH_TEST_DERIVATIONS is the number of expressions; 100,000 take some minutes.
TEST(TensorForms, OfDrawnExpressionsAreRight) {
#ifdef __SANITIZE_ADDRESS__  // the sanitizer makes them fifteen times as slow
  constexpr std::uint64_t usual = 200;
#else
  constexpr std::uint64_t usual = 2000;
#endif
  const std::uint64_t drawn = rounds_of("TUNESMITH_TEST_DERIVATIONS", usual);
  std::size_t rewritten = 0;
  for (std::uint64_t seed = 1; seed <= drawn && !HasFatalFailure(); ++seed) {
    Drawer drawer(seed);
    const std::string words = drawer.expression();
    const std::string finish = seed % 3 == 0 ? drawer.finish() : std::string(no_finish);
    const ParseResult result = parse(words, finish);
    ASSERT_EQ(result.error, "") << words << ", " << finish << ", seed " << seed;
    const Expression& e = result.expression;
    const std::vector<std::int64_t> extents = drawer.extents(e);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const May may = seed % 4 == 0 ? May::reorder : May::distribute;
    const std::vector<Form> all = forms(e, extents, may);
    expect_right(e, extents, all, may, seed);
    rewritten += all.size() > 1;
    for (const FormStep& step : all.back().steps) expect_readable(step);
  }
  EXPECT_GT(rewritten, drawn / 4) << "The drawn expressions have hardly any forms.";
}

}  // namespace
}  // namespace tunesmith::tensor_op::derive_forms_test
