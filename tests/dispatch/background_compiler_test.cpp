// SPDX-License-Identifier: Apache-2.0
// Tests background work on the host device: compilation, kernels for unaligned pointers, plans that are
// evicted.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <thread>

#include "dispatch/plan_cache.h"
#include "fixture.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class BackgroundCompilerTest : public DispatcherTest {
 protected:
  BackgroundCompilerTest() {
    if (const char* given = std::getenv("TUNESMITH_CXX")) compiler_ = given;
  }
  ~BackgroundCompilerTest() override { setenv("TUNESMITH_CXX", compiler_.c_str(), 1); }

  DispatcherOptions background() const {
    DispatcherOptions chosen = options();
    chosen.compile = Compile::background;
    return chosen;
  }

  // Compiles the base of the test's own op into the cache, because it is not in the library.
  void cache_base() const { Dispatcher(options()).plan("smooth", "n=10 taps=10"); }

  // From now on the compiler is a script with these commands; empty: there is no compiler. The environment
  // changes only once, because threads may read it.
  void write_compiler(const std::string& what) const {
    const std::string script = (folder_ / "compiler").string();
    const char* const given = std::getenv("TUNESMITH_CXX");
    if (given == nullptr || given != script) setenv("TUNESMITH_CXX", script.c_str(), 1);
    if (what.empty()) return;
    const std::string made = script + ".new";
    write_file(made, "#!/bin/sh\n[ \"$1\" = --version ] && exec '" + compiler_ + "' \"$@\"\n" + what);
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    std::filesystem::rename(made, script);
  }
  // The commands of a compiler that always gives the tuned kernel of this problem.
  std::string copies(const std::string& problem) const {
    const Op& op = find_op("smooth");
    const Template& tmpl = find_template(op, "vector");
    const Problem complete = complete_problem(op, Problem::parse(problem));
    const Config config = tmpl.space(complete).complete(Values::parse("VECTOR=1"));
    const std::string file = (folder_ / "made.so").string();
    write_file(file, binary_of(render(op, tmpl, complete, config, "host")));
    return "while [ \"$1\" != -o ]; do shift; done\ncp '" + file + "' \"$2\"\n";
  }
  // Makes the compiler slower by this time, and counts its calls.
  void slow_compiler(const std::string& seconds) const {
    write_compiler("echo >>'" + calls() + "'\nsleep " + seconds + " && exec '" + compiler_ + "' \"$@\"\n");
  }
  std::string calls() const { return (folder_ / "calls").string(); }

  std::string compiler_ = "c++";
};

TEST_F(BackgroundCompilerTest, ABetterKernelIsCompiledBehindThePlan) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  slow_compiler("1");
  Dispatcher dispatcher(background());
  const auto start = Clock::now();
  const Plan first = dispatcher.plan("smooth", "n=1000 taps=6");
  EXPECT_LT(Clock::now() - start, milliseconds(700));
  EXPECT_EQ(first.match(), Match::base);
  says(first, "no known winner can be used yet");
  says(first, "Compiled in the background");
  EXPECT_FALSE(first.outdated());
  EXPECT_FALSE(dispatcher.wait_until_ready(milliseconds(1)));
  EXPECT_EQ(&dispatcher.plan("smooth", "n=1000 taps=6").variant(), &first.variant());

  EXPECT_TRUE(dispatcher.wait_until_ready());
  EXPECT_TRUE(first.outdated());
  const Plan better = dispatcher.plan("smooth", "n=1000 taps=6");
  EXPECT_EQ(better.match(), Match::predicted);
  EXPECT_EQ(better.variant().template_name, "vector");
  EXPECT_FALSE(better.outdated());
  EXPECT_EQ(first.variant().template_name, "base");
  check(first, "smooth");
  check(better, "smooth");
  // Another size has the same source, so nothing is left to compile.
  EXPECT_EQ(dispatcher.plan("smooth", "n=777 taps=6").variant().template_name, "vector");
  EXPECT_EQ(read_file(calls()), "\n");
}

TEST_F(BackgroundCompilerTest, ThreadsThatWantTheSameSourceCompileItOnce) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  slow_compiler("0.2");
  Dispatcher dispatcher(options());
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, &dispatcher, t] {
      check(dispatcher.plan("smooth", "n=" + std::to_string(1000 + t) + " taps=6"), "smooth");
    });
  }
  threads.clear();
  EXPECT_EQ(read_file(calls()), "\n");
}

