// SPDX-License-Identifier: Apache-2.0
#include "dispatch/fork.h"

#include <pthread.h>

#include <array>
#include <atomic>

#include "dispatch/thread_index.h"

namespace tunesmith {
namespace {

// Counters of the threads inside the library. Each has its own cache line, so that threads rarely wait for
// each other's.
struct alignas(64) Threads {
  std::atomic<int> inside = 0;
};
std::array<Threads, 64> threads;
std::atomic<int> forks = 0;  // under way
thread_local int depth = 0;

std::atomic<int>& own_count() { return threads[thread_index() % threads.size()].inside; }

void leave() noexcept {
  std::atomic<int>& inside = own_count();
  --inside;
  if (forks != 0) inside.notify_all();
}

void enter() noexcept {
  for (;;) {
    ++own_count();
    const int now = forks;
    if (now == 0) return;
    leave();
    forks.wait(now);
  }
}

int own() { return depth > 0 ? 1 : 0; }

void before_fork() {
  ++forks;
  for (Threads& some : threads) {
    const int allowed = &some.inside == &own_count() ? own() : 0;
    for (int now = some.inside; now > allowed; now = some.inside) some.inside.wait(now);
  }
}

void after_fork_in_parent() {
  --forks;
  forks.notify_all();
}

void after_fork_in_child() {
  for (Threads& some : threads) some.inside = 0;
  own_count() = own();
  forks = 0;
}

}  // namespace

void watch_forks() {
  static const int registered = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(registered);  // if there is no memory to register, forks are as in other libraries
}

Inside::Inside() noexcept {
  if (depth++ == 0) enter();
}
Inside::~Inside() {
  if (--depth == 0) leave();
}

OutsideOfLibrary::OutsideOfLibrary() noexcept : depth_(depth) {
  depth = 0;
  if (depth_ > 0) leave();
}
OutsideOfLibrary::~OutsideOfLibrary() {
  if (depth_ > 0) enter();
  depth = depth_;
}

}  // namespace tunesmith
