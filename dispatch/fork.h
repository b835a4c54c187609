// SPDX-License-Identifier: Apache-2.0
// Makes fork() safe: it waits until no thread is inside the library, where a thread may hold a lock that the
// child would find held for ever, or load code.
#pragma once

namespace tunesmith {

/// Registers the handlers of fork(). Each dispatcher calls it.
void watch_forks();

/// Marks the calling thread as inside the library. While one lives, fork() waits; during a fork() the
/// constructor waits, so make it before any lock is taken. May be nested.
class Inside {
 public:
  Inside() noexcept;
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// Leaves the library for work that takes long, such as a compiler's. Used within Inside; only a ProcessMutex
/// may be held then.
class OutsideOfLibrary {
 public:
  OutsideOfLibrary() noexcept;
  ~OutsideOfLibrary();
  OutsideOfLibrary(const OutsideOfLibrary&) = delete;
  OutsideOfLibrary& operator=(const OutsideOfLibrary&) = delete;

 private:
  int depth_;
};

}  // namespace tunesmith
