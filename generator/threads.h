// SPDX-License-Identifier: Apache-2.0
// Makes all threads of the library and the tuner.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace tunesmith {

/// Makes a thread that receives no signals sent to the process: it blocks all but those of its own faults. If
/// its maker has a real-time policy, the thread gives it up for SCHED_OTHER. It inherits its maker's
/// processors and niceness. Returns nothing if the system allows no further thread now (RLIMIT_NPROC,
/// pids.max, memory); then the caller does the work itself, or later.
std::optional<std::jthread> make_thread(std::function<void(const std::stop_token&)> work) noexcept;

/// Calls `work` in this thread and in up to `count` - 1 others, as far as threads can be made, and waits for
/// all. Each call takes parts of the common work until none is left. Rethrows the first exception.
void run_in_threads(std::size_t count, const std::function<void()>& work);

/// Restores the signal mask between fork() and exec(), because the new program would inherit its maker's
/// mask.
void unblock_signals() noexcept;

}  // namespace tunesmith
