# SPDX-License-Identifier: Apache-2.0
# A shared library with its own C++ runtime or unwinder ends the process when an exception leaves it and meets
# a destructor of the application. Such a library is only for this build's own programs: it is not installed
# and not packed.
if("${CMAKE_SHARED_LINKER_FLAGS}" MATCHES "-static-lib(gcc|stdc)")
  install(CODE "message(FATAL_ERROR \"This build's shared library has a C++ runtime of its own (${CMAKE_SHARED_LINKER_FLAGS}), so exceptions \"
    \"that leave it would end the process. It is not installed: build with another preset, such as release.\")" ALL_COMPONENTS)
endif()
