# SPDX-License-Identifier: Apache-2.0
# Finds SQLite as SQLite3::SQLite3, its name since CMake 4.3.
find_package(SQLite3 3.37 REQUIRED) # STRICT tables
if(NOT TARGET SQLite3::SQLite3)
  add_library(SQLite3::SQLite3 ALIAS SQLite::SQLite3)
endif()
