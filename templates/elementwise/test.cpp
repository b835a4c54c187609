// SPDX-License-Identifier: Apache-2.0
// Tests of elementwise's problems: refusals, the merging of dimensions, and the templates' spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "templates/elementwise/layout.h"
#include "tests/refusal.h"
#include "tests/rules.h"

namespace tunesmith::elementwise_test {
namespace {

using testing::HasSubstr;

const Op& op() { return find_op("elementwise"); }

Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

std::string refusal(const std::string& text) { return refusal(op(), text); }

TEST(ElementwiseProblem, BadInputIsNamedWithItsValue) {
  const std::array<std::array<const char*, 3>, 20> cases = {{
      {"shape=3", "has no function", "add function=VALUE"},
      {"function=\"a +\" shape=3", "function is \"a +\"", "At character 4"},
      {"function=add", "has no shape", "add shape=VALUE"},
      {"function=add shape=3x", "shape is 3x", "An extent is a whole number"},
      {"function=add shape=-3", "shape is -3", "An extent is a whole number"},
      {"function=add shape=2x3x2x3x2x3x2 b=2x1x2x1x2x1x2", "2x3x2x3x2x3x2", "7 dimensions; at most 6"},
      {"function=add shape=2000000x2000000", "shape is", "2^40"},
      {"function=add shape=99999999999999999999", "shape is", "2^40"},
      {"function=add shape=0x2000000x2000000", "shape is", "2^40"},
      {"function=hypot dtype=i32 shape=3", "function is hypot", "real numbers"},
      {"function=\"a * 1.5\" dtype=i64 shape=3", "function is \"a * 1.5\"", "1.5"},
      {"function=add shape=4x3 b=4", "b is 4", "does not broadcast to the shape 4x3"},
      {"function=add shape=3 b=1x3", "b is 1x3", "it may have fewer"},
      {"function=add shape=4x3 c=3", "c is 3", "no input c; leave it out"},
      {"function=add shape=4x3 a=4x3:3", "a is 4x3:3", "a stride for each extent"},
      {"function=add shape=4x3 a=4x3:3x-1", "a is 4x3:3x-1", "from 0 to 2^40"},
      {"function=add shape=4x3 a=4x3:x", "a is 4x3:x", "a stride for each extent"},
      {"function=add shape=4x3 a=4x3:1099511627776x1", "a is", "2^40"},
      {"function=add shape=4x3 a=4x3:99999999999999999999x1", "a is", "2^40"},
      {"function=add dtype=u8 shape=3", "dtype is u8", "f32, f64, i32, i64, f16, bf16"},
  }};
  for (const auto& [text, names, says] : cases) {
    EXPECT_THAT(refusal(text), HasSubstr(names)) << text << " | " << refusal(text);
    EXPECT_THAT(refusal(text), HasSubstr(says)) << text << " | " << refusal(text);
  }
}

// Strides are kept when a problem is made small or odd.
TEST(ElementwiseProblem, CompanionsAreProblems) {
  for (const char* text :
       {"function=\"a + 1\" shape=2 a=2:500000000", "function=add shape=2x3 b=2x3:1000000000000x1"}) {
    const std::vector<Problem> companions = op().companions(problem(text));
    EXPECT_FALSE(companions.empty());
    for (const Problem& companion : companions)
      EXPECT_NO_THROW(complete_problem(op(), companion)) << companion.text();
  }
}

TEST(ElementwiseProblem, DimensionsAreMerged) {
  const auto layout = [](const std::string& text) {
    const Problem wanted = problem("function=add " + text);
    return elementwise_op::layout_of(wanted, 2);
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(layout("shape=4x5x6").extents, Numbers{120});
  EXPECT_EQ(layout("shape=4x5x6 b=1").inputs[1].strides, Numbers{0});
  EXPECT_EQ(layout("shape=4x5x6 b=6").extents, (Numbers{6, 20}));
  EXPECT_EQ(layout("shape=4x5x6 b=6").inputs[1].strides, (Numbers{1, 0}));
  EXPECT_EQ(layout("shape=4x5x6 b=5x6").extents, (Numbers{30, 4}));
  EXPECT_EQ(layout("shape=4x5x6 b=4x1x1").extents, (Numbers{30, 4}));
  EXPECT_EQ(layout("shape=4x5x6 b=4x1x6").extents, (Numbers{6, 5, 4}));
  EXPECT_EQ(layout("shape=4x1x6 b=1x6").extents, (Numbers{6, 4}));
  EXPECT_EQ(layout("shape=4x6 a=4x6:8x1").extents, (Numbers{6, 4}));
  EXPECT_EQ(layout("shape=4x6 a=4x6:8x1").inputs[0].memory, 30);
  EXPECT_EQ(layout("shape=4x6 a=4x6:12x2").extents, Numbers{24});
  EXPECT_EQ(layout("shape=4x6 a=4x6:12x2").inputs[0].strides, Numbers{2});
  EXPECT_EQ(layout("shape=4x6 a=4x6:1x4").inputs[0].strides, (Numbers{4, 1}));
  EXPECT_EQ(layout("shape=1x1 b=1").extents, Numbers{1});
  EXPECT_EQ(layout("shape=4x0x6 b=4x0x1").elements, 0);
  EXPECT_EQ(layout("shape=4x0x6 b=4x1x1").inputs[1].memory, 4);
  EXPECT_TRUE(layout("shape=4x5x6").inputs[0].is_output_like);
  EXPECT_FALSE(layout("shape=4x5x6 b=6").inputs[1].is_output_like);
}

// The arrays of a drawn problem: the output's extents, and each input's strides along them.
struct Arrays {
  std::vector<std::int64_t> shape;
  std::array<std::vector<std::int64_t>, 2> strides;
};

// Draws arrays that are repeated along some dimensions and sometimes have gaps.
Arrays drawn_arrays(Random& random) {
  Arrays arrays;
  for (std::uint64_t rank = random.below(5); arrays.shape.size() < rank;)
    arrays.shape.push_back(static_cast<std::int64_t>(1 + random.below(6)));
  for (std::vector<std::int64_t>& strides : arrays.strides) {
    strides.resize(arrays.shape.size());
    std::int64_t step = 1;
    const bool repeats = random.below(2) == 0, has_gaps = random.below(3) == 0;
    for (std::size_t dim = arrays.shape.size(); dim-- > 0;) {
      if (repeats && random.below(2) == 0) continue;
      strides[dim] = step;
      step *= arrays.shape[dim] + static_cast<std::int64_t>(has_gaps ? random.below(2) : 0);
    }
  }
  return arrays;
}

// The same arrays with some dimensions cut in two and with additional dimensions of one element.
Arrays cut(const Arrays& arrays, Random& random) {
  Arrays finer;
  const auto add = [&](std::int64_t extent, const std::array<std::int64_t, 2>& strides) {
    finer.shape.push_back(extent);
    for (std::size_t k = 0; k < strides.size(); ++k) finer.strides[k].push_back(strides[k]);
  };
  for (std::size_t dim = 0; dim < arrays.shape.size(); ++dim) {
    const std::array strides = {arrays.strides[0][dim], arrays.strides[1][dim]};
    std::int64_t inner = static_cast<std::int64_t>(1 + random.below(3));
    if (arrays.shape[dim] % inner != 0) inner = 1;
    add(arrays.shape[dim] / inner, {strides[0] * inner, strides[1] * inner});
    add(inner, strides);
  }
  return finer;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : "x") + std::to_string(number);
  return text.empty() ? "1" : text;
}

// The text of a problem, in any of the forms that a user may choose.
std::string problem_text(const Arrays& arrays, Random& random) {
  std::string text = "function=add shape=" + joined(arrays.shape);
  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<std::int64_t> extents, strides, dense;
    for (std::size_t dim = 0; dim < arrays.shape.size(); ++dim) {
      const std::int64_t stride = arrays.strides[k][dim];
      const bool repeats = stride == 0 || arrays.shape[dim] == 1;
      if (extents.empty() && repeats && random.below(2) == 0) continue;
      extents.push_back(repeats && random.below(2) == 0 ? 1 : arrays.shape[dim]);
      strides.push_back(extents.back() == 1 ? static_cast<std::int64_t>(random.below(9)) : stride);
    }
    bool has_gaps = false;
    std::int64_t step = 1;
    for (std::size_t dim = extents.size(); dim-- > 0;) {
      has_gaps = has_gaps || (extents[dim] > 1 && strides[dim] != step);
      step *= extents[dim];
    }
    if (!has_gaps && extents == arrays.shape && random.below(2) == 0) continue;  // dense
    text += std::string(k == 0 ? " a=" : " b=") + joined(extents);
    if (!extents.empty() && (has_gaps || random.below(2) == 0)) text += ":" + joined(strides);
  }
  return text;
}

// The address of each element of an input, in the output's order.
std::vector<std::int64_t> addresses(const std::vector<std::int64_t>& shape,
                                    const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> found = {0};
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<std::int64_t> next;
    for (const std::int64_t at : found)
      for (std::int64_t i = 0; i < shape[dim]; ++i) next.push_back(at + i * strides[dim]);
    found = std::move(next);
  }
  return found;
}

