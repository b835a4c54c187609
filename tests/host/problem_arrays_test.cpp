// SPDX-License-Identifier: Apache-2.0
// Tests a problem's arrays on the host: which are restored, which writes outside them are seen, and the
// sentence for a difference.
#include "tuner/check/problem_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace tunesmith {
namespace {

using testing::HasSubstr;

Op copy_op() {
  const auto size = [](const Problem& p) { return std::vector<std::int64_t>{p.integer("size")}; };
  Op op;
  op.name = "copy";
  op.parameters = {{.name = "size", .what = "elements", .maximum = 1000},
                   {.name = "dtype", .what = "element type", .categories = {"f32"}, .initial = Value("f32")}};
  op.arguments = {{"x", Role::input, size}, {"y", Role::output, size}};
  op.reference = [](const Problem&, std::span<const std::vector<double>> arguments, int, std::int64_t begin,
                    std::int64_t end, std::span<double> value, std::span<double> permitted) {
    for (std::int64_t i = begin; i < end; ++i) {
      value[static_cast<std::size_t>(i - begin)] = arguments[0][static_cast<std::size_t>(i)];
      permitted[static_cast<std::size_t>(i - begin)] = 0.5;
    }
  };
  op.flops = [](const Problem&) { return 1.0; };
  op.companions = [](const Problem&) { return std::vector<Problem>(); };
  return op;
}

class ProblemArraysTest : public testing::Test {
 protected:
  Op op_ = copy_op();
  Problem problem_ = complete_problem(op_, Problem::parse("size=10"));
  std::vector<char> memory_ = filled();
  std::unique_ptr<Device> device_ = make_host_device();
  ProblemArrays arrays_{*device_, op_, check_parts(op_, problem_, memory_.data()).front()};
  std::vector<char> filled() const {
    std::vector<char> memory(check_bytes(op_, problem_));
    fill_check_memory(op_, problem_, 1, memory.data());
    return memory;
  }
  float* x() const { return arrays_.arrays()[0].live.as<float>(); }
  float* y() const { return arrays_.arrays()[1].live.as<float>(); }
};

TEST_F(ProblemArraysTest, InputsAreRestoredAndOutputsPoisoned) {
  const std::vector<float> before(x(), x() + 10);
  x()[3] += 1;
  arrays_.restore_inputs();
  EXPECT_EQ(std::vector<float>(x(), x() + 10), before);
  arrays_.reset(Poison::nan);
  EXPECT_NE(y()[0], y()[0]) << "NaN";
  arrays_.align(64);
  EXPECT_EQ(std::vector<float>(x(), x() + 10), before) << "in another place";
  EXPECT_EQ(arrays_.pointers()[0], x());
}

TEST_F(ProblemArraysTest, WhatIsWrittenBesideThemIsSeenOnce) {
  EXPECT_EQ(arrays_.written_beyond(), "");
  y()[-2] = 1;
  EXPECT_EQ(arrays_.written_beyond(), "2 elements before the start of y");
  EXPECT_EQ(arrays_.written_beyond(), "");
  x()[10] = 1;  // arrays are padded to their alignment, 256 bytes
  EXPECT_EQ(arrays_.written_beyond(), "1 element beyond the end of x");
}

TEST_F(ProblemArraysTest, AWrongElementIsSaidWithItsPlace) {
  std::memcpy(y(), x(), 40);
  EXPECT_EQ(arrays_.compare(1).wrong, 0);
  y()[7] = 3;
  const Comparison comparison = arrays_.compare(1);
  ASSERT_EQ(comparison.wrong, 1);
  const std::string text = arrays_.difference(1, comparison);
  EXPECT_EQ(text.substr(0, text.find(" expected")), "y[7] is 3,");
  EXPECT_THAT(text, HasSubstr("within 0.5; 1 of 10 elements is wrong"));
}

TEST_F(ProblemArraysTest, AFaultIsNamedByTheArrayBesideIt) {
  EXPECT_EQ(arrays_.fault(y() - 1, nullptr, 0).reason,
            "The variant accessed before the start of y, on size=10 dtype=f32.");
  EXPECT_EQ(arrays_.fault(x() + 11, nullptr, 0).reason,
            "The variant accessed element 11 of x, which has 10, on size=10 dtype=f32.");
  EXPECT_EQ(arrays_.fault(nullptr, nullptr, 0).verdict, Verdict::crash);
}

TEST(WorkspacesTest, TheZeroedPartAndWhatLiesBehindAreWatched) {
  const auto device = make_host_device();
  Workspaces workspaces(*device);
  EXPECT_EQ(workspaces.get(0), nullptr);
  Work work;
  work.workspace_bytes = 16;
  work.zeroed_bytes = 4;
  workspaces.prepare(work, Poison::nan);
  EXPECT_TRUE(workspaces.zeroed_part_is_zero(work));
  char* const space = static_cast<char*>(workspaces.get(16));
  EXPECT_EQ(space[4], '\xff');
  space[1] = 1;
  EXPECT_FALSE(workspaces.zeroed_part_is_zero(work));
  space[16] = 1;
  EXPECT_EQ(workspaces.written_beyond(16), "1 byte beyond the end of the workspace");
  space[-1] = 1;
  EXPECT_EQ(workspaces.written_beyond_any(), "1 byte before the start of the workspace");
  EXPECT_EQ(workspaces.written_beyond_any(), "");
}

}  // namespace
}  // namespace tunesmith
