# SPDX-License-Identifier: Apache-2.0
# tunesmith_hidden_names(RESULT TARGET EXCEPT): a rule that joins the objects of TARGET, except those whose
# paths match EXCEPT, into one object RESULT. Everything linked with it hides all of Tunesmith's names: those
# that the objects define, and those of functions that headers define, which the application's own objects
# contain. Without it a program that links the static library would offer its names to the dynamic linker, and
# a plugin that links the shared library would call the program's copy.
if(CMAKE_SCRIPT_MODE_FILE)
  # If a name has several entries, the linker uses the most constraining visibility.
  execute_process(COMMAND "${NM}" --extern-only --defined-only --format=posix ${OBJECTS} "${NAMES}" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(^|\n)[^ \n]*9tunesmith[0-9]+${NAMESPACE}[^ \n]*|(^|\n)tunesmith_[a-z_]+" names "${names}")
  string(REGEX REPLACE "\n" "" names "${names}")
  list(REMOVE_DUPLICATES names)
  list(LENGTH names count)
  if(count LESS 100)
    message(FATAL_ERROR "Only ${count} names of the interface were found in the library's objects.")
  endif()
  list(TRANSFORM names REPLACE "(.+)" ".weak \\1\n.hidden \\1\n.reloc ., BFD_RELOC_NONE, \\1\n")
  string(JOIN "" names ${names})
  file(WRITE "${OUT}.s" ".section .tunesmith_names,\"\",%progbits\n${names}.byte 0\n.section .note.GNU-stack,\"\",%progbits\n")
  execute_process(COMMAND "${COMPILER}" -c "${OUT}.s" -o "${OUT}.names.o" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${COMPILER}" -r -nostdlib -o "${OUT}" ${OBJECTS} "${OUT}.names.o" COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

function(tunesmith_hidden_names result target except)
  # A source with everything that an application's compiler may generate from the headers: each function that
  # one defines, and the implicit members of structs.
  set(text "// Written by the build from the headers that are installed.\n#include <type_traits>\n#include <typeinfo>\n#include <utility>\n")
  set(uses "")
  foreach(folder IN LISTS TUNESMITH_OP_FOLDERS TUNESMITH_FAMILIES ITEMS "${PROJECT_SOURCE_DIR}/dispatch/include")
    file(GLOB headers CONFIGURE_DEPENDS "${folder}/tunesmith/*.h")
    foreach(header IN LISTS headers)
      get_filename_component(name "${header}" NAME)
      string(APPEND text "#include \"tunesmith/${name}\"\n")
      file(STRINGS "${header}" classes REGEX "^(struct|class) .* {$")
      foreach(class IN LISTS classes)
        string(REGEX MATCH "([A-Za-z0-9]+) {$" _ "${class}")
        string(APPEND uses "  use<tunesmith::${CMAKE_MATCH_1}>();\n")
      endforeach()
    endforeach()
  endforeach()
  string(APPEND text "
template <typename T> T& one();
template <typename T> void use(const std::type_info& = typeid(T)) {
  if constexpr (std::is_default_constructible_v<T>) T made;
  if constexpr (std::is_copy_constructible_v<T>) T copied(std::as_const(one<T>()));
  if constexpr (std::is_move_constructible_v<T>) T moved(std::move(one<T>()));
  if constexpr (std::is_copy_assignable_v<T>) one<T>() = std::as_const(one<T>());
  if constexpr (std::is_move_assignable_v<T>) one<T>() = std::move(one<T>());
}
void use_all() {
${uses}}
")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_names.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "${text}" @ONLY)
  add_library(${target}_names OBJECT "${source}")
  target_include_directories(${target}_names PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_options(${target}_names PRIVATE -O0 -w $<$<CXX_COMPILER_ID:GNU>:-fkeep-inline-functions>)
  set(objects $<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,${except}|\\.gch$>) # a precompiled header is one of the objects
  add_custom_command(
    OUTPUT "${result}"
    COMMAND ${CMAKE_COMMAND} -D "NM=${CMAKE_NM}" -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "OBJECTS=${objects}" -D "NAMES=$<TARGET_OBJECTS:${target}_names>"
            -D "NAMESPACE=v${PROJECT_VERSION_MAJOR}_${PROJECT_VERSION_MINOR}" -D "OUT=${result}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS ${objects} $<TARGET_OBJECTS:${target}_names> "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    COMMENT "Hiding the static library's names"
    VERBATIM)
  set_source_files_properties("${result}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endfunction()
