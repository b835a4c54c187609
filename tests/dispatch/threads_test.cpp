// SPDX-License-Identifier: Apache-2.0
// Tests the library's threads: what happens if none can be made, and that they take none of the process's
// signals and no real-time scheduling.
#include "generator/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "fixture.h"
#include "runtime/files.h"

namespace {

std::atomic<bool> there_are_threads = true;
std::atomic<int> made_threads = 0;

}  // namespace

// Replaces the C library's function, in the whole program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  static const auto next = reinterpret_cast<decltype(&::pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!there_are_threads) return EAGAIN;
  ++made_threads;
  return next(thread, attributes, start, argument);
}

namespace tunesmith {
namespace {

using std::chrono::milliseconds;

// While it lives, no thread can be made.
class NoThreads {
 public:
  NoThreads() { there_are_threads = false; }
  ~NoThreads() { there_are_threads = true; }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
};

class ThreadsTest : public DispatcherTest {
 protected:
  ThreadsTest() {
    tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
    // The base of the test's own op is now in the cache.
    Dispatcher(options()).plan("smooth", "n=10 taps=10");
  }
  DispatcherOptions background() const {
    DispatcherOptions chosen = options();
    chosen.compile = Compile::background;
    return chosen;
  }
  static std::string of_taps(int taps) { return "n=1000 taps=" + std::to_string(taps); }
  static long notes_of_threads(const Dispatcher& dispatcher) {
    return std::count_if(dispatcher.notes().begin(), dispatcher.notes().end(), [](const std::string& note) {
      return note.find("No thread can be made") != std::string::npos;
    });
  }
};

TEST_F(ThreadsTest, WithoutThemPlansAreWhatIsReady) {
  Dispatcher dispatcher(background());
  const std::vector<std::string>& before = dispatcher.notes();
  const NoThreads none;
  for (const int taps : {6, 7}) {
    const Plan plan = dispatcher.plan("smooth", of_taps(taps));
    EXPECT_EQ(plan.match(), Match::base);
    check(plan, "smooth");
    check(plan, "smooth", 4);
  }
  EXPECT_EQ(notes_of_threads(dispatcher), 1);
  EXPECT_EQ(std::count(before.begin(), before.end(), dispatcher.notes().back()), 0) << "it stays as it is";
  EXPECT_FALSE(dispatcher.wait_until_ready(milliseconds(50)));
}

TEST_F(ThreadsTest, WithoutThemPrepareDoesTheWork) {
  Dispatcher dispatcher(background());
  const NoThreads none;
  const NamedProblem problems[] = {{"smooth", "n=1000 taps=6"}, {"smooth", "n=1000 taps=7"}};
  dispatcher.prepare(problems);
  for (const NamedProblem& problem : problems)
    EXPECT_EQ(dispatcher.plan("smooth", problem.problem).match(), Match::predicted);
  EXPECT_TRUE(dispatcher.wait_until_ready(milliseconds(0)));
  dispatcher.plan("smooth", of_taps(8));
  EXPECT_TRUE(dispatcher.wait_until_ready());
  EXPECT_EQ(dispatcher.plan("smooth", of_taps(8)).match(), Match::predicted);
}

TEST_F(ThreadsTest, OneThatCanBeMadeAgainDoesWhatWaits) {
  const std::map<std::string, std::function<void(Dispatcher&)>> occasions = {
      {"a limited wait", [](Dispatcher& dispatcher) { dispatcher.wait_until_ready(milliseconds(100)); }},
      {"a plan", [](Dispatcher& dispatcher) { dispatcher.plan("smooth", of_taps(7)); }}};
  for (const auto& [what, occasion] : occasions) {
    Dispatcher dispatcher(background());
    {
      const NoThreads none;
      dispatcher.plan("smooth", of_taps(6));
    }
    occasion(dispatcher);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (dispatcher.plan("smooth", of_taps(6)).match() == Match::base &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(5));
    EXPECT_EQ(dispatcher.plan("smooth", of_taps(6)).match(), Match::predicted) << what;
  }
}

std::set<std::string> tasks() {
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(entry.path().filename());
  return all;
}
std::uint64_t blocked_by(const std::string& task) {
  std::ifstream status("/proc/self/task/" + task + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  ADD_FAILURE() << "no SigBlk of task " << task;
  return 0;
}
bool blocks(std::uint64_t mask, int signal) { return (mask >> (signal - 1) & 1) != 0; }

TEST_F(ThreadsTest, TheyBlockTheSignalsOfTheProcess) {
  const std::set<std::string> before = tasks();
  Dispatcher dispatcher(background());
  for (int taps = 6; taps < 12; ++taps) dispatcher.plan("smooth", of_taps(taps));
  int seen = 0;
  for (const std::string& task : tasks()) {
    if (before.contains(task)) continue;
    ++seen;
    std::uint64_t mask = blocked_by(task);
    // Until the thread runs, the C library blocks all signals.
    for (int i = 0; i < 1000 && blocks(mask, SIGSEGV); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
      mask = blocked_by(task);
    }
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
      const bool never = signal == SIGKILL || signal == SIGSTOP || (signal > SIGSYS && signal < SIGRTMIN);
      const bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
                         signal == SIGTRAP || signal == SIGSYS;
      EXPECT_TRUE(never || blocks(mask, signal) != fault) << signal;
    }
  }
  EXPECT_GT(seen, 0);
  EXPECT_EQ(blocked_by(std::to_string(::getpid())) & (1U << (SIGTERM - 1)), 0U) << "the caller's are its own";
}

// A server may wait for its end by sigtimedwait().
TEST_F(ThreadsTest, ASignalThatTheApplicationWaitsForIsLeftToIt) {
  Dispatcher dispatcher(background());
  dispatcher.plan("smooth", of_taps(6));
  sigset_t wanted;
  sigset_t before;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before);
  ::kill(::getpid(), SIGTERM);
  const timespec limit = {10, 0};
  EXPECT_EQ(::sigtimedwait(&wanted, nullptr, &limit), SIGTERM);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// If a compiler inherited the mask, a terminal's Ctrl-C could not end it.
TEST_F(ThreadsTest, CompilersDoNotInheritTheirMask) {
  const char* const given = std::getenv("TUNESMITH_CXX");
  const std::string compiler = given == nullptr ? "c++" : given;
  const std::string script = (folder_ / "compiler").string();
  const std::string masks = (folder_ / "masks").string();
  write_file(script,
             "#!/bin/sh\ngrep SigBlk /proc/self/status >>'" + masks + "'\nexec '" + compiler + "' \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  ::setenv("TUNESMITH_CXX", script.c_str(), 1);
  {
    Dispatcher dispatcher(background());
    dispatcher.plan("smooth", of_taps(6));
    EXPECT_TRUE(dispatcher.wait_until_ready());
  }
  ::setenv("TUNESMITH_CXX", compiler.c_str(), 1);
  const std::string seen = read_file(masks);
  EXPECT_NE(seen, "");
  std::istringstream lines(seen);
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(line, "SigBlk:\t0000000000000000");
}

TEST(MadeThreads, RunByOrdinarySchedulingBesideARealTimeThread) {
  sched_param parameters{};
  parameters.sched_priority = 1;
  std::atomic<int> policy = -1;
  bool may_be_real_time = true;
  std::jthread([&] {
    may_be_real_time = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters) == 0;
    auto made = make_thread([&](const std::stop_token&) { policy = ::sched_getscheduler(0); });
  }).join();
  if (!may_be_real_time) GTEST_SKIP() << "This user may not make real-time threads.";
  EXPECT_EQ(policy, SCHED_OTHER);
}

TEST(RunInThreads, DoesAllWithAnyNumberOfThreads) {
  for (const bool some : {true, false}) {
    there_are_threads = some;
    made_threads = 0;
    std::atomic<int> next = 0;
    std::atomic<int> sum = 0;
    run_in_threads(4, [&] {
      for (int i = next++; i < 1000; i = next++) sum += i;
    });
    EXPECT_EQ(sum, 499500);
    EXPECT_EQ(made_threads, some ? 3 : 0);
    EXPECT_THROW(run_in_threads(4, [] { throw UsageError("one of them"); }), UsageError);
  }
  there_are_threads = true;
}

}  // namespace
}  // namespace tunesmith
