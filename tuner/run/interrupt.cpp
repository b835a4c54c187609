// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/interrupt.h"

#include <atomic>

namespace tunesmith {
namespace {

std::atomic<bool> interrupt_seen = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

}  // namespace

bool interrupted() { return interrupt_seen; }
void interrupt() { interrupt_seen = true; }

InterruptScope::InterruptScope() {
  interrupt_seen = false;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt(); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &previous_int_);
  ::sigaction(SIGTERM, &action, &previous_term_);
  ::sigaction(SIGHUP, &action, &previous_hup_);
  if (previous_hup_.sa_handler == SIG_IGN) ::sigaction(SIGHUP, &previous_hup_, nullptr);
}

InterruptScope::~InterruptScope() {
  ::sigaction(SIGINT, &previous_int_, nullptr);
  ::sigaction(SIGTERM, &previous_term_, nullptr);
  ::sigaction(SIGHUP, &previous_hup_, nullptr);
}

}  // namespace tunesmith
