# SPDX-License-Identifier: Apache-2.0
# tunesmith_texts(OUTPUT FUNCTION KEY=PATH...): writes a C++ file that defines FUNCTION(), which returns the
# texts of these files by their keys. A compiler may limit a string literal to 64 KiB; the files are far
# below. The function's name, of at most 16 letters, ends each literal, so that one such file can hold another.
function(tunesmith_texts output function)
  set(texts "")
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${entry}")
    set(key "${CMAKE_MATCH_1}")
    set(path "${CMAKE_MATCH_2}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(APPEND texts "    {\"${key}\", R\"${function}(${text})${function}\"},\n")
  endforeach()
  file(WRITE "${output}.new" "// Written by the build.
#include \"generator/render.h\"

namespace tunesmith {
const Files& ${function}();
const Files& ${function}() {
  struct Text {
    const char* key;
    const char* text;
  };
  static constexpr Text texts[] = {  // a list of pairs of strings takes the compiler seconds
${texts}  };
  // Never destroyed: what compiles behind a static dispatcher may render until the process ends.
  static const Files& files = *[] {
    auto* const made = new Files;
    for (const Text& one : texts) made->emplace(one.key, one.text);
    return made;
  }();
  return files;
}
}  // namespace tunesmith
")
  configure_file("${output}.new" "${output}" COPYONLY)
endfunction()
