# SPDX-License-Identifier: Apache-2.0
# The libraries that applications link: one shared and one static library of the objects of generator/,
# language/, kernel_file/, db/, runtime/, choose/, templates/ and dispatch/. The shared one needs nothing in
# an application's build; the static one needs SQLite, Zstandard and, with CUDA, the toolkit's runtime. The shared
# library exports the interface, the static one hides it.
include("${CMAKE_CURRENT_LIST_DIR}/hidden_names.cmake")
set(TUNESMITH_SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")

# tunesmith_link(LIBRARY): links the libraries that the parts of the library call.
function(tunesmith_link library)
  target_link_libraries(${library} PRIVATE SQLite3::SQLite3 zstd::libzstd Threads::Threads ${CMAKE_DL_LIBS} m # a C linker does not add libm
                        $<$<BOOL:${TUNESMITH_HAS_CUDA}>:CUDA::cudart_static>)
  target_compile_features(${library} PUBLIC cxx_std_20)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME tunesmith)
endfunction()

# tunesmith_name_version(LIBRARY VERSION): puts VERSION (MAJOR.MINOR.PATCH) into the name of a shared library
# and of its symbols. It exports tunesmith.h and the namespace TUNESMITH_ABI, and no more.
function(tunesmith_name_version library version)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" so_version "${version}")
  set(map "${CMAKE_CURRENT_BINARY_DIR}/${library}.map")
  file(CONFIGURE OUTPUT "${map}" @ONLY CONTENT "TUNESMITH_@so_version@ {
  global:
    tunesmith_*;
    extern \"C++\" { tunesmith::v@CMAKE_MATCH_1@_@CMAKE_MATCH_2@::*; tunesmith::v@CMAKE_MATCH_1@_@CMAKE_MATCH_2@_with_*::*; };
  local: *;
};
")
  target_link_options(${library} PRIVATE "LINKER:--version-script=${map}")
  set_target_properties(${library} PROPERTIES VERSION ${version} SOVERSION ${so_version} LINK_DEPENDS "${map}")
endfunction()

set(objects $<TARGET_OBJECTS:tunesmith_packed>)
set(TUNESMITH_PARTS generator language kernel_file db runtime choose templates)
foreach(part IN LISTS TUNESMITH_PARTS)
  list(APPEND objects $<TARGET_OBJECTS:tunesmith_${part}>)
endforeach()
set(shared_objects $<TARGET_OBJECTS:tunesmith_dispatch>)
set(replaced "/no_application_files\\.cpp\\.o$") # by what cmake/add_op.cmake makes, so it stays alone
set(static_objects "${CMAKE_CURRENT_BINARY_DIR}/tunesmith_interface.o" $<FILTER:$<TARGET_OBJECTS:tunesmith_dispatch>,INCLUDE,${replaced}>)
tunesmith_hidden_names("${CMAKE_CURRENT_BINARY_DIR}/tunesmith_interface.o" tunesmith_dispatch "${replaced}")
set(TUNESMITH_KINDS shared static)
if(TUNESMITH_PORTABLE) # Debian's libsqlite3.a cannot become a part of a shared library.
  set(TUNESMITH_KINDS static)
endif()
foreach(kind IN LISTS TUNESMITH_KINDS)
  string(TOUPPER ${kind} type)
  add_library(tunesmith_${kind} ${type} ${objects} ${${kind}_objects})
  add_library(tunesmith::${kind} ALIAS tunesmith_${kind})
  tunesmith_link(tunesmith_${kind})
  target_include_directories(tunesmith_${kind} PUBLIC
    "$<BUILD_INTERFACE:$<TARGET_PROPERTY:tunesmith_dispatch,INCLUDE_DIRECTORIES>>" $<INSTALL_INTERFACE:include>)
endforeach()
if(TARGET tunesmith_shared)
  tunesmith_name_version(tunesmith_shared ${PROJECT_VERSION})
  target_sources(tunesmith_shared PRIVATE "${PROJECT_SOURCE_DIR}/dispatch/library_files.cpp")
  target_include_directories(tunesmith_shared PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_options(tunesmith_shared PRIVATE $<$<CONFIG:Release>:LINKER:--strip-all>)
endif()

# tunesmith_load_files(TARGET): makes the program or extension TARGET load the shared library for its packed
# files, instead of containing them once more.
function(tunesmith_load_files target)
  if(TARGET tunesmith_shared)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/dispatch/loaded_files.cpp")
    set(folder lib)
    if(PROJECT_IS_TOP_LEVEL) # which alone is installed
      include(GNUInstallDirs)
      set(folder "${CMAKE_INSTALL_LIBDIR}")
    endif()
    set_source_files_properties("${PROJECT_SOURCE_DIR}/dispatch/loaded_files.cpp" PROPERTIES COMPILE_DEFINITIONS
      "TUNESMITH_LIBRARY_NAME=\"libtunesmith.so.${TUNESMITH_SOVERSION}\";TUNESMITH_LIBRARY_FOLDER=\"${folder}\"")
    add_dependencies(${target} tunesmith_shared)
  endif()
endfunction()
list(GET TUNESMITH_KINDS 0 kind)
set(TUNESMITH_LIBRARY tunesmith::${kind}) # of this project's own programs
