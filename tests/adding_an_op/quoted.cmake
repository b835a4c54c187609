# SPDX-License-Identifier: Apache-2.0
# Fails unless the whole text of ${file}, but for its licence, stands in ${page}.
file(READ "${page}" page_text)
file(READ "${file}" file_text)
string(REGEX REPLACE "^// SPDX[^\n]*\n" "" file_text "${file_text}")
string(FIND "${page_text}" "${file_text}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${page} does not quote ${file} as it is.")
endif()
