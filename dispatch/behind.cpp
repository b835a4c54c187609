#include "dispatch/behind.h"

#include <algorithm>
#include <utility>

namespace tunesmith {
namespace {

// A compiler takes one core; most of them are the application's.
std::size_t most_threads() { return std::clamp(std::thread::hardware_concurrency() / 4, 1u, 4u); }

}  // namespace

Behind::~Behind() {
  for (std::jthread& thread : threads_) thread.request_stop();
  bell_->ring();
}

void Behind::add_thread() {
  threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

void Behind::post_for(std::weak_ptr<const void> wanted, Job job) {
  if (is_forked()) return;
  {
    const std::scoped_lock lock(mutex_);
    while (!jobs_.empty() && jobs_.front().wanted.expired()) jobs_.pop_front();
    jobs_.push_back({std::move(wanted), std::move(job)});
    if (jobs_.size() + busy_ > threads_.size() && threads_.size() < most_threads()) add_thread();
  }
  bell_->ring();
}

const std::shared_ptr<Bell>& Behind::bell() {
  if (is_forked()) return bell_;
  const std::scoped_lock lock(mutex_);
  if (threads_.empty()) add_thread();
  return bell_;
}

void Behind::collect() {
  const std::scoped_lock lock(mutex_);
  for (Job& job : asked_()) jobs_.push_back({bell_, std::move(job)});
}

void Behind::work(const std::stop_token& stop) {
  for (;;) {
    const int rung = bell_->count();
    collect();
    std::unique_lock lock(mutex_);
    while (!jobs_.empty() && !stop.stop_requested()) {
      const Job job = std::move(jobs_.front().job);
      jobs_.pop_front();
      ++busy_;
      lock.unlock();
      job(stop);
      lock.lock();
      --busy_;
    }
    if (busy_ == 0) done_.notify_all();
    lock.unlock();
    if (stop.stop_requested()) return;
    bell_->wait(rung);
  }
}

bool Behind::wait(std::chrono::milliseconds limit) {
  if (is_forked()) return true;
  collect();
  bell_->ring();
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return jobs_.empty() && busy_ == 0; };
  constexpr auto none = std::chrono::hours(24 * 365);  // a later end is beyond what some clocks count
  if (limit < none) return done_.wait_for(lock, limit, is_done);
  done_.wait(lock, is_done);
  return true;
}

}  // namespace tunesmith
