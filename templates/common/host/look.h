// SPDX-License-Identifier: Apache-2.0
// Threads that wait for a word in memory to change: at a lock, for a ticket, for a flag. A thread that looks
// again and again at words that do not change, by atomic operations that change nothing or by volatile loads,
// lets the other threads of its block go on before it looks again. If all that have not ended look in vain,
// the launch ends with an error.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/fibers.h"
#include "common/host/watch.h"

namespace tunesmith_shim {

struct Look {
  const void* at;
  unsigned long long found;
};
constexpr size_t words_of_a_thread = 64;  // that it looks at in turn
static Look last_looks[max_threads][words_of_a_thread];

constexpr unsigned patience = 32;  // looks in vain after which a thread waits for others

// A thread waits here after it has looked in vain: look_again() before each further look.
TUNESMITH_UNWATCHED __attribute__((noinline, cold)) static void let_others_go_on() {
  wait_for_signal(&turn_of_waiting, turn_of_waiting);
}
TUNESMITH_UNWATCHED inline void look_again() {
  if (running->looks_in_vain >= patience) let_others_go_on();
}

// The running thread has changed memory for others, or has found a change.
TUNESMITH_UNWATCHED inline void no_look_in_vain() {
  running->looks_in_vain = 0;
  looks_in_vain = 0;
}

// The running thread has found `value` there.
TUNESMITH_UNWATCHED __attribute__((noinline)) static void looked(const void* at, unsigned long long value) {
  const size_t n = (reinterpret_cast<size_t>(at) >> 2) % words_of_a_thread;
  Look& last = last_looks[running - fibers][n];
  if (last.at != at) {
    last = {at, value};
  } else if (last.found == value) {
    ++running->looks_in_vain;
    ++looks_in_vain;
  } else {
    last.found = value;
    no_look_in_vain();
  }
}
TUNESMITH_UNWATCHED inline void looked(const void* at, const void* value, size_t bytes) {
  unsigned long long bits = 0;
  memcpy(&bits, value, bytes < sizeof(bits) ? bytes : sizeof(bits));
  looked(at, bits);
}

}  // namespace tunesmith_shim
