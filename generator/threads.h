// SPDX-License-Identifier: Apache-2.0
// Threads of the library and the tuner: all are made here.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace tunesmith {

/// A thread that takes none of the signals that are sent to the process: it blocks all but those of its own
/// faults. Where its maker has a real-time policy it gives that up for SCHED_OTHER. Its processors and its
/// niceness are those of its maker. Empty: the system lets no further thread be made now (RLIMIT_NPROC,
/// pids.max, memory), so whoever asks does the work itself, or later.
std::optional<std::jthread> make_thread(std::function<void(const std::stop_token&)> work) noexcept;

/// Calls `work` in this thread and, as far as threads can be made, in `count` - 1 others, and waits for all:
/// each call takes parts of what there is to do until none is left. The first exception is thrown on.
void run_in_threads(std::size_t count, const std::function<void()>& work);

/// For a new process of another program, which would have its maker's mask: between fork() and exec().
void unblock_signals() noexcept;

}  // namespace tunesmith
