// SPDX-License-Identifier: Apache-2.0
#include "generator/nearest_name.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

TEST(NearestName, IsTheOneWithTheFewestEdits) {
  const std::vector<std::string> names = {"status", "list", "merge", "conv1d", "conv2d", "--help"};
  const auto meant = [&](std::string_view word) { return did_you_mean(word, names); };
  EXPECT_EQ(meant("stat"), " Did you mean status?");
  EXPECT_EQ(meant("lst"), " Did you mean list?");
  EXPECT_EQ(meant("mrege"), " Did you mean merge?");
  EXPECT_EQ(meant("CONV2D"), " Did you mean conv2d?");
  EXPECT_EQ(meant("convd2"), " Did you mean conv2d?");
  EXPECT_EQ(meant("--hlp"), " Did you mean --help?");
  EXPECT_EQ(meant("transpose"), "");
  EXPECT_EQ(meant("x"), "");
  EXPECT_EQ(meant(""), "");
  EXPECT_EQ(meant(std::string(1000, 'l')), "");
  EXPECT_EQ(did_you_mean("status", {}), "");
}

}  // namespace
}  // namespace tunesmith
