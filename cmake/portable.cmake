# SPDX-License-Identifier: Apache-2.0
# Builds programs that run on a machine without this one's libraries (a container, a GPU server): the C++
# runtime, SQLite and GoogleTest are linked statically; the C library stays shared.
option(TUNESMITH_PORTABLE "Link statically what a bare machine may lack" OFF)
if(TUNESMITH_PORTABLE)
  add_link_options(-static-libgcc -static-libstdc++)
  list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
