// SPDX-License-Identifier: Apache-2.0
// Tests problems without elements: every op accepts them and does nothing, or says that they have no meaning.
// On the host, with the built-in kernels.
#include <gtest/gtest.h>

#include "kernel_file/find_op.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

class ZeroSizes : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ZeroSizes, AreNoOps) {
  static Dispatcher dispatcher({.device = "host", .database = "", .cache_folder = ""});
  const auto& [name, text] = GetParam();
  const Plan plan = dispatcher.plan(name, text);
  const Op& op = find_op(name);
  const Problem problem = Problem::parse(plan.problem());
  std::vector<std::vector<char>> arrays;
  std::vector<void*> arguments;
  for (const Argument& argument : op.arguments) {
    const auto bytes = static_cast<std::size_t>(size_bytes(argument, problem));
    arrays.emplace_back(bytes + 64, '\7');
    arguments.push_back(bytes == 0 ? nullptr : arrays.back().data());
  }
  const std::vector<std::vector<char>> before = arrays;
  const Status status = plan.launch(arguments);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(arrays, before) << "nothing is written";
  EXPECT_FALSE(dispatcher.explain(name, text).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Ops, ZeroSizes,
    testing::Values(
        std::pair("conv1d", "batch=0 length=10 taps=3"),
        std::pair("conv2d", "batch=0 height=10 width=10 mask_height=3 mask_width=3"),
        std::pair("conv2d", "height=0 width=10 mask_height=3 mask_width=3"),
        std::pair("conv2d", "height=10 width=0 mask_height=3 mask_width=3 dtype=f64"),
        std::pair("transpose", "height=0 width=10"), std::pair("transpose", "height=10 width=0 batch=2"),
        std::pair("transpose", "height=10 width=10 batch=0"),
        std::pair("elementwise", "function=add shape=0"),
        std::pair("elementwise", "function=hypot shape=5x0x3"),
        std::pair("reduce", "function=sum outer=0 length=10"),
        std::pair("reduce", "function=max outer=3 length=10 inner=0"),
        std::pair("scan", "outer=3 length=0 inner=2"), std::pair("scan", "length=5 inner=0 kind=exclusive"),
        std::pair("rank_filter", "height=0 width=9 window_width=3 rank=1"),
        std::pair("filter_bank", "height=0 width=9 filters=2 taps_y=3 taps_x=3"),
        std::pair("rows", "expression=softmax rows=0 columns=10"),
        std::pair("rows", "expression=\"y = x / sum(x)\" rows=3 columns=0"),
        std::pair("conv_covariance",
                  "batch=0 channels_out=1 channels_in=1 height=5 width=5 mask_height=3 mask_width=3"),
        std::pair("conv_covariance",
                  "channels_out=0 channels_in=1 height=5 width=5 mask_height=3 mask_width=3"),
        std::pair("conv_covariance",
                  "channels_out=1 channels_in=0 height=5 width=5 mask_height=3 mask_width=3")),
    [](const auto& info) { return std::string(info.param.first) + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace tunesmith
