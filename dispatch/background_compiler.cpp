// SPDX-License-Identifier: Apache-2.0
#include "dispatch/background_compiler.h"

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>
#include <vector>

#include "dispatch/fork.h"
#include "generator/threads.h"

namespace tunesmith {
namespace {

// A compilation takes one core; most cores are left to the application.
std::size_t most_threads() { return std::clamp(std::thread::hardware_concurrency() / 4, 1u, 4u); }

}  // namespace

// There are semaphores for this clock only since glibc 2.30.
void WakeUp::wait(Clock::time_point until) noexcept {
  constexpr auto longest = std::chrono::hours(1);
  const auto most = std::clamp<Clock::duration>(until - Clock::now(), Clock::duration::zero(), longest);
  timespec end{};
  ::clock_gettime(CLOCK_REALTIME, &end);
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t ns = end.tv_nsec + std::chrono::nanoseconds(most).count();
  end.tv_sec += static_cast<time_t>(ns / second);
  end.tv_nsec = static_cast<long>(ns % second);
  static_cast<void>(::sem_timedwait(&semaphore_, &end));
}

BackgroundCompiler::BackgroundCompiler(std::function<Schedule()> due, std::function<void()> no_thread)
    : due_(std::move(due)), no_thread_(std::move(no_thread)) {
  threads_.reserve(most_threads());
}

BackgroundCompiler::~BackgroundCompiler() {
  if (is_forked()) {  // the child has neither the threads nor the parent's waiting callers
    new (&threads_) std::vector<std::jthread>;
    new (&done_) std::condition_variable;
    return;
  }
  for (std::jthread& thread : threads_) {
    thread.request_stop();
    wake_up_->signal();
  }
}

// Starts a thread if there are fewer than the jobs need. Returns true if there is at least one.
bool BackgroundCompiler::has_thread() {
  const std::size_t wanted = std::clamp<std::size_t>(jobs_.size() + busy_, 1, most_threads());
  if (threads_.size() < wanted) {
    if (auto made = make_thread([this](const std::stop_token& stop) { work(stop); }))
      threads_.push_back(std::move(*made));
    else if (threads_.empty())
      no_thread_();
  }
  return !threads_.empty();
}

void BackgroundCompiler::post_for(std::weak_ptr<const void> wanted, Job job) {
  if (is_forked()) return;
  {
    const std::scoped_lock lock(mutex_);
    while (!jobs_.empty() && jobs_.front().wanted.expired()) jobs_.pop_front();
    jobs_.push_back({std::move(wanted), std::move(job)});
    has_thread();
  }
  wake_up_->signal();
}

const std::shared_ptr<WakeUp>& BackgroundCompiler::wake_up() {
  if (is_forked()) return wake_up_;
  const std::scoped_lock lock(mutex_);
  has_thread();
  return wake_up_;
}

// Queues the jobs that are due. Returns when more will be due.
Clock::time_point BackgroundCompiler::collect() {
  const Inside inside;
  const std::scoped_lock lock(mutex_);
  Schedule due = due_();
  for (Job& job : due.jobs) jobs_.push_back({wake_up_, std::move(job)});
  for (std::size_t others = 1; others < due.jobs.size(); ++others) wake_up_->signal();
  return due.next;
}

// Does the queued jobs. Returns true if there were any.
bool BackgroundCompiler::do_jobs(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  bool worked = false;
  while (!jobs_.empty() && !stop.stop_requested()) {
    const Job job = std::move(jobs_.front().job);
    jobs_.pop_front();
    ++busy_;
    worked = true;
    lock.unlock();
    job(stop);
    lock.lock();
    --busy_;
  }
  if (busy_ == 0) done_.notify_all();
  return worked;
}

void BackgroundCompiler::work(const std::stop_token& stop) {
  for (;;) {
    const Clock::time_point next = collect();
    std::unique_lock lock(mutex_);
    const bool worked = do_jobs(lock, stop);
    lock.unlock();
    if (stop.stop_requested()) return;
    if (!worked) wake_up_->wait(next);
  }
}

bool BackgroundCompiler::wait(std::chrono::milliseconds limit) {
  if (is_forked()) return true;
  collect();
  wake_up_->signal();
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return jobs_.empty() && busy_ == 0; };
  constexpr auto none = std::chrono::hours(24 * 365);  // some clocks cannot count to a later end
  constexpr auto pause = std::chrono::milliseconds(20);
  const bool has_end = limit < none;
  const Clock::time_point end = has_end ? Clock::now() + limit : never;
  while (!is_done() && !has_thread()) {
    if (!has_end && do_jobs(lock, {})) continue;
    if (Clock::now() >= end) return false;
    // The jobs that are left are another caller's.
    done_.wait_until(lock, std::min(end, Clock::now() + pause));
  }
  if (has_end) return done_.wait_until(lock, end, is_done);
  done_.wait(lock, is_done);
  return true;
}

}  // namespace tunesmith
