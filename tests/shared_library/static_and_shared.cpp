// SPDX-License-Identifier: Apache-2.0
// A program that links the static library, and loads a library that links the shared one: each calls its own.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "tunesmith/dispatcher.h"
#include "tunesmith/tunesmith.h"

extern "C" const char* run_static();
extern "C" const char* run_this();
extern "C" const void* version_of_this();

namespace {

bool is_in_shared_library(const void* function) {
  Dl_info found;
  return dladdr(function, &found) != 0 && std::strstr(found.dli_fname, "libtunesmith.so") != nullptr;
}

}  // namespace

int main() {
  const char* const numbers = ": 10.000000 7.000000\n";  // as in two_versions_test.cpp
  for (int round = 0; round < 2; ++round) {
    if (std::strstr(run_static(), numbers) == nullptr || std::strstr(run_this(), numbers) == nullptr) {
      std::printf("static: %s\nshared: %s\n", run_static(), run_this());
      return 1;
    }
  }
  const bool own = !is_in_shared_library(reinterpret_cast<const void*>(&tunesmith_version));
  const bool its = is_in_shared_library(version_of_this());
  std::printf("The program calls %s, its library %s.\n", own ? "its own copy" : "the shared library",
              its ? "the shared library" : "the program's copy");
  return own && its ? 0 : 1;
}
