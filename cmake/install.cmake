# SPDX-License-Identifier: Apache-2.0
# Rules for cmake --install and cpack: the library, the files that an application's build needs, and the
# program if it is built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(cmake/one_unwinder.cmake)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tunesmith")
foreach(kind IN LISTS TUNESMITH_KINDS)
  set_target_properties(tunesmith_${kind} PROPERTIES EXPORT_NAME ${kind})
  install(TARGETS tunesmith_${kind} EXPORT tunesmith_${kind}
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(EXPORT tunesmith_${kind} FILE tunesmith-${kind}.cmake NAMESPACE tunesmith::
          DESTINATION "${package_folder}" COMPONENT development)
endforeach()
set(headers "${PROJECT_BINARY_DIR}/dispatch/include/tunesmith/version.h")
foreach(folder IN LISTS TUNESMITH_OP_FOLDERS TUNESMITH_FAMILIES ITEMS "${PROJECT_SOURCE_DIR}/choose/include" "${PROJECT_SOURCE_DIR}/dispatch/include")
  file(GLOB more CONFIGURE_DEPENDS "${folder}/tunesmith/*.h")
  list(APPEND headers ${more})
endforeach()
install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tunesmith" COMPONENT development)
if(TARGET tunesmith)
  install(TARGETS tunesmith RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  # Its manual, and bash's completion of its words, are made of what its --help says. Where there is no Python they are left out.
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(texts "${PROJECT_BINARY_DIR}/program_texts")
    file(MAKE_DIRECTORY "${texts}")
    add_custom_command(OUTPUT "${texts}/tunesmith.1" "${texts}/tunesmith.bash"
                       COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/scripts/program_texts.py" $<TARGET_FILE:tunesmith>
                               --man "${texts}/tunesmith.1" --bash "${texts}/tunesmith.bash"
                       DEPENDS tunesmith "${PROJECT_SOURCE_DIR}/scripts/program_texts.py" VERBATIM)
    add_custom_target(tunesmith_texts ALL DEPENDS "${texts}/tunesmith.1" "${texts}/tunesmith.bash")
    # Optional: a build of single targets has not made them.
    install(FILES "${texts}/tunesmith.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program OPTIONAL)
    install(FILES "${texts}/tunesmith.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME tunesmith
            COMPONENT program OPTIONAL)
  endif()
endif()

# Each package has the licence; the program's package, or a full installation, also has the pages.
foreach(component_and_folder IN ITEMS "library libtunesmith${TUNESMITH_SOVERSION}" "development libtunesmith-dev" "program tunesmith")
  separate_arguments(component_and_folder)
  list(GET component_and_folder 0 component)
  list(GET component_and_folder 1 folder)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${folder}" COMPONENT ${component})
endforeach()
install(FILES README.md CHANGELOG.md CONVENTIONS.md SECURITY.md SUPPORT.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/tunesmith" COMPONENT program)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/tunesmith" COMPONENT program FILES_MATCHING PATTERN "*.md"
        PATTERN "*.svg" PATTERN "*.png")

# The component op: the files that an application's build needs for its own ops (cmake/add_op.cmake), in the
# folders of a checkout.
set(source_folder "${CMAKE_INSTALL_DATADIR}/tunesmith")
if(TARGET tunesmith AND TARGET tunesmith_static)
  add_library(tunesmith_program STATIC $<TARGET_OBJECTS:tunesmith_cli> $<TARGET_OBJECTS:tunesmith_tuner>)
  add_library(tunesmith_packer STATIC "$<FILTER:$<TARGET_OBJECTS:tunesmith_pack>,INCLUDE,/pack\\.cpp\\.o$>")
  foreach(main program packer)
    set_target_properties(tunesmith_${main} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${main})
    install(TARGETS tunesmith_${main} EXPORT tunesmith_op ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT op)
  endforeach()
  install(EXPORT tunesmith_op FILE tunesmith-op.cmake NAMESPACE tunesmith:: DESTINATION "${package_folder}" COMPONENT op)
  install(FILES cmake/add_op.cmake cmake/ops_library.cmake cmake/texts.cmake DESTINATION "${source_folder}/cmake" COMPONENT op)
  foreach(folder generator language)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
    install(FILES ${headers} DESTINATION "${source_folder}/${folder}" COMPONENT op)
  endforeach()
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libtunesmith-op-dev" COMPONENT op)
  install(FILES dispatch/packed.h dispatch/arguments.h DESTINATION "${source_folder}/dispatch" COMPONENT op)
  install(DIRECTORY templates/ ${TUNESMITH_EXTRA_OPS} DESTINATION "${source_folder}/templates" COMPONENT op
          FILES_MATCHING REGEX "\\.(cu|cuh|inl|h|cpp)$" PATTERN "*test.cpp" EXCLUDE PATTERN "test*.h" EXCLUDE)
endif()

configure_package_config_file(cmake/tunesmith-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config.cmake"
                              INSTALL_DESTINATION "${package_folder}" PATH_VARS source_folder NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config-version.cmake" "${PROJECT_SOURCE_DIR}/cmake/zstd.cmake"
        DESTINATION "${package_folder}" COMPONENT development)

# The libraries that the static library calls, for pkg-config.
set(private_libraries "-lsqlite3 -lzstd -lstdc++ -lm -lpthread -ldl")
if(TUNESMITH_HAS_CUDA)
  get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
  get_filename_component(cudart "${cudart}" DIRECTORY)
  string(PREPEND private_libraries "-L${cudart} -lcudart_static -lrt ")
endif()
file(RELATIVE_PATH prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/") # so that the files may be moved together
configure_file(cmake/tunesmith.pc.in tunesmith.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tunesmith.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT development)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_CONTACT "the Tunesmith project")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development program op)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON) # The kernels are in both libraries, so that all in one archive would be large.
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package.cmake")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
find_program(dpkg_shlibdeps dpkg-shlibdeps)
mark_as_advanced(dpkg_shlibdeps)
if(dpkg_shlibdeps)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "libtunesmith${TUNESMITH_SOVERSION}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Shared library")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtunesmith-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtunesmith${TUNESMITH_SOVERSION} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libsqlite3-dev, libzstd-dev") # for the static library
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, static library, CMake and pkg-config files")
set(CPACK_DEBIAN_OP_PACKAGE_NAME libtunesmith-op-dev)
set(CPACK_DEBIAN_OP_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_OP_PACKAGE_DEPENDS "libtunesmith-dev (= ${PROJECT_VERSION}), libsqlite3-dev, libzstd-dev")
if(TUNESMITH_HAS_JSON)
  string(APPEND CPACK_DEBIAN_OP_PACKAGE_DEPENDS ", zlib1g-dev")
endif()
set(CPACK_COMPONENT_OP_DESCRIPTION "What ops of one's own are built with")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME tunesmith)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
if(TARGET tunesmith_shared) # which the program loads
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libtunesmith${TUNESMITH_SOVERSION} (= ${PROJECT_VERSION})")
endif()
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program that tunes")
include(CPack)