TEST_F(BackgroundCompilerTest, ACompilationThatTakesTooLongIsGivenUp) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  slow_compiler("20");
  DispatcherOptions impatient = options();
  impatient.compile_limit = milliseconds(100);
  Dispatcher dispatcher(impatient);
  const auto start = Clock::now();
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=6");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(plan.match(), Match::base);
  says(plan, "more than 100 ms");
  check(plan, "smooth");
  dispatcher.plan("smooth", "n=1001 taps=6");
  EXPECT_EQ(read_file(calls()), "\n") << "what failed is not tried again";
}

TEST_F(BackgroundCompilerTest, ADispatcherThatGoesEndsItsCompilers) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  slow_compiler("20");
  Plan plan;
  const auto start = Clock::now();
  {
    Dispatcher dispatcher(background());
    plan = dispatcher.plan("smooth", "n=1000 taps=6");
    while (read_file(calls()).empty()) std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  says(plan, "Compiled in the background");
  check(plan, "smooth");
}

TEST_F(BackgroundCompilerTest, UnalignedPointersAskForTheirKernel) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .median_us = 5});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1", .median_us = 7});
  Dispatcher dispatcher(background());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  check(plan, "smooth");
  EXPECT_TRUE(dispatcher.wait_until_ready());
  EXPECT_EQ(plan.unaligned_variant().template_name, "base") << "nobody has asked for it";
  check(plan, "smooth", 4);
  EXPECT_TRUE(dispatcher.wait_until_ready());
  EXPECT_EQ(plan.unaligned_variant().median_us, 7);
  check(plan, "smooth", 4);
  check(plan, "smooth", 0);
  EXPECT_EQ(dispatcher.plan("smooth", "n=1004 taps=5").unaligned_variant().template_name, "vector")
      << "where it is loaded, plans begin with it";
}

TEST_F(BackgroundCompilerTest, PreparedProblemsHaveAllTheirKernels) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .median_us = 5});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1", .median_us = 7});
  Dispatcher dispatcher(background());
  const NamedProblem problems[] = {{"smooth", "n=1000 taps=5"}, {"smooth", "n=1000 taps=7"}};
  dispatcher.prepare(problems);
  for (const NamedProblem& problem : problems) {
    const Plan plan = dispatcher.plan(problem.op, problem.problem);
    EXPECT_EQ(plan.variant().config, "BLOCK=32 VECTOR=4 STATE=none");
    EXPECT_EQ(plan.unaligned_variant().config, "BLOCK=32 VECTOR=1 STATE=none");
    check(plan, "smooth");
    check(plan, "smooth", 4);
  }
}

TEST_F(BackgroundCompilerTest, TheOldestPlansLeaveOneByOne) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  DispatcherOptions small = options();
  small.compile = Compile::never;
  small.most_bytes = 300'000;  // about ten plans
  cache_base();
  Dispatcher dispatcher(small);
  const auto plan = [&](int n) {
    const Field fields[] = {{"n", n}, {"taps", 5}};
    return dispatcher.plan("smooth", fields);
  };
  const Plan first = plan(4);
  std::vector<const Variant*> variants;
  for (int n = 1; n <= 300; ++n) variants.push_back(&plan(4 * n).variant());
  EXPECT_EQ(variants[0], &first.variant());
  EXPECT_EQ(&plan(1200).variant(), variants[299]);
  EXPECT_EQ(&plan(1180).variant(), variants[294]);
  EXPECT_NE(&plan(4).variant(), &first.variant()) << "forgotten, and made again";
  check(first, "smooth");
  check(plan(4), "smooth");
}

// Kernels are unloaded with the last plan that uses them.
TEST_F(BackgroundCompilerTest, WithoutRoomEveryPlanIsStillRight) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4"});
  cache_base();
  DispatcherOptions none = options();
  none.most_bytes = 0;
  Dispatcher dispatcher(none);
  const Plan kept = dispatcher.plan("smooth", "n=1000 taps=5");
  for (const char* problem : {"n=1000 taps=5", "n=50 taps=6", "n=1000 taps=5"}) {
    check(dispatcher.plan("smooth", problem), "smooth");
  }
  check(kept, "smooth");
}

