// SPDX-License-Identifier: Apache-2.0
#include "runtime/processor_time.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace tunesmith {
namespace {

void spin() {
  for (volatile unsigned n = 0;;) n = n + 1;
}

// A process that runs `work`, and ends with the object.
class Process {
 public:
  explicit Process(void (*work)()) : id_(::fork()) {
    if (id_ != 0) return;
    work();
    ::_exit(0);
  }
  ~Process() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  int id() const { return id_; }

 private:
  pid_t id_;
};

bool is_over_within(ProcessorLimit& limit, std::chrono::seconds longest) {
  const auto end = ProcessorLimit::Clock::now() + longest;
  while (ProcessorLimit::Clock::now() < end) {
    std::this_thread::sleep_until(std::min(limit.next_look(), end));
    if (limit.is_over()) return true;
  }
  return false;
}

// A stopped process is one that gets no processor on a busy machine.
TEST(ProcessorLimit, IsNotUsedUpByAProcessThatGetsNoProcessor) {
  const Process process(spin);
  ::kill(process.id(), SIGSTOP);
  ProcessorLimit limit(process.id(), 0.3, 0);
  EXPECT_FALSE(is_over_within(limit, std::chrono::seconds(2)));
  ::kill(process.id(), SIGCONT);
  EXPECT_TRUE(is_over_within(limit, std::chrono::seconds(60)));
  EXPECT_EQ(limit.passed(), "0.3 s of processor time");
  EXPECT_GE(processor_seconds(process.id()), 0.3);
}

TEST(ProcessorLimit, CountsWhatTheProcessHasStarted) {
  const Process process([] {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      spin();
    }
    ::pause();
  });
  ProcessorLimit limit(process.id(), 0.2, processor_seconds(process.id()));
  EXPECT_TRUE(is_over_within(limit, std::chrono::seconds(60)));
  EXPECT_EQ(limit.passed(), "0.2 s of processor time");
}

TEST(ProcessorLimit, OfAProcessThatSleepsIsTheClocks) {
  const Process process([] { ::pause(); });
  ProcessorLimit limit(process.id(), 0.02, 0);
  const auto start = ProcessorLimit::Clock::now();
  EXPECT_TRUE(is_over_within(limit, std::chrono::seconds(60)));
  EXPECT_GE(ProcessorLimit::Clock::now() - start, std::chrono::milliseconds(400));
  EXPECT_EQ(limit.passed(), "0.4 s");
}

}  // namespace
}  // namespace tunesmith
