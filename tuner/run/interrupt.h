// SPDX-License-Identifier: Apache-2.0
// The request to end a run: from a signal, or because a part of the run failed.
#pragma once

#include <csignal>

namespace tunesmith {

bool interrupted();
void interrupt();

/// While this lives the first SIGINT, SIGTERM or SIGHUP (a closed terminal) sets a flag; the second of the
/// same kind acts as it did before. Under nohup SIGHUP stays ignored.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction previous_int_ = {};
  struct sigaction previous_term_ = {};
  struct sigaction previous_hup_ = {};
};

}  // namespace tunesmith
