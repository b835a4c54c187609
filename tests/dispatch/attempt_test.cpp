// SPDX-License-Identifier: Apache-2.0
// Tests attempt(): it lets no exception out, and its Status says what was thrown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "generator/error.h"
#include "tunesmith/conv2d.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

const DispatcherOptions on_host = {
    .device = "host", .database = "", .compile = Compile::never, .cache_folder = ""};

TEST(Attempt, GivesWhatTheFunctionGives) {
  Dispatcher dispatcher(on_host);
  const std::vector<float> image(20, 1);
  const std::vector<float> mask(1, 2);
  std::vector<float> output(20);
  const Conv2dShape shape{.height = 4, .width = 5, .mask_height = 1, .mask_width = 1};
  const Status good =
      attempt([&] { return conv2d(dispatcher, image.data(), mask.data(), output.data(), shape); });
  EXPECT_TRUE(good) << good.message();
  EXPECT_EQ(output[19], 2);
  const Status null_pointer =
      attempt([&] { return conv2d(dispatcher, image.data(), mask.data(), nullptr, shape); });
  EXPECT_EQ(null_pointer.code(), Status::null_argument);
}

TEST(Attempt, OfAFunctionThatGivesNothingIsASuccess) {
  std::optional<Dispatcher> dispatcher;
  Plan plan;
  EXPECT_TRUE(attempt([&] { dispatcher.emplace(on_host); }));
  EXPECT_TRUE(attempt([&] { plan = dispatcher->plan("transpose", "height=2 width=3 dtype=b32"); }));
  EXPECT_TRUE(plan);
  EXPECT_EQ(plan.argument_count(), 2U);
}

TEST(Attempt, SaysThatInputIsWrong) {
  Dispatcher dispatcher(on_host);
  const Conv2dShape shape{.height = -4, .width = 5, .mask_height = 1, .mask_width = 1};
  const Status status = attempt(
      [&] { return conv2d(dispatcher, static_cast<const float*>(nullptr), nullptr, nullptr, shape); });
  EXPECT_EQ(status.code(), Status::wrong_input);
  EXPECT_THAT(status.message(), HasSubstr("-4"));
  const Status no_device = attempt([] { Dispatcher({.device = "nosuch"}); });
  EXPECT_EQ(no_device.code(), Status::wrong_input);
  EXPECT_THAT(no_device.message(), HasSubstr("nosuch"));
}

TEST(Attempt, CatchesWhateverIsThrown) {
  const auto thrown = [](const auto& what) { return attempt([&] { throw what; }); };
  EXPECT_EQ(thrown(Error("The disk is full.")).code(), Status::failed);
  EXPECT_EQ(thrown(Error("The disk is full.")).message(), "The disk is full.");
  EXPECT_EQ(thrown(std::logic_error("odd")).message(), "odd");
  EXPECT_EQ(thrown(std::bad_alloc()).message(), "There is not enough memory.");
  EXPECT_EQ(thrown(7).code(), Status::failed);
  EXPECT_THAT(thrown(7).message(), HasSubstr("not a std::exception"));
}

}  // namespace
}  // namespace tunesmith
