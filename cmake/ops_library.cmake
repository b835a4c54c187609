# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/texts.cmake")

# tunesmith_ops_library(NAME FOLDER...): a library of the ops of the given folders, the code that ops share,
# and the table `ops()` that names the ops. A folder NAME/ has op.cpp, which defines `tunesmith::Op
# tunesmith::ops_NAME()`, its *.cu, the "NAME/*.cuh" and "NAME/*.inl" that these include, and perhaps more
# *.cpp, which also include *_layout.inl; a large folder has subfolders NAME/ROOM/ for parts of it. Its
# dispatch*.cpp belong to the dispatch library, its test.cpp and *_test.cpp to the tests. Ops share
# templates/*.h and the folders of templates/ without an op.cpp: common/, and the families' *.h, *.cpp, *.cuh,
# *.inl and tunesmith/*.h. These files come from a checkout or from the same folders of an installed package,
# whose tunesmith::static has everything but the given folders' own code.
function(tunesmith_ops_library library)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  set(declarations "")
  set(calls "")
  set(sources "")
  set(known "")
  set(files "")
  set(cpp_files "")
  file(GLOB common_files RELATIVE "${root}/templates" CONFIGURE_DEPENDS "${root}/templates/common/*.h" "${root}/templates/common/host/*.h"
       "${root}/templates/*/*.cuh" "${root}/templates/*/*.inl")
  file(GLOB shared_files RELATIVE "${root}/templates" CONFIGURE_DEPENDS "${root}/templates/*.h" "${root}/templates/*/*.h" "${root}/templates/*/*.cpp"
       "${root}/templates/*/tunesmith/*.h")
  list(FILTER shared_files EXCLUDE REGEX "^common/|test\\.cpp$|/test[^/]*\\.h$")
  foreach(file IN LISTS common_files shared_files)
    string(REGEX REPLACE "(/tunesmith)?/[^/]*$" "" folder "${file}")
    if(EXISTS "${root}/templates/${folder}/op.cpp")
      continue()
    elseif(file IN_LIST common_files)
      list(APPEND files "${file}=${root}/templates/${file}")
      continue()
    endif()
    list(APPEND cpp_files "templates/${file}=${root}/templates/${file}")
    if(file MATCHES "\\.cpp$" AND TARGET tunesmith_generator AND NOT TARGET tunesmith_templates)
      list(APPEND sources "${root}/templates/${file}")
    endif()
  endforeach()
  foreach(folder IN LISTS ARGN)
    get_filename_component(op "${folder}" NAME)
    file(GLOB own CONFIGURE_DEPENDS "${folder}/*.cpp" "${folder}/*/*.cpp")
    list(FILTER own EXCLUDE REGEX "/(dispatch[^/]*|test|[^/]*_test)\\.cpp$")
    if(TARGET tunesmith_templates AND folder IN_LIST TUNESMITH_OP_FOLDERS)
      set(known tunesmith_templates) # which has compiled them
    elseif(TARGET tunesmith_generator OR NOT "${folder}" STREQUAL "${root}/templates/${op}")
      list(APPEND sources ${own})
    endif()
    string(APPEND declarations "Op ops_${op}();\n")
    string(APPEND calls "ops_${op}(), ")
    file(GLOB bodies CONFIGURE_DEPENDS "${folder}/*.cu" "${folder}/*.cuh" "${folder}/*.inl" "${folder}/*/*.cu" "${folder}/*/*.inl")
    foreach(body IN LISTS bodies)
      file(RELATIVE_PATH file_name "${folder}" "${body}")
      list(APPEND files "${op}/${file_name}=${body}")
    endforeach()
    file(GLOB more CONFIGURE_DEPENDS "${folder}/*.h" "${folder}/*/*.h" "${folder}/*_layout.inl" "${folder}/*/*_layout.inl" "${folder}/dispatch*.cpp")
    list(FILTER more EXCLUDE REGEX "/test[^/]*\\.h$")
    foreach(file IN LISTS own more)
      file(RELATIVE_PATH file_name "${folder}" "${file}")
      list(APPEND cpp_files "templates/${op}/${file_name}=${file}")
    endforeach()
  endforeach()
  set(texts "${CMAKE_CURRENT_BINARY_DIR}/${library}_texts.cpp")
  tunesmith_texts("${texts}" template_files ${files})
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${library}_table.cpp")
  file(WRITE "${generated}.new" "// Written by the build from the op folders.
#include \"generator/ops.h\"

namespace tunesmith {
${declarations}
const std::vector<Op>& ops() {
  static const std::vector<Op>& all = *new const std::vector<Op>{${calls}};  // never destroyed, as the texts
  return all;
}
}  // namespace tunesmith

#include \"${texts}\"  // in the same object: of two libraries of ops, a linker takes both functions from one
")
  configure_file("${generated}.new" "${generated}" COPYONLY)
  set(cpp_texts "${CMAKE_CURRENT_BINARY_DIR}/${library}_cpp_texts.cpp")  # linked only by who asks for them
  tunesmith_texts("${cpp_texts}" op_sources ${cpp_files})
  set(searches generator/ops kernel_file/find_op kernel_file/add) # of the table of ops: an archive that is linked first brings its own
  if(TARGET tunesmith_templates) # which has compiled them
    list(JOIN searches "|" searches)
    list(APPEND sources "$<FILTER:$<TARGET_OBJECTS:tunesmith_templates>,INCLUDE,/(${searches})\\.cpp\\.o$>")
  elseif(TARGET tunesmith_generator)
    list(TRANSFORM searches REPLACE "(.+)" "${root}/\\1.cpp")
    list(APPEND sources ${searches})
  endif()
  add_library(${library} STATIC "${generated}" "${cpp_texts}" ${sources})
  if(TARGET tunesmith_generator)
    target_include_directories(${library} PUBLIC ${TUNESMITH_FAMILIES})
    target_link_libraries(${library} PUBLIC ${known} tunesmith_language tunesmith_kernel_file PRIVATE tunesmith_flags)
  else()
    target_include_directories(${library} SYSTEM PRIVATE "${root}")
    target_link_libraries(${library} PUBLIC tunesmith::static)
  endif()
endfunction()
