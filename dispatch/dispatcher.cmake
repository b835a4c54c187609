# The dispatcher above toolchains and executables: what applications link, as tunesmith::dispatch. The build first runs
# tunesmith_pack, which compiles each op's base and the winners of generated/ into the library.
set(generated "${PROJECT_SOURCE_DIR}/generated")
set(packed "${CMAKE_CURRENT_BINARY_DIR}/packed_files")
set(pack_targets host)
if(TUNESMITH_HAS_CUDA)
  list(APPEND pack_targets sm_75 sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a compute_75)
endif()
file(GLOB generated_files CONFIGURE_DEPENDS "${generated}/*.cu" "${generated}/*.csv")

add_executable(tunesmith_pack cache.cpp pack.cpp table.cpp)
target_include_directories(tunesmith_pack PRIVATE include)
target_link_libraries(tunesmith_pack PRIVATE tunesmith_dispatch tunesmith_templates tunesmith_flags Threads::Threads)

add_custom_command(
  OUTPUT "${packed}.cpp" "${packed}.bin"
  COMMAND ${CMAKE_COMMAND} -E env "TUNESMITH_CXX=${CMAKE_CXX_COMPILER}" $<TARGET_FILE:tunesmith_pack> "${generated}"
          "${packed}.cpp" "${packed}.bin" ${pack_targets}
  DEPENDS tunesmith_pack ${generated_files}
  COMMENT "Compiling the base of each op and the winners of generated/"
  VERBATIM)
set_source_files_properties("${packed}.cpp" PROPERTIES OBJECT_DEPENDS "${packed}.bin")
add_library(tunesmith_packed OBJECT "${packed}.cpp") # of its own, so that nothing else waits for tunesmith_pack
target_include_directories(tunesmith_packed PRIVATE "${PROJECT_SOURCE_DIR}")

add_library(tunesmith_dispatcher STATIC cache.cpp dispatcher.cpp export.cpp known.cpp packed.cpp plan.cpp planner.cpp
            select.cpp table.cpp $<TARGET_OBJECTS:tunesmith_packed>)
# An op's typed functions: FOLDER/dispatch.cpp, declared in FOLDER/tunesmith/*.h.
foreach(folder IN LISTS TUNESMITH_OP_FOLDERS)
  file(GLOB typed CONFIGURE_DEPENDS "${folder}/dispatch.cpp")
  target_sources(tunesmith_dispatcher PRIVATE ${typed})
  target_include_directories(tunesmith_dispatcher PUBLIC $<BUILD_INTERFACE:${folder}>)
endforeach()
add_library(tunesmith::dispatch ALIAS tunesmith_dispatcher)
set_target_properties(tunesmith_dispatcher PROPERTIES EXPORT_NAME dispatch)
target_include_directories(tunesmith_dispatcher PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                       $<INSTALL_INTERFACE:include>)
target_compile_features(tunesmith_dispatcher PUBLIC cxx_std_20)
target_link_libraries(tunesmith_dispatcher PUBLIC tunesmith_dispatch tunesmith_templates PRIVATE tunesmith_db
                      tunesmith_flags Threads::Threads)
