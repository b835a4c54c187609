// SPDX-License-Identifier: Apache-2.0
// A library that is loaded before the C library and makes the file system refuse locks.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>

namespace {

int without_locks(const char* name, int file, int command, void* argument) {
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
    errno = ENOLCK;
    return -1;
  }
  using Function = int (*)(int, int, ...);
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name))(file, command, argument);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int fcntl(int file, int command, ...) {
  std::va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return without_locks("fcntl", file, command, argument);
}

__attribute__((visibility("default"))) int fcntl64(int file, int command, ...) {
  std::va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return without_locks("fcntl64", file, command, argument);
}
}
