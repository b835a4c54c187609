# SPDX-License-Identifier: Apache-2.0
# Part of the installed package: builds ops and winners of an application's own, without a checkout.
include("${CMAKE_CURRENT_LIST_DIR}/ops_library.cmake")

# tunesmith_add_op(TARGET FOLDER... [WINNERS FOLDER] [TARGETS TARGET...]): makes a static library for
# applications, Tunesmith's with the ops of these folders (docs/adding_an_op.md), and the program
# TARGET/tunesmith that tunes and checks them. WINNERS is a folder that `tunesmith export --to` has written:
# its winners and tables are built in too. TARGETS are the targets for which the ops' bases are compiled, as
# in TUNESMITH_TARGETS.
function(tunesmith_add_op target)
  cmake_parse_arguments(PARSE_ARGV 1 asked "" "WINNERS" "TARGETS")
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  file(GLOB folders "${root}/templates/*/op.cpp")
  list(TRANSFORM folders REPLACE "/op.cpp$" "")
  set(names "")
  foreach(given IN LISTS asked_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH given BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE folder)
    string(REGEX REPLACE "/$" "" folder "${folder}")
    cmake_path(GET folder FILENAME name)
    if(NOT EXISTS "${folder}/op.cpp")
      message(FATAL_ERROR "tunesmith_add_op: ${folder} has no op.cpp; give the folder of an op, as docs/adding_an_op.md describes it.")
    endif()
    if(name IN_LIST names OR EXISTS "${root}/templates/${name}/op.cpp")
      message(FATAL_ERROR "tunesmith_add_op: there already is an op ${name}; give the folder ${folder} another name.")
    endif()
    list(APPEND names "${name}")
    list(APPEND folders "${folder}")
    file(GLOB more CONFIGURE_DEPENDS "${folder}/dispatch*.cpp")
    list(APPEND typed ${more})
    list(APPEND includes "${folder}")
  endforeach()
  tunesmith_ops_library(${target}_ops ${folders})

  # A program that knows the ops compiles their bases and the winners.
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(packed "${generated}/packed")
  file(MAKE_DIRECTORY "${generated}")
  file(CONFIGURE OUTPUT "${generated}/main.cpp" CONTENT "// main() is in a library.\n")
  add_executable(${target}_pack "${generated}/main.cpp")
  target_link_libraries(${target}_pack PRIVATE tunesmith::packer ${target}_ops)
  set(winners "${generated}/no_winners")
  set(devices none)
  if(asked_WINNERS)
    cmake_path(ABSOLUTE_PATH asked_WINNERS BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE winners)
    if(NOT EXISTS "${winners}/devices.csv")
      message(FATAL_ERROR "tunesmith_add_op: ${winners} has no devices.csv; write the folder by `tunesmith export --to`.")
    endif()
    set(devices all)
  endif()
  file(GLOB winner_files CONFIGURE_DEPENDS "${winners}/*.csv")
  set(targets ${TUNESMITH_PACK_TARGETS})
  if(asked_TARGETS)
    set(targets ${asked_TARGETS})
  endif()
  string(REPLACE ";" "," own "${names}")
  add_custom_command(
    OUTPUT "${packed}.cpp" "${packed}.bin"
    COMMAND ${CMAKE_COMMAND} -E env "TUNESMITH_CXX=${CMAKE_CXX_COMPILER}" $<TARGET_FILE:${target}_pack> "${winners}"
            "${packed}.cpp" "${packed}.bin" ${devices} "own=${own}" ${targets}
    DEPENDS ${target}_pack ${winner_files}
    COMMENT "Compiling the bases of ${own}, and winners"
    VERBATIM)
  set_source_files_properties("${packed}.cpp" PROPERTIES OBJECT_DEPENDS "${packed}.bin")

  add_library(${target} STATIC "${packed}.cpp" ${typed})
  target_include_directories(${target} SYSTEM PRIVATE "${root}" PUBLIC ${includes})
  target_link_libraries(${target} PUBLIC ${target}_ops)
  # Hidden names: in a process with another such library, or with the shared one, neither may call the other's
  # functions.
  target_compile_definitions(${target} PRIVATE TUNESMITH_HIDDEN)
  set_target_properties(${target} ${target}_ops PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Without these options a linker would take the functions of tunesmith::static, in which they are first
  # used: ops() and application_packed_files().
  target_link_options(${target} INTERFACE LINKER:--undefined=_ZN9tunesmith3opsEv
                                          LINKER:--undefined=_ZN9tunesmith24application_packed_filesEv)

  add_executable(${target}_tunesmith "${generated}/main.cpp")
  set_target_properties(${target}_tunesmith PROPERTIES OUTPUT_NAME tunesmith RUNTIME_OUTPUT_DIRECTORY "${generated}")
  target_link_libraries(${target}_tunesmith PRIVATE tunesmith::program ${target} $<TARGET_NAME_IF_EXISTS:ZLIB::ZLIB>)
endfunction()
