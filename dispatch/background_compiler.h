// SPDX-License-Identifier: Apache-2.0
// A queue of jobs and a few threads that do them, which compile and load while launches go on. If no thread
// can be made, jobs wait for the next caller that posts or waits.
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
    Clock::time_point next = never;  ///< when more jobs will be due, if no wake-up comes
  };

  /// `due` returns the jobs that launches have asked for since its last call, and those whose time has come.
  /// `no_thread` is called each time a thread is needed and none can be made.
  BackgroundCompiler(std::function<Schedule()> due, std::function<void()> no_thread);
  /// Stops the jobs that are running, and drops those that are queued.
  ~BackgroundCompiler();
  BackgroundCompiler(const BackgroundCompiler&) = delete;
  BackgroundCompiler& operator=(const BackgroundCompiler&) = delete;

  void post(Job job) { post_for(wake_up_, std::move(job)); }
  /// Queues a job. The job is dropped once `wanted` has no other owner, so that the number of queued jobs is
  /// bounded by the number of objects that are kept.
  void post_for(std::weak_ptr<const void> wanted, Job job);
  /// A signal to it makes the queue collect the jobs that are due. From the first call on a thread waits for
  /// the signal, if one can be made.
  const std::shared_ptr<WakeUp>& wake_up();
  /// Waits until all posted and due jobs are done; false if that takes longer than `limit`. If no thread can
  /// be made, this is tried again until the limit; without a limit the caller's thread does the jobs. In the
  /// child of a fork(), which has none of the threads, nothing is done, and the result is true at once.
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
  std::mutex mutex_;  ///< guards the members below
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
