# SPDX-License-Identifier: Apache-2.0
# Read by CPack for each kind of package. Archives are unpacked into the same folder, which Debian's packages do not have.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
