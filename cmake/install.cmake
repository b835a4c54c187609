# cmake --install: the dispatch library with its headers and package files, and the CLI where it is built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tunesmith")
set(libraries dispatch templates runtime generator db flags)
foreach(name IN LISTS libraries)
  set_target_properties(tunesmith_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
list(TRANSFORM libraries PREPEND tunesmith_)
install(TARGETS ${libraries} EXPORT tunesmith_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT tunesmith_targets FILE tunesmith-targets.cmake NAMESPACE tunesmith:: DESTINATION "${package_folder}")
install(DIRECTORY dispatch/include/tunesmith DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(folder IN LISTS TUNESMITH_OP_FOLDERS)
  file(GLOB headers CONFIGURE_DEPENDS "${folder}/tunesmith/*.h")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tunesmith")
endforeach()
if(TARGET tunesmith)
  install(TARGETS tunesmith RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file(cmake/tunesmith-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config.cmake"
                              INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tunesmith-config-version.cmake" DESTINATION "${package_folder}")
