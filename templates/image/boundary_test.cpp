// SPDX-License-Identifier: Apache-2.0
// Tests of code that the image ops share: one boundary in problems, references and kernels; origins; the
// value outside.
#include "templates/image/boundary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "generator/ops.h"
#include "templates/image/launch.h"
#include "templates/image/origin.h"
#include "templates/image/value.h"
#include "tunesmith/conv1d.h"
#include "tunesmith/conv2d.h"
#include "tunesmith/filter_bank.h"
#include "tunesmith/rank_filter.h"

namespace in_kernels {
#define __device__
#define __forceinline__ inline
#include "templates/common/boundary.cuh"
#undef __device__
#undef __forceinline__
}  // namespace in_kernels

namespace tunesmith {
namespace {

template <in_kernels::BoundaryNumber number>
constexpr auto ours = static_cast<Boundary>(static_cast<int>(number));
static_assert(ours<in_kernels::boundary_zero> == Boundary::zero &&
              ours<in_kernels::boundary_constant> == Boundary::constant &&
              ours<in_kernels::boundary_nearest> == Boundary::nearest &&
              ours<in_kernels::boundary_reflect> == Boundary::reflect &&
              ours<in_kernels::boundary_mirror> == Boundary::mirror &&
              ours<in_kernels::boundary_wrap> == Boundary::wrap);

// These names are older than the common name and still mean the same type.
static_assert(std::is_same_v<Conv1dBoundary, Boundary> && std::is_same_v<Conv2dBoundary, Boundary> &&
              std::is_same_v<RankFilterBoundary, Boundary> && std::is_same_v<FilterBankBoundary, Boundary>);

TEST(ImageBoundary, KernelsAskForTheSamplesOfTheDefinition) {
  for (const std::string& word : choices<Boundary>()) {
    const Boundary boundary = *named<Boundary>(word);
    for (std::int64_t size = 1; size <= 7; ++size) {
      for (std::int64_t place = -40; place <= 40; ++place) {
        EXPECT_EQ(in_kernels::sample_at(place, size, static_cast<int>(boundary)),
                  sample_at(place, size, boundary))
            << word << ", place " << place << " of " << size;
      }
    }
  }
}

const Parameter* parameter_of(const Op& op, const std::string& name) {
  for (const Parameter& parameter : op.parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

// The test covers today's ops with a boundary, and ops that are added later.
TEST(ImageBoundary, IsOneInAllOps) {
  int found = 0;
  for (const Op& op : ops()) {
    const Parameter* const boundary = parameter_of(op, "boundary");
    if (boundary == nullptr) continue;
    ++found;
    EXPECT_EQ(boundary->categories, choices<Boundary>()) << op.name;
    const Parameter* const value = parameter_of(op, "value");
    ASSERT_NE(value, nullptr) << op.name;
    EXPECT_TRUE(value->at_launch && op.launch_numbers) << op.name;
    Problem problem = complete_problem(op, Problem::parse(op.examples.front()));
    for (const std::string& word : boundary->categories) {
      problem.set("boundary", word);
      EXPECT_EQ(op.launch_numbers(problem) != nullptr, word == "constant") << op.name << " " << word;
    }
  }
  EXPECT_EQ(found, 4);
}

TEST(ImageOrigin, StaysInItsWindow) {
  for (std::int64_t extent = 1; extent <= 6; ++extent) {
    for (std::int64_t origin = -5; origin <= 5; ++origin) {
      const std::int64_t before = places_before(extent, origin);
      const std::string no = refuses_origin({{"origin", origin}}, "origin", extent);
      EXPECT_EQ(no.empty(), before >= 0 && before < extent) << origin << " of " << extent;
      // A window that is read backwards is the window of the opposite origin, which is one further for an
      // even extent.
      EXPECT_EQ(places_before(extent, origin, true), extent - 1 - before);
    }
  }
  EXPECT_EQ(
      refuses_origin({{"origin_y", std::int64_t{2}}}, "origin_y", 4),
      "A window does not hold its output's place with origin_y=2; for 4 places there, allowed are whole "
      "numbers from -2 to 1.");
}

TEST(ImageValue, IsWhatElementsHold) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(outside_value(0.1, DType::f64), 0.1);
  EXPECT_EQ(outside_value(0.1, DType::f32), static_cast<double>(0.1F));
  EXPECT_EQ(outside_value(-1e300, DType::f32), -infinity);
  EXPECT_EQ(outside_value(70000, DType::f16), infinity);
  EXPECT_EQ(outside_value(-2.9, DType::i16), -2);
  EXPECT_EQ(outside_value(300, DType::u8), 255);
  EXPECT_EQ(outside_value(std::nan(""), DType::i32), 0);
  EXPECT_TRUE(std::isnan(outside_value(std::nan(""), DType::f32)));
}

TEST(ImageValue, IsATextOfAPlanThatHasOne) {
  struct {
    Boundary boundary = Boundary::constant;
    double value = -0.1;
  } shape;
  EXPECT_EQ(ValueText(shape).get(), "-0.1");
  shape.value = -std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(ValueText(shape).get(), "-5e-324");
  shape.boundary = Boundary::wrap;
  EXPECT_EQ(ValueText(shape).get(), "0");
  EXPECT_EQ(ValueText().get(), "0");
}

}  // namespace
}  // namespace tunesmith
