# SPDX-License-Identifier: Apache-2.0
# Fails unless ${page} has a row "| `FILE` | LINES |" for each file of ${folder}.
file(READ "${page}" page_text)
file(GLOB files "${folder}/*")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  string(REGEX MATCHALL "\n" lines "${text}")
  list(LENGTH lines count)
  cmake_path(GET file FILENAME name)
  string(FIND "${page_text}" "| `${name}` | ${count} |" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${page} does not say that ${file} has ${count} lines.")
  endif()
endforeach()