TEST(ElementwiseProblem, ArraysAreOneProblemHoweverTheirDimensionsAreWritten) {
  Random random(7);
  for (int n = 0; n < 1000; ++n) {
    const Arrays arrays = drawn_arrays(random);
    const std::string given = problem_text(arrays, random);
    const std::string other = problem_text(cut(cut(arrays, random), random), random);
    SCOPED_TRACE(given + " | " + other);
    const Problem stored = problem(given);
    ASSERT_EQ(problem(other), stored);
    ASSERT_EQ(problem(stored.text()), stored);
    const elementwise_op::Layout layout = elementwise_op::layout_of(stored, 2);
    for (std::size_t k = 0; k < 2; ++k) {
      std::vector<std::int64_t> extents = layout.extents, strides = layout.inputs[k].strides;
      std::reverse(extents.begin(), extents.end());
      std::reverse(strides.begin(), strides.end());
      ASSERT_EQ(addresses(extents, strides), addresses(arrays.shape, arrays.strides[k]));
    }
  }
}

TEST(ElementwiseSpace, HasSomeThousandConfigsAndADefaultForEveryProblem) {
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text :
       {"function=add shape=134217728", "function=add dtype=f16 shape=2147487745",
        "function=polar_distance dtype=f64 shape=1000", "function=add shape=4096x4095 b=4096x1",
        "function=gaussian_pdf dtype=bf16 shape=1000 b=1 c=1", "function=add shape=3000000x2000 b=2000"}) {
    const Problem wanted = problem(text);
    for (const Template& tmpl : op().templates) {
      if (tmpl.refuses && !tmpl.refuses(wanted).empty()) continue;
      const Space space = tmpl.space(wanted);
      if (tmpl.name != "base") {
        EXPECT_GE(space.count(Space::Subset::promising), 300) << text;
        EXPECT_LE(space.count(Space::Subset::promising), 8000) << text;
      }
      EXPECT_FALSE(exceeds(tmpl.work(wanted, space.complete({})), device)) << text;
    }
  }
}

