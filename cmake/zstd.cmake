# SPDX-License-Identifier: Apache-2.0
# Finds Zstandard as zstd::libzstd, its name in its own CMake files, which Debian's package lacks.
if(NOT TARGET zstd::libzstd)
  find_path(ZSTD_INCLUDE_DIR zstd.h)
  find_library(ZSTD_LIBRARY zstd)
  mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
  if(NOT ZSTD_INCLUDE_DIR OR NOT ZSTD_LIBRARY)
    message(FATAL_ERROR "Zstandard was not found, with which Tunesmith's kernels are compressed: install libzstd-dev, or name ZSTD_INCLUDE_DIR and ZSTD_LIBRARY.")
  endif()
  add_library(zstd::libzstd UNKNOWN IMPORTED GLOBAL)
  set_target_properties(zstd::libzstd PROPERTIES IMPORTED_LOCATION "${ZSTD_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ZSTD_INCLUDE_DIR}")
endif()