// Threads look up while plans are made, replaced and forgotten. This is a test for the thread sanitizer too.
TEST_F(BackgroundCompilerTest, ThreadsLookUpWhilePlansChange) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .median_us = 5});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1", .median_us = 7});
  cache_base();
  DispatcherOptions small = background();
  small.most_bytes = 100'000;
  std::atomic<int> wrong = 0;
  {
    Dispatcher dispatcher(small);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        alignas(16) float memory[512] = {1, 1, 1, 1};
        for (int i = 0; i < 2000; ++i) {
          const int n = 4 + (i * (t + 1)) % 100;
          const Field fields[] = {{"n", n}, {"taps", 4 + i / 1000}};
          float* const first = memory + i % 2;
          void* const arguments[] = {first, memory + 128, memory + 256 + i % 2};
          memory[128] = static_cast<float>(t + 1);
          memory[256 + i % 2] = -1;
          if (!dispatcher.plan("smooth", fields).launch(arguments) ||
              memory[256 + i % 2] != *first * static_cast<float>(t + 1))
            ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

// The table of an idle thread keeps no plan that was removed.
TEST(PlanCacheTest, WhatIsTakenOutLeavesIdleThreadsToo) {
  PlanCache plans;
  const Field field = as_text("n=1");
  const Key key("smooth", {&field, 1});
  std::weak_ptr<const PlanState> plan = plans.keep(key, std::make_shared<PlanState>());
  std::latch found(1), ended(1);
  const std::jthread idle([&] {
    EXPECT_EQ(plans.find(key).get(), plan.lock().get());
    EXPECT_EQ(plans.find(key).get(), plan.lock().get());
    found.count_down();
    ended.wait();
    EXPECT_EQ(plans.find(key), nullptr);
  });
  found.wait();
  {
    const std::shared_ptr<const PlanState> held = plans.find(key);
    EXPECT_NE(plans.remove_oldest(), nullptr);
    EXPECT_EQ(plans.find(key), nullptr) << "though somebody holds it";
  }
  EXPECT_TRUE(plan.expired());
  ended.count_down();
}

TEST(PlanCacheTest, AHolderOfWhatIsRemovedAsksAnew) {
  PlanCache plans;
  const Field field = as_text("n=1");
  const auto plan = std::make_shared<PlanState>();
  plans.keep(Key("smooth", {&field, 1}), plan);
  plans.remove(*plan);
  EXPECT_TRUE(plan->outdated);
  EXPECT_FALSE(plans.has(*plan));
}

TEST_F(BackgroundCompilerTest, ALimitBeyondAllClocksIsNone) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  slow_compiler("0.3");
  Dispatcher dispatcher(background());
  dispatcher.plan("smooth", "n=1000 taps=6");
  EXPECT_TRUE(dispatcher.wait_until_ready(milliseconds::max() - milliseconds(1)));
  EXPECT_EQ(dispatcher.plan("smooth", "n=1000 taps=6").variant().template_name, "vector");
}

// Nothing is compiled for plans that are evicted before their turn.
TEST_F(BackgroundCompilerTest, WhatWasForgottenIsNotCompiled) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  slow_compiler("0.2 && exit 1");
  DispatcherOptions small = background();
  small.most_bytes = 20'000;
  Dispatcher dispatcher(small);
  for (int taps = 6; taps <= 64; ++taps) dispatcher.plan("smooth", "n=1000 taps=" + std::to_string(taps));
  EXPECT_TRUE(dispatcher.wait_until_ready());
  EXPECT_LT(read_file(calls()).size(), 25u);
}

// The child has the dispatcher, but none of its threads.
TEST_F(BackgroundCompilerTest, AForkedChildWaitsForNothing) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  slow_compiler("20");
  auto dispatcher = std::make_unique<Dispatcher>(background());
  const Plan before = dispatcher->plan("smooth", "n=1000 taps=6");
  while (read_file(calls()).empty()) std::this_thread::sleep_for(milliseconds(1));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    int failed = 1;
    try {
      const NamedProblem problems[] = {{"smooth", "n=1000 taps=6"}, {"smooth", "n=2000 taps=7"}};
      dispatcher->prepare(problems);
      const bool ready = dispatcher->wait_until_ready();
      check(before, "smooth");
      check(dispatcher->plan("smooth", "n=3000 taps=8"), "smooth");
      dispatcher.reset();
      check(Dispatcher(options()).plan("smooth", "n=10 taps=10"), "smooth");
      failed = ready && !HasFailure() ? 0 : 2;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(failed);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Forks at any moment: while threads plan, load and compile.
TEST_F(BackgroundCompilerTest, AForkedChildFindsNoLockHeld) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a child finds the locks of this sanitizer's allocator held";
#endif
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  // The binary that the script gives for other kernels is loaded, but is not theirs.
  write_compiler(copies("n=1000 taps=5"));
  constexpr int forks = 40;
  for (int i = 0; i < forks; ++i) {
    auto dispatcher = std::make_unique<Dispatcher>(background());
    const Plan before = dispatcher->plan("smooth", "n=1000 taps=10");
    const auto plan = [&](int n, int taps) {
      return dispatcher->plan("smooth", "n=" + std::to_string(n) + " taps=" + std::to_string(taps));
    };
    pid_t child = 0;
    {
      const std::jthread planning([&](const std::stop_token& stop) {
        for (int n = 1; !stop.stop_requested(); ++n) plan(n, 1 + n % 9);
      });
      const std::jthread waiting([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) dispatcher->wait_until_ready(milliseconds(1));
      });
      std::this_thread::sleep_for(std::chrono::microseconds(700 * i));
      child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::alarm(30);
        int failed = 1;
        try {
          const NamedProblem problems[] = {{"smooth", "n=100 taps=6"}, {"smooth", "n=2000 taps=7"}};
          dispatcher->prepare(problems);
          const bool ready = dispatcher->wait_until_ready();
          check(before, "smooth");
          for (int n = 1; n <= 20; ++n) check(plan(n, 1 + n % 9), "smooth");
          const bool listed = !dispatcher->summary().empty();
          dispatcher.reset();
          failed = ready && listed && !HasFailure() ? 0 : 2;
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
        }
        ::_exit(failed);
      }
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "fork " << i << ": signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0) << "fork " << i;
  }
}

