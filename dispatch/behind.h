// What is done behind plans: a few threads that compile and load while launches go on.
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

class Behind {
 public:
  using Job = std::function<void(const std::stop_token&)>;

  /// `asked` gives the jobs that launches have asked for since it was last called.
  explicit Behind(std::function<std::vector<Job>()> asked) : asked_(std::move(asked)) {}
  /// Gives up what is being done, and forgets what waits.
  ~Behind();
  Behind(const Behind&) = delete;
  Behind& operator=(const Behind&) = delete;

  void post(Job job) { post_for(bell_, std::move(job)); }
  /// It is left out where nobody else holds `wanted` any more, so that what waits is bounded by what is kept.
  void post_for(std::weak_ptr<const void> wanted, Job job);
  /// Ringing it makes what was asked for be looked up. There is a thread that listens from the first call on.
  const std::shared_ptr<Bell>& bell();
  /// Whether all that was posted and asked for before is done within `limit`. In the child of a fork(), which
  /// has none of the threads, nothing is done, and this is true at once.
  bool wait(std::chrono::milliseconds limit);

 private:
  void collect();
  void work(const std::stop_token& stop);
  void add_thread();
  bool is_forked() const { return ::getpid() != process_; }

  const pid_t process_ = ::getpid();
  std::function<std::vector<Job>()> asked_;
  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::mutex mutex_;  ///< of what follows
  std::condition_variable done_;
  struct Waiting {
    std::weak_ptr<const void> wanted;
    Job job;
  };
  std::deque<Waiting> jobs_;
  std::size_t busy_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tunesmith
