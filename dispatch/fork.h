// SPDX-License-Identifier: Apache-2.0
// What makes fork() safe: it waits until no thread is inside the library, holding locks that the child would
// find held for ever, or loading code.
#pragma once

namespace tunesmith {

/// Each dispatcher asks for it.
void watch_forks();

/// While it lives a fork() of this process waits, and while there is a fork() it waits itself: it is made
/// before any lock is taken. May be nested.
class Inside {
 public:
  Inside() noexcept;
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// For what takes long, such as a compiler, within Inside: no lock may be held then but a ProcessMutex.
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
