# SPDX-License-Identifier: Apache-2.0
# A program that links the static library exports none of its names.
execute_process(COMMAND "${nm}" --dynamic --demangle --defined-only "${program}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "" symbols "${symbols}")
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
list(LENGTH symbols count)
list(FILTER symbols INCLUDE REGEX "tunesmith(::v[0-9]|_)")
if(symbols OR count LESS 5)
  list(JOIN symbols "\n" symbols)
  message(FATAL_ERROR "${program} exports ${count} names, of these:\n${symbols}")
endif()
