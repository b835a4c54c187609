#include "dispatch/background_compiler.h"

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>

#include "dispatch/fork.h"

namespace tunesmith {
namespace {

// A compiler takes one core; most of them are the application's.
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

BackgroundCompiler::~BackgroundCompiler() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
    wake_up_->signal();
  }
  if (is_forked()) new (&done_) std::condition_variable;  // who waited for it in the parent is not here
}

void BackgroundCompiler::add_thread() {
  threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

void BackgroundCompiler::post_for(std::weak_ptr<const void> wanted, Job job) {
  if (is_forked()) return;
  {
    const std::scoped_lock lock(mutex_);
    while (!jobs_.empty() && jobs_.front().wanted.expired()) jobs_.pop_front();
    jobs_.push_back({std::move(wanted), std::move(job)});
    if (jobs_.size() + busy_ > threads_.size() && threads_.size() < most_threads()) add_thread();
  }
  wake_up_->signal();
}

const std::shared_ptr<WakeUp>& BackgroundCompiler::wake_up() {
  if (is_forked()) return wake_up_;
  const std::scoped_lock lock(mutex_);
  if (threads_.empty()) add_thread();
  return wake_up_;
}

// Answers when there will be more.
Clock::time_point BackgroundCompiler::collect() {
  const Inside inside;
  const std::scoped_lock lock(mutex_);
  Schedule due = due_();
  for (Job& job : due.jobs) jobs_.push_back({wake_up_, std::move(job)});
  for (std::size_t others = 1; others < due.jobs.size(); ++others) wake_up_->signal();
  return due.next;
}

void BackgroundCompiler::work(const std::stop_token& stop) {
  for (;;) {
    const Clock::time_point next = collect();
    bool worked = false;
    std::unique_lock lock(mutex_);
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
  constexpr auto none = std::chrono::hours(24 * 365);  // a later end is beyond what some clocks count
  if (limit < none) return done_.wait_for(lock, limit, is_done);
  done_.wait(lock, is_done);
  return true;
}

}  // namespace tunesmith