// Configs that the bodies cannot execute are refused with a reason; configs that are only unlikely to be fast
// are legal.
TEST(ElementwiseSpace, RulesSayWhatTheBodiesCannotDo) {
  std::string long_sum = "sin(a)";
  for (int n = 1; n < 40; ++n) long_sum += "+sin(" + std::to_string(n) + "*a)";
  const std::array<RuleCase, 7> cases = {{
      {"contiguous", "function=add dtype=f16 shape=2147487745", "INDEX=32", "fewer than 2^31 elements"},
      {"contiguous", "function=\"" + long_sum + "\" shape=1000", "ITEMS=8 VECTOR=4",
       "at most 4096 operations"},
      {"contiguous", "function=add shape=1000", "ITEMS=8 VECTOR=4 RESIDENT_THREADS=2048", ""},
      {"broadcast", "function=add shape=64x63 b=64x1", "VECTOR_IN=row VECTOR=4", "that VECTOR divides"},
      {"broadcast", "function=add shape=64x64 b=64x1", "INDEX=64", ""},
      {"broadcast_any", "function=add shape=2x3 b=2x3:2147483648x1", "INDEX=32", "fewer than 2^31 elements"},
      {"broadcast_any", "function=add shape=64x64 b=64x1", "INDEX=64", ""},
  }};
  expect_rules(op(), cases);
}

}  // namespace
}  // namespace tunesmith::elementwise_test
