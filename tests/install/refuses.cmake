# SPDX-License-Identifier: Apache-2.0
# A build whose shared library would have its own unwinder is not installed, and any other build is.
foreach(flags "" "-static-libgcc -static-libstdc++" "-static-libstdc++")
  set(folder "${packages}/two_unwinders")
  file(REMOVE_RECURSE "${folder}")
  execute_process(COMMAND ${CMAKE_COMMAND} -S "${source}/tests/install/two_unwinders" -B "${folder}" -G "${generator}"
                          "-DCMAKE_SHARED_LINKER_FLAGS=${flags}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --install "${folder}" --prefix "${folder}/to" --component library
                  RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE words)
  if(flags STREQUAL "" AND NOT code EQUAL 0)
    message(FATAL_ERROR "Without such flags it is not installed: ${words}")
  elseif(NOT flags STREQUAL "" AND (code EQUAL 0 OR NOT words MATCHES "would end the process"))
    message(FATAL_ERROR "With ${flags} it is installed: ${words}")
  endif()
endforeach()
