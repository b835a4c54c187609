# tunesmith_ops_library(NAME FOLDER...): a library that holds the ops of the given folders, templates/common and the
# table `ops()` that names them. A folder NAME/ has op.cpp, which defines `tunesmith::Op tunesmith::ops_NAME()`, its *.cu,
# what these include as "NAME/*.cuh" and "NAME/*.inl", and perhaps more *.cpp. Its dispatch.cpp belongs to the dispatch library, its test.cpp
# and *_test.cpp to the tests.
function(tunesmith_ops_library library)
  set(declarations "")
  set(calls "")
  set(texts "")
  set(sources "")
  set(known "")
  file(GLOB common_files RELATIVE "${TUNESMITH_TEMPLATES_DIR}" CONFIGURE_DEPENDS "${TUNESMITH_TEMPLATES_DIR}/common/*.cuh"
       "${TUNESMITH_TEMPLATES_DIR}/common/*.inl" "${TUNESMITH_TEMPLATES_DIR}/common/*.h" "${TUNESMITH_TEMPLATES_DIR}/common/host/*.h")
  set(files "")
  foreach(file IN LISTS common_files)
    list(APPEND files "${file}=${TUNESMITH_TEMPLATES_DIR}/${file}")
  endforeach()
  foreach(folder IN LISTS ARGN)
    get_filename_component(op "${folder}" NAME)
    file(GLOB own CONFIGURE_DEPENDS "${folder}/*.cpp")
    list(FILTER own EXCLUDE REGEX "/(dispatch|test|[^/]*_test)\\.cpp$")
    if(TARGET tunesmith_templates AND folder IN_LIST TUNESMITH_OP_FOLDERS)
      set(known tunesmith_templates) # which has compiled them
    else()
      list(APPEND sources ${own})
    endif()
    string(APPEND declarations "Op ops_${op}();\n")
    string(APPEND calls "ops_${op}(), ")
    file(GLOB bodies CONFIGURE_DEPENDS "${folder}/*.cu" "${folder}/*.cuh" "${folder}/*.inl")
    foreach(body IN LISTS bodies)
      get_filename_component(file_name "${body}" NAME)
      list(APPEND files "${op}/${file_name}=${body}")
    endforeach()
  endforeach()
  foreach(entry IN LISTS files)
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${entry}")
    set(key "${CMAKE_MATCH_1}")
    set(path "${CMAKE_MATCH_2}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    # A string literal may be limited to 64 KiB; the bodies are far below.
    string(APPEND texts "    {\"${key}\", R\"tunesmith(${text})tunesmith\"},\n")
  endforeach()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${library}_table.cpp")
  file(WRITE "${generated}.new" "// Written by the build from the op folders.
#include \"generator/ops.h\"

namespace tunesmith {
${declarations}
const std::vector<Op>& ops() {
  static const std::vector<Op> all = {${calls}};
  return all;
}

const Files& template_files() {
  static const Files files = {
${texts}  };
  return files;
}
}  // namespace tunesmith
")
  configure_file("${generated}.new" "${generated}" COPYONLY)
  add_library(${library} STATIC "${generated}" "${TUNESMITH_TEMPLATES_DIR}/../generator/ops.cpp" ${sources})
  target_link_libraries(${library} PUBLIC ${known} tunesmith_generator PRIVATE tunesmith_flags)
endfunction()
