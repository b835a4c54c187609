// SPDX-License-Identifier: Apache-2.0
// Tests that a failure for want of file numbers, memory or disk space is not permanent.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "fixture.h"

namespace tunesmith {
namespace {

// Reduces a resource for a while.
class Shortage {
 public:
  Shortage(__rlimit_resource resource, rlim_t most) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    const rlimit less = {most, before_.rlim_max};
    ::setrlimit(resource_, &less);
  }
  ~Shortage() { ::setrlimit(resource_, &before_); }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;

  static Shortage of_file_numbers() {
    const int next = ::dup(0);
    ::close(next);
    return {RLIMIT_NOFILE, static_cast<rlim_t>(next)};
  }
  static Shortage of_room_in_files() { return {RLIMIT_FSIZE, 1000}; }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

class ShortageTest : public DispatcherTest {
 protected:
  ShortageTest() { std::signal(SIGXFSZ, SIG_IGN); }

  DispatcherOptions without_compiler() const {
    DispatcherOptions chosen = options();
    chosen.compile = Compile::never;
    return chosen;
  }
  // Compiles the base of the test's own op into the cache, because it is not in the library.
  void cache_base() const { Dispatcher(options()).plan("smooth", "n=10 taps=10"); }
};

using Kind = Shortage (*)();
constexpr Kind kinds[] = {Shortage::of_file_numbers, Shortage::of_room_in_files};

TEST_F(ShortageTest, ABinaryIsLoadedOnceItCanBe) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  for (const Kind kind : kinds) {
    Dispatcher dispatcher(without_compiler());
    {
      const Shortage shortage = kind();
      EXPECT_THROW(dispatcher.plan("smooth", "n=1000 taps=5"), Error);
    }
    const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
    EXPECT_EQ(plan.match(), Match::exact);
    check(plan, "smooth");
  }
}

TEST_F(ShortageTest, ACachedBinaryIsReadOnceItCanBe) {
  cache_base();
  Dispatcher dispatcher(without_compiler());
  {
    const Shortage shortage = Shortage::of_file_numbers();
    EXPECT_THROW(dispatcher.plan("smooth", "n=1000 taps=5"), Error);
  }
  check(dispatcher.plan("smooth", "n=1000 taps=5"), "smooth");
}

TEST_F(ShortageTest, APlanOfThenIsNotKept) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  cache_base();
  for (const Kind kind : kinds) {
    Dispatcher dispatcher(without_compiler());
    dispatcher.plan("smooth", "n=10 taps=10");  // loads the base
    {
      const Shortage shortage = kind();
      const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
      EXPECT_EQ(plan.match(), Match::base);
      EXPECT_TRUE(plan.outdated());
      check(plan, "smooth");
    }
    EXPECT_EQ(dispatcher.plan("smooth", "n=1000 taps=5").match(), Match::exact);
  }
}

TEST_F(ShortageTest, WhatDidNotCompileIsCompiledLater) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  cache_base();
  const char* const given = std::getenv("TMPDIR");
  const std::string before = given == nullptr ? "" : given;
  Dispatcher dispatcher(options());
  ::setenv("TMPDIR", (folder_ / "none").c_str(), 1);
  EXPECT_EQ(dispatcher.plan("smooth", "n=1000 taps=6").match(), Match::base);
  if (before.empty())
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", before.c_str(), 1);
  Plan plan;
  for (int n = 1; n <= 20 && plan.operator bool() == false; ++n) {
    const Plan later = dispatcher.plan("smooth", "n=" + std::to_string(1000 + n) + " taps=6");
    if (later.match() == Match::predicted)
      plan = later;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  ASSERT_TRUE(plan);
  check(plan, "smooth");
}

}  // namespace
}  // namespace tunesmith
