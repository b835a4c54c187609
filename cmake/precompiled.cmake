# SPDX-License-Identifier: Apache-2.0
# TUNESMITH_FAST_BUILD: libraries that take longer to compile than to run are optimised little, headers of the
# standard library and of GoogleTest are parsed once for each library and once for all tests, and sources are
# compiled a dozen at a time. Such a build does not find a missing #include, and clang-tidy cannot read GCC's
# precompiled headers, so .ci/run compiles the files that a commit touched as a plain build does.
set(headers <algorithm> <array> <atomic> <chrono> <cmath> <filesystem> <fstream> <functional> <iostream> <map> <memory>
            <mutex> <optional> <set> <span> <sstream> <string> <thread> <utility> <variant> <vector>)

# Returns the targets of a folder and of the folders below it.
function(targets_below folder result)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    targets_below("${below}" more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} "${targets}" PARENT_SCOPE)
endfunction()

function(precompile target)
  target_precompile_headers(${target} ${ARGN})
  # The first option is for ccache. GCC 12 reports overruns of strings that do not exist, and does so for
  # precompiled headers.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overflow>")
endfunction()

# Compiles a dozen sources of a target as one, in little more than half of the time. ALONE and APART list the exceptions:
# sources whose helpers have the same names as others', which the compiler reports as a redefinition. Those of APART are
# compiled as one, apart from the others.
function(together target)
  cmake_parse_arguments(PARSE_ARGV 1 asked "" "" "ALONE;APART")
  if(NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  set_source_files_properties(${asked_ALONE} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(asked_APART)
    set(index 0)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
      if(source IN_LIST asked_ALONE OR source MATCHES "\\$<")
        continue()
      elseif(source IN_LIST asked_APART)
        set(group apart)
      else()
        math(EXPR group "${index} / 12")
        math(EXPR index "${index} + 1")
      endif()
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "together_${group}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  endif()
endfunction()

# Does the same for the templates. The sources of one op have helpers of the same names in the op's namespace,
# so each source of an op goes into another group; sources that use an op's names as their own (op.cpp,
# joint_histogram) stay alone.
function(templates_together)
  set(index 0)
  set(groups 1)
  set(sources "")
  foreach(folder IN LISTS TUNESMITH_OP_FOLDERS)
    file(GLOB its CONFIGURE_DEPENDS "${folder}/*.cpp" "${folder}/*/*.cpp")
    list(FILTER its EXCLUDE REGEX "/(op|dispatch|test|[^/]*_test)\\.cpp$|/joint_histogram/")
    list(APPEND sources ${its})
    list(LENGTH its count)
    if(count GREATER groups)
      set(groups ${count})
    endif()
  endforeach()
  foreach(source IN LISTS sources)
    math(EXPR group "${index} % ${groups}")
    set_source_files_properties("${source}" TARGET_DIRECTORY tunesmith_templates PROPERTIES UNITY_GROUP "across_ops_${group}")
    math(EXPR index "${index} + 1")
  endforeach()
  set_target_properties(tunesmith_templates PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

if(NOT TUNESMITH_SANITIZED)
  foreach(name IN ITEMS kernel_file db templates tuner)
    if(TARGET tunesmith_${name})
      target_compile_options(tunesmith_${name} PRIVATE -O1)
    endif()
  endforeach()
  if(TARGET tunesmith_tuner) # but for what searches and checks spend their time in
    set_source_files_properties("${PROJECT_SOURCE_DIR}/tuner/search/gaussian_process.cpp" TARGET_DIRECTORY tunesmith_tuner
                                PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
    set_source_files_properties("${PROJECT_SOURCE_DIR}/tuner/check/access_order.cpp" "${PROJECT_SOURCE_DIR}/tuner/check/watcher.cpp"
                                TARGET_DIRECTORY tunesmith_tuner PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  endif()
  foreach(name tunesmith_cli nanobind-static nanobind-static-abi3)
    if(TARGET ${name})
      target_compile_options(${name} PRIVATE -O0)
    endif()
  endforeach()
endif()
# The libraries that the sanitizers watch; empty: all. Theirs take twice as long to compile. The runtime gives its flags to kernels for
# the host, so it is always one of them.
set(TUNESMITH_SANITIZED_LIBRARIES "" CACHE STRING "With sanitizers: the libraries that are watched, such as db;tuner; empty: all")
set(TUNESMITH_BUILT "" CACHE PATH "With sanitizers: a fast build without them, of which the libraries that are not watched are taken; empty: they are compiled")
set(built "")
if(TUNESMITH_SANITIZED AND TUNESMITH_SANITIZED_LIBRARIES)
  foreach(name generator language kernel_file db choose templates dispatch tuner)
    if(TARGET tunesmith_${name} AND NOT name IN_LIST TUNESMITH_SANITIZED_LIBRARIES)
      target_compile_options(tunesmith_${name} PRIVATE -fno-sanitize=all)
      set(archive "${TUNESMITH_BUILT}/${name}/libtunesmith_${name}.a")
      if(TUNESMITH_BUILT AND EXISTS "${archive}" AND NOT name MATCHES "^(dispatch|tuner)$") # which know if there is CUDA
        list(APPEND built ${name})
        # Its own archive keeps what has no sources elsewhere: the table of ops, which other libraries of ops take from it.
        get_target_property(sources tunesmith_${name} SOURCES)
        list(FILTER sources INCLUDE REGEX "/tunesmith_templates_table\\.cpp$|/(generator/ops|kernel_file/find_op|kernel_file/add)\\.cpp$")
        file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${name}/built.cpp" CONTENT "// The library is ${archive}.\n")
        get_target_property(linked tunesmith_${name} INTERFACE_LINK_LIBRARIES)
        add_library(tunesmith_built_${name} STATIC IMPORTED GLOBAL)
        set_target_properties(tunesmith_built_${name} PROPERTIES IMPORTED_LOCATION "${archive}" INTERFACE_LINK_LIBRARIES "${linked}")
        set_target_properties(tunesmith_${name} PROPERTIES SOURCES "${PROJECT_BINARY_DIR}/${name}/built.cpp;${sources}"
                              INTERFACE_LINK_LIBRARIES "tunesmith_built_${name};${linked}")
        foreach(kind IN LISTS TUNESMITH_KINDS) # made of the objects of all libraries
          target_link_libraries(tunesmith_${kind} PRIVATE tunesmith_built_${name})
        endforeach()
      endif()
    endif()
  endforeach()
endif()
# Libraries with the same options share what one of them, the first, has precompiled.
foreach(name generator language kernel_file db runtime choose templates dispatch tuner cli)
  if(TARGET tunesmith_${name} AND NOT name IN_LIST built)
    get_target_property(options tunesmith_${name} COMPILE_OPTIONS)
    get_target_property(visibility tunesmith_${name} CXX_VISIBILITY_PRESET)
    string(MAKE_C_IDENTIFIER "first_with_${options}_${visibility}" first)
    if(name STREQUAL "cli")
      precompile(tunesmith_cli PRIVATE ${headers} <CLI/CLI.hpp>)
    elseif(DEFINED ${first})
      precompile(tunesmith_${name} REUSE_FROM ${${first}})
    else()
      set(${first} tunesmith_${name})
      precompile(tunesmith_${name} PRIVATE ${headers})
    endif()
  endif()
endforeach()
foreach(name IN ITEMS tunesmith_generator tunesmith_language tunesmith_kernel_file tunesmith_db db_tests dispatch_tests packed_tests tuner_tests
                      gpu_tests)
  together(${name})
endforeach()
templates_together()
# The exceptions: sources whose helpers have the same names as others', and sources that an application or a
# test replaces by its own.
set(typed "")
foreach(folder IN LISTS TUNESMITH_OP_FOLDERS)
  file(GLOB files "${folder}/dispatch*.cpp")
  list(APPEND typed ${files})
endforeach()
# Alone: those that have helpers of the same names as others', also where the types differ, because a call in braces might mean another.
set(alone_typed conv1d conv2d filter_bank rows scan)
list(TRANSFORM alone_typed REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/templates/\\1/dispatch.cpp")
list(REMOVE_ITEM typed ${alone_typed})
set(alone dispatch/no_application_files runtime/cuda_benchmark runtime/cuda_executable cli/json_recordings cli/main cli/nvbench_text cli/static_build
    tuner/check/device_worker tuner/device/cuda_device tuner/device/cuda_timer tuner/search/model_guide tuner/search/neighbours_guide
    tests/choose/select_test tests/cli/command_test tests/cli/derive_test tests/cli/flow_test tests/cli/winners_table_test tests/generator/space_test tests/generator/values_test
    tests/host/load_error_test tests/host/problem_arrays_test tests/kernel_file/toml_problems_test templates/image/boundary_test python/core/problem)
set(apart cli/query cli/db cli/export_static cli/regret)
foreach(list alone apart)
  list(TRANSFORM ${list} REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1.cpp")
endforeach()
together(tunesmith_dispatch ALONE ${alone_typed} ${alone} APART ${typed})
# A compiler cache keeps no source that has the word of an assembler's directive, as the exported sources' script does.
together(tunesmith_cli ALONE ${alone} "${PROJECT_BINARY_DIR}/cli/library_sources.cpp" APART ${apart})
foreach(name IN ITEMS tunesmith_runtime tunesmith_tuner choose_tests cli_test generator_test host_tests kernel_file_test op_tests tunesmith_python)
  together(${name} ALONE ${alone})
endforeach()
# nanobind's own sources can be compiled as one: its nb_combined.cpp does.
foreach(name nanobind-static nanobind-static-abi3)
  if(TARGET ${name})
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endforeach()
if(TUNESMITH_TESTS)
  if(TARGET tunesmith_next) # whose sources tunesmith_dispatch has compiled without them
    precompile(tunesmith_next PRIVATE ${headers})
    together(tunesmith_next ALONE ${alone_typed} ${alone} APART ${typed})
  endif()
  # Tests that mostly wait for programs and compilers are not optimised at all.
  set(of_programs cli_test cuda_dispatch_tests db_tests example_tests faults_tests golden_tests gpu_tests host_tests kernel_file_test
      no_json_test nvrtc_tests packed_tests problem_tests static_tests two_versions_test user_kernel_tests)
  target_compile_options(precompiled_tests_of_programs PRIVATE -O0)
  foreach(precompiled precompiled_tests precompiled_tests_of_programs)
    precompile(${precompiled} PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${headers})
  endforeach()
  targets_below("${PROJECT_SOURCE_DIR}/tests" tests)
  foreach(test IN LISTS tests)
    get_target_property(kind ${test} TYPE)
    get_target_property(linked ${test} LINK_LIBRARIES)
    if(kind STREQUAL "EXECUTABLE" AND linked MATCHES "GTest::" AND NOT test MATCHES "^precompiled_tests")
      if(test IN_LIST of_programs)
        target_compile_options(${test} PRIVATE -O0)
        precompile(${test} REUSE_FROM precompiled_tests_of_programs)
      else()
        precompile(${test} REUSE_FROM precompiled_tests)
      endif()
    endif()
  endforeach()
endif()
