// SPDX-License-Identifier: Apache-2.0
// Tests that DispatcherOptions::most_bytes bounds the heap for any requests.
#include <malloc.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <string>
#include <thread>

#include "dispatch/background_compiler.h"
#include "dispatch/plan_cache.h"
#include "fixture.h"
#include "runtime/files.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TUNESMITH_OWN_HEAP 1  // mallinfo2() does not count its memory
#endif

namespace tunesmith {
namespace {

std::size_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

class MemoryTest : public DispatcherTest {
 protected:
  MemoryTest() {
    if (const char* given = std::getenv("TUNESMITH_CXX")) compiler_ = given;
  }
  ~MemoryTest() override { setenv("TUNESMITH_CXX", compiler_.c_str(), 1); }

  // From now on every compilation fails, which takes no time.
  void break_compiler() const {
    const std::string script = (folder_ / "broken").string();
    write_file(script, "#!/bin/sh\n[ \"$1\" = --version ] && exec '" + compiler_ + "' \"$@\"\nexit 1\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    setenv("TUNESMITH_CXX", script.c_str(), 1);
  }

  // Asks for `count` problems. The heap grows by at most `most_bytes` and a quarter, because the limit is
  // approximate.
  static void ask(DispatcherOptions options, const std::string& op, int count,
                  const std::function<std::string(int)>& problem) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20;
    options.most_bytes = most_bytes;
    Dispatcher dispatcher(options);
    static_cast<void>(attempt([&] { static_cast<void>(dispatcher.plan(op, problem(0))); }));  // reads tables
    EXPECT_TRUE(dispatcher.wait_until_ready());
    const std::size_t before = heap_bytes();
    std::size_t most = 0;
    for (int i = 1; i <= count; ++i) {
      static_cast<void>(attempt([&] { static_cast<void>(dispatcher.plan(op, problem(i))); }));
      const std::size_t now = heap_bytes();
      most = std::max(most, now > before ? now - before : 0);
    }
    EXPECT_TRUE(dispatcher.wait_until_ready());
    const std::size_t left = heap_bytes() - before;
    std::cout << op << ": " << left / 1024 << " KiB, " << most / 1024 << " at most\n";
    EXPECT_LT(left, most_bytes + most_bytes / 4);
    EXPECT_GT(left, most_bytes / 2) << "too few problems to come near the bound";
    constexpr std::size_t a_compilation = std::size_t{1} << 20;  // the texts of a compilation
    EXPECT_LT(most, most_bytes + most_bytes / 4 + a_compilation);
  }

  std::string compiler_ = "c++";
};

TEST_F(MemoryTest, OfEverNewProblemsIsBounded) {
#ifdef TUNESMITH_OWN_HEAP
  GTEST_SKIP() << "the sanitizer has a heap of its own";
#endif
  const auto text = [](int number) { return std::to_string(number); };
  DispatcherOptions chosen = {
      .device = "host", .database = "", .compile = Compile::never, .cache_folder = ""};
  ask(chosen, "conv2d", 700,
      [&](int i) { return "height=" + text(10 + i) + " width=200 mask_height=3 mask_width=3"; });
  // Without a compiler no plan can be made for a user's own expression.
  ask(chosen, "elementwise", 700, [&](int i) { return "shape=1000 function=a*" + text(i) + "+b"; });
  tune({.op = "conv2d",
        .problem = "height=100 width=200 mask_height=3 mask_width=3",
        .template_name = "tiled",
        .config = "BLOCK_X=32 BLOCK_Y=8",
        .binary = false});
  break_compiler();
  chosen.database = database();
  chosen.compile = Compile::background;
  ask(chosen, "conv2d", 300, [&](int i) {
    return "height=100 width=200 mask_height=" + text(1 + i / 60) + " mask_width=" + text(1 + i % 60);
  });
}

// A plan that is asked for its unaligned fallback is replaced by another thread while the fallback is made.
TEST(PlanCacheTest, AReplacedPlanCountsAsWhatItWas) {
  PlanCache plans;
  const Field field = as_text("n=1");
  const Key key("smooth", {&field, 1});
  const auto plan = std::make_shared<PlanState>();
  plan->fallback_comes = true;
  plans.keep(key, plan);
  const std::size_t bytes = plans.bytes();
  plan->fallback.variant.config = std::string(1000, 'x');  // as Planner::make_fallback() does
  const auto better = std::make_shared<PlanState>();
  better->fallback_comes = true;
  EXPECT_TRUE(plans.replace(*plan, better));
  EXPECT_EQ(plans.bytes(), bytes);
  EXPECT_FALSE(plans.has(*plan));
  EXPECT_TRUE(plans.has(*better));
  plans.remove_oldest();
  EXPECT_EQ(plans.bytes(), 0u);
}

TEST(PlanCacheTest, KeysAreComparedWhole) {
  PlanCache plans;
  const std::string longer(40, 'x');
  const std::string other = longer + "y";
  const std::vector<std::pair<std::string, std::vector<Field>>> keys = {
      {"smooth", {}},
      {"smooth", {{"n", 1}}},
      {"smooth", {{"m", 1}}},
      {"tally", {{"n", 1}}},
      {"smooth", {{"n", 2}}},
      {"smooth", {{"n", "1"}}},
      {"smooth", {{"n", ""}}},
      {"smooth", {{"n", 1}, {"taps", 5}}},
      {"smooth", {{"taps", 5}, {"n", 1}}},
      {"smooth", {{"n", 5}, {"taps", 1}}},
      {"smooth", {{"n", 1}, {"dtype", "f32"}}},
      {"smooth", {{"n", 1}, {"dtype", "f64"}}},
      {"smooth", {{"n", 1}, {"dtype", std::string_view(longer)}}},
      {"smooth", {{"n", 1}, {"dtype", std::string_view(other)}}},
      {"smooth", {{"n", 1}, {"dtype", std::string_view("12345678")}}},
      {"smooth",
       {{"n", 1},
        {"dtype", std::string_view("\1"
                                   "12345678")
                      .substr(0, 8)}}},
  };
  std::vector<std::shared_ptr<const PlanState>> kept;
  for (const auto& [op, fields] : keys) {
    EXPECT_EQ(plans.find(Key(op, fields)), nullptr) << kept.size();
    kept.push_back(plans.keep(Key(op, fields), std::make_shared<PlanState>()));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(plans.find(Key(keys[i].first, keys[i].second)), kept[i]) << i;
    std::jthread([&] { EXPECT_EQ(plans.find(Key(keys[i].first, keys[i].second)), kept[i]) << i; });
  }
}

TEST(BackgroundCompilerQueueTest, WhatNobodyWantsAnyMoreIsNotDone) {
  std::atomic<int> done = 0;
  std::promise<void> begun, go_on;
  BackgroundCompiler background([] { return BackgroundCompiler::Schedule(); }, [] {});
  background.post([&](const std::stop_token&) {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  std::vector<std::shared_ptr<int>> wanted;
  const auto post = [&](std::shared_ptr<int> by) {
    background.post_for(by, [&done, weak = std::weak_ptr(by)](const std::stop_token&) {
      if (weak.lock()) ++done;
    });
  };
  for (int i = 0; i < 100; ++i) post(std::make_shared<int>(i));
  for (int i = 0; i < 10; ++i) post(wanted.emplace_back(std::make_shared<int>(i)));
  go_on.set_value();
  EXPECT_TRUE(background.wait(std::chrono::milliseconds::max()));
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace tunesmith
