// SPDX-License-Identifier: Apache-2.0
// A queue of jobs and a few threads that do them, which compile and load while launches go on. Where no
// thread can be made, jobs wait for the next one who posts or waits.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "dispatch/plan_state.h"

namespace tunesmith {

class BackgroundCompiler {
 public:
  using Job = std::function<void(const std::stop_token&)>;
  struct Schedule {
    std::vector<Job> jobs;
    Clock::time_point next = never;  ///< when there will be more, if no wake-up comes
  };

  /// `due` gives the jobs that launches have asked for since it was last called, and those whose time has
  /// come. `no_thread` is called each time that there should be a thread and none can be made.
  BackgroundCompiler(std::function<Schedule()> due, std::function<void()> no_thread);
  /// Gives up what is being done, and forgets what waits.
  ~BackgroundCompiler();
  BackgroundCompiler(const BackgroundCompiler&) = delete;
  BackgroundCompiler& operator=(const BackgroundCompiler&) = delete;

  void post(Job job) { post_for(wake_up_, std::move(job)); }
  /// It is left out where nobody else holds `wanted` any more, so that what waits is bounded by what is kept.
  void post_for(std::weak_ptr<const void> wanted, Job job);
  /// Signalling it makes what is due be looked up. There is a thread that waits for it from the first call
  /// on, if one can be made.
  const std::shared_ptr<WakeUp>& wake_up();
  /// Whether all that was posted and is due is done within `limit`. Where no thread can be made, it is tried
  /// again until the limit; without a limit the caller's thread does the jobs. In the child of a fork(),
  /// which has none of the threads, nothing is done, and this is true at once.
  bool wait(std::chrono::milliseconds limit);

 private:
  bool is_forked() const { return ::getpid() != process_; }
  Clock::time_point collect();
  void work(const std::stop_token& stop);
  bool do_jobs(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  bool has_thread();

  const pid_t process_ = ::getpid();
  std::function<Schedule()> due_;
  std::function<void()> no_thread_;
  std::shared_ptr<WakeUp> wake_up_ = std::make_shared<WakeUp>();
  std::mutex mutex_;  ///< of what follows
  std::condition_variable done_;
  struct QueuedJob {
    std::weak_ptr<const void> wanted;
    Job job;
  };
  std::deque<QueuedJob> jobs_;
  std::size_t busy_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tunesmith