// There is no compiler, one that fails, or one that takes too long: plans made meanwhile are made again
// later.
TEST_F(BackgroundCompilerTest, WhatDidNotCompileIsTriedAgainBehindThePlan) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  cache_base();
  const std::string broken = (folder_ / "broken").string();
  const std::string works = copies("n=1000 taps=6");
  struct TriedCase {
    std::unique_ptr<Dispatcher> dispatcher;
    Plan plan;
  };
  std::vector<TriedCase> all;
  write_file(broken, "");
  for (const std::string trouble : {"", "exit 1", "sleep 5"}) {
    write_compiler(trouble.empty() ? "" : "[ -e '" + broken + "' ] && " + trouble + "\n" + works);
    for (const Compile compile : {Compile::now, Compile::background}) {
      DispatcherOptions chosen = options();
      chosen.compile = compile;
      if (trouble == "sleep 5") chosen.compile_limit = milliseconds(200);
      TriedCase one{std::make_unique<Dispatcher>(chosen), {}};
      one.dispatcher->plan("smooth", "n=1000 taps=6");
      one.dispatcher->wait_until_ready();
      one.plan = one.dispatcher->plan("smooth", "n=1000 taps=6");
      EXPECT_EQ(one.plan.match(), Match::base) << trouble;
      EXPECT_FALSE(one.plan.outdated()) << trouble;
      all.push_back(std::move(one));
    }
  }
  std::filesystem::remove(broken);
  write_compiler(works);
  // A busy machine may exceed the limit several times, and each time doubles the pause.
  const auto end = Clock::now() + std::chrono::minutes(3);
  for (const TriedCase& one : all) {
    Plan plan = one.plan;
    while (plan.variant().template_name != "vector" && Clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(20));
      if (plan.outdated()) plan = one.dispatcher->plan("smooth", "n=1000 taps=6");
    }
    EXPECT_EQ(plan.variant().template_name, "vector");
    EXPECT_FALSE(plan.outdated());
    EXPECT_TRUE(one.plan.outdated());
    check(plan, "smooth");
  }
}

TEST_F(BackgroundCompilerTest, AKernelForUnalignedPointersIsTriedAgainToo) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=4", .median_us = 5});
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1", .median_us = 7, .binary = false});
  cache_base();
  const std::string broken = (folder_ / "broken").string();
  write_file(broken, "");
  write_compiler("[ -e '" + broken + "' ] && exit 1\nexec '" + compiler_ + "' \"$@\"\n");
  Dispatcher dispatcher(background());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  check(plan, "smooth", 4);
  EXPECT_TRUE(dispatcher.wait_until_ready());
  EXPECT_EQ(plan.unaligned_variant().template_name, "base");
  std::filesystem::remove(broken);
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (plan.unaligned_variant().template_name == "base" && Clock::now() < end)
    std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(plan.unaligned_variant().template_name, "vector");
  EXPECT_FALSE(plan.outdated());
  check(plan, "smooth", 4);
}

TEST_F(BackgroundCompilerTest, ThreadsOutliveDispatchersAndDispatchersThreads) {
  cache_base();
  for (int i = 0; i < 3; ++i) {
    Dispatcher dispatcher(background());
    std::jthread([&] { check(dispatcher.plan("smooth", "n=100 taps=9"), "smooth"); }).join();
    check(dispatcher.plan("smooth", "n=100 taps=9"), "smooth");
  }
}

}  // namespace
}  // namespace tunesmith
