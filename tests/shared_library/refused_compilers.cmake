# SPDX-License-Identifier: Apache-2.0
# Tests the message of the C++ headers for a standard that is too old, and that code with other containers
# does not link.
function(compile expected)
  execute_process(COMMAND "${compiler}" ${flags} ${ARGN} OUTPUT_VARIABLE words ERROR_VARIABLE words RESULT_VARIABLE code)
  if(expected STREQUAL "")
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${ARGN} fails:\n${words}")
    endif()
  elseif(code EQUAL 0 OR NOT words MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN} gives ${code}, without \"${expected}\":\n${words}")
  endif()
endfunction()
list(TRANSFORM includes PREPEND -I)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(WRITE "${folder}/cpp.cpp" "#include \"tunesmith/conv2d.h\"\n")
file(WRITE "${folder}/c.cpp" "#include \"tunesmith/tunesmith.h\"\n")
compile("need C\\+\\+20" ${includes} -std=c++17 -fsyntax-only "${folder}/cpp.cpp")
compile("" ${includes} -std=c++11 -fsyntax-only "${folder}/c.cpp")
compile("" ${includes} -std=c++20 -D_GLIBCXX_DEBUG -O0 -w -fPIC -DRUN=run -DVERSION_OF=version_of -c "${user}" -o "${folder}/mixed.o")
foreach(library IN LISTS libraries)
  compile("undefined reference to [^\n]*v[0-9]+_[0-9]+_with_GLIBCXX_DEBUG::Dispatcher" "${folder}/mixed.o" -shared -Wl,-z,defs "${library}"
          -o "${folder}/mixed" -lsqlite3 -ldl -lpthread)
endforeach()
