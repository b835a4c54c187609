// SPDX-License-Identifier: Apache-2.0
#include "generator/threads.h"

#include <pthread.h>
#include <sched.h>

#include <csignal>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace tunesmith {
namespace {

// Signals of faults. They must not be blocked: a fault would then end the process without the handler of the
// application or of the host device.
constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// During its lifetime the calling thread, and each thread that it makes, receives no signals of the process.
class WithoutSignals {
 public:
  WithoutSignals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : faults) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

// The thread itself calls it: where a sandbox forbids the call, pthread_create() with such attributes would
// fail.
void leave_real_time() noexcept {
  int policy = SCHED_OTHER;
  sched_param parameters{};
  if (::pthread_getschedparam(::pthread_self(), &policy, &parameters) != 0) return;
  if (policy != SCHED_FIFO && policy != SCHED_RR) return;
  parameters.sched_priority = 0;
  ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &parameters);
}

}  // namespace

std::optional<std::jthread> make_thread(std::function<void(const std::stop_token&)> work) noexcept {
  const WithoutSignals blocked;
  try {
    return std::jthread([work = std::move(work)](const std::stop_token& stop) {
      leave_real_time();
      work(stop);
    });
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void run_in_threads(std::size_t count, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto call = [&] {
    try {
      work();
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(count);
    while (others.size() + 1 < count) {
      auto other = make_thread([&](const std::stop_token&) { call(); });
      if (!other) break;
      others.push_back(std::move(*other));
    }
    call();
  }
  if (failure) std::rethrow_exception(failure);
}

void unblock_signals() noexcept {
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace tunesmith
