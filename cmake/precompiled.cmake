# SPDX-License-Identifier: Apache-2.0
# TUNESMITH_FAST_BUILD: libraries that take longer to compile than to run are optimised little, and headers of the standard library
# and of GoogleTest are parsed once for all tests, and once for each library where there are no tests or with sanitizers. The libraries
# of other tests are compiled as always, so that a missing #include is found and clang-tidy, which cannot read GCC's precompiled headers,
# sees plain commands.
set(headers <algorithm> <array> <atomic> <chrono> <cmath> <filesystem> <fstream> <functional> <iostream> <map> <memory>
            <mutex> <optional> <set> <span> <sstream> <string> <thread> <utility> <variant> <vector>)

# The targets of a folder and of those below it.
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
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # for ccache
endfunction()

# A dozen sources of a target as one, in little more than half of the compiler's time, but for ALONE.
function(together target)
  cmake_parse_arguments(PARSE_ARGV 1 asked "" "" "ALONE")
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    set_source_files_properties(${asked_ALONE} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

if(NOT TUNESMITH_SANITIZED)
  set(names kernel_file db tuner)
  if(NOT TUNESMITH_TESTS) # which compute references of large problems
    list(APPEND names templates)
  endif()
  foreach(name IN LISTS names)
    if(TARGET tunesmith_${name})
      target_compile_options(tunesmith_${name} PRIVATE -O1)
    endif()
  endforeach()
  if(TARGET tunesmith_tuner) # but for what searches spend their time in
    set_source_files_properties("${PROJECT_SOURCE_DIR}/tuner/search/gaussian_process.cpp" TARGET_DIRECTORY tunesmith_tuner
                                PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
  endif()
  if(TARGET tunesmith_cli)
    target_compile_options(tunesmith_cli PRIVATE -O0)
  endif()
endif()
if(TUNESMITH_SANITIZED OR NOT TUNESMITH_TESTS)
  foreach(name generator language kernel_file db runtime choose templates dispatch tuner cli)
    if(TARGET tunesmith_${name})
      precompile(tunesmith_${name} PRIVATE ${headers} $<$<STREQUAL:${name},cli>:<CLI/CLI.hpp$<ANGLE-R>>)
    endif()
  endforeach()
  foreach(name IN ITEMS tunesmith_generator tunesmith_language tunesmith_kernel_file tunesmith_db tunesmith_choose db_tests dispatch_tests packed_tests tuner_tests)
    together(${name})
  endforeach()
  # Those whose helpers have the names of others', and what an application's own replaces.
  set(typed ${TUNESMITH_OP_FOLDERS})
  list(TRANSFORM typed APPEND /dispatch.cpp)
  set(alone dispatch/no_application_files runtime/cuda_benchmark runtime/cuda_executable cli/query cli/export_static cli/regret cli/static_build
      tuner/check/device_worker tuner/search/model_guide tuner/search/neighbours_guide)
  list(TRANSFORM alone REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1.cpp")
  together(tunesmith_dispatch ALONE ${typed} ${alone})
  together(tunesmith_runtime ALONE ${alone})
  together(tunesmith_tuner ALONE ${alone})
  together(tunesmith_cli ALONE ${alone})
endif()
if(TUNESMITH_TESTS)
  if(TARGET tunesmith_next) # whose sources tunesmith_dispatch has compiled without them
    precompile(tunesmith_next PRIVATE ${headers})
    set_target_properties(tunesmith_next PROPERTIES EXPORT_COMPILE_COMMANDS OFF) # clang-tidy takes each of a file's commands
  endif()
  precompile(precompiled_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> ${headers})
  targets_below("${PROJECT_SOURCE_DIR}/tests" tests)
  foreach(test IN LISTS tests)
    get_target_property(kind ${test} TYPE)
    get_target_property(linked ${test} LINK_LIBRARIES)
    if(kind STREQUAL "EXECUTABLE" AND linked MATCHES "GTest::" AND NOT test STREQUAL "precompiled_tests")
      precompile(${test} REUSE_FROM precompiled_tests)
    endif()
  endforeach()
endif()
