#include "dispatch/fork.h"

#include <pthread.h>

#include <atomic>

namespace tunesmith {
namespace {

std::atomic<int> inside = 0;  // threads
std::atomic<int> forks = 0;   // that are under way
thread_local int depth = 0;

void leave() noexcept {
  --inside;
  if (forks != 0) inside.notify_all();
}

void enter() noexcept {
  for (;;) {
    ++inside;
    const int now = forks;
    if (now == 0) return;
    leave();
    forks.wait(now);
  }
}

int own() { return depth > 0 ? 1 : 0; }

void before_fork() {
  ++forks;
  for (int now = inside; now > own(); now = inside) inside.wait(now);
}

void after_fork_in_parent() {
  --forks;
  forks.notify_all();
}

void after_fork_in_child() {
  inside = own();
  forks = 0;
}

}  // namespace

void watch_forks() {
  static const int registered = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  static_cast<void>(registered);  // without memory for it forks are as in other libraries
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
