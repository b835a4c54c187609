// SPDX-License-Identifier: Apache-2.0
// The time for which threads and processes have used a processor, which other work does not change as it does
// the clock's: limits are of this time.
#pragma once

#include <chrono>
#include <string>

namespace tunesmith {

/// Returns the time for which the calling thread has used a processor so far.
std::chrono::duration<double> processor_time();

/// Returns the seconds for which the process, and those that it has started and that have ended, have used a
/// processor so far; 0 if it is gone. It takes some microseconds, however many processes there are.
double processor_seconds(int process);

/// A limit for work that a process begins now, with all processes that it starts. For a process that sleeps
/// or is stopped, and so uses no processor, it is 20 times as long by the clock; one that only waits for a
/// processor has no limit by the clock.
class ProcessorLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// `used`: its processor_seconds(), if no process that it has started runs; 0 if it has just been started.
  ProcessorLimit(int process, double seconds, double used);

  /// Looks at the processes only when they may have used up their time.
  bool is_over();
  /// It is not over before this moment.
  Clock::time_point next_look() const { return next_look_; }
  /// Returns the limit that is_over() found: "20 s of processor time", or "400 s", by the clock.
  std::string passed() const;

 private:
  int process_;
  double seconds_, before_;
  Clock::time_point next_look_, end_;
  bool by_clock_ = false;
};

}  // namespace tunesmith
