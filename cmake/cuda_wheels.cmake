# SPDX-License-Identifier: Apache-2.0
# Replaces a missing CUDA toolkit by its headers, its static runtime and NVRTC from the wheels
# nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-nvrtc (for CUDA 12 nvidia-cuda-runtime-cu12,
# nvidia-cuda-nvcc-cu12 and nvidia-cuda-nvrtc-cu12) in the site-packages of ${Python_EXECUTABLE}. Defines
# CUDA::cudart_static, CUDAToolkit_VERSION and TUNESMITH_NVRTC_FOLDER, or nothing.
find_package(Python 3.10 COMPONENTS Interpreter)
if(NOT Python_FOUND)
  return()
endif()
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import importlib.util as u; s = u.find_spec('nvidia'); print(';'.join(s.submodule_search_locations if s else []))"
                OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(places "")
foreach(folder IN LISTS folders)
  file(GLOB more LIST_DIRECTORIES ON "${folder}/cu1[2-9]")
  list(SORT more ORDER DESCENDING)
  list(APPEND places ${more} "${folder}/cuda_runtime" "${folder}/cuda_nvcc" "${folder}/cuda_nvrtc")
endforeach()
list(TRANSFORM places APPEND "/include" OUTPUT_VARIABLE headers)
list(TRANSFORM places APPEND "/lib" OUTPUT_VARIABLE libraries)
find_path(TUNESMITH_CUDA_HEADERS cuda_runtime_api.h PATHS ${headers} NO_DEFAULT_PATH)
find_path(TUNESMITH_CUDA_CRT_HEADERS crt/host_defines.h PATHS ${headers} NO_DEFAULT_PATH)
find_library(TUNESMITH_CUDA_RUNTIME libcudart_static.a PATHS ${libraries} NO_DEFAULT_PATH)
find_library(TUNESMITH_CUDA_NVRTC NAMES libnvrtc.so.13 libnvrtc.so.12 PATHS ${libraries} NO_DEFAULT_PATH)
mark_as_advanced(TUNESMITH_CUDA_HEADERS TUNESMITH_CUDA_CRT_HEADERS TUNESMITH_CUDA_RUNTIME TUNESMITH_CUDA_NVRTC)
if(NOT (TUNESMITH_CUDA_HEADERS AND TUNESMITH_CUDA_CRT_HEADERS AND TUNESMITH_CUDA_RUNTIME AND TUNESMITH_CUDA_NVRTC))
  return()
endif()
get_filename_component(TUNESMITH_NVRTC_FOLDER "${TUNESMITH_CUDA_NVRTC}" DIRECTORY) # the build itself compiles kernels
file(STRINGS "${TUNESMITH_CUDA_HEADERS}/cuda_runtime_api.h" version REGEX "#define CUDART_VERSION +[0-9]+")
string(REGEX MATCH "[0-9]+$" version "${version}")
math(EXPR major "${version} / 1000")
math(EXPR minor "${version} % 1000 / 10")
set(CUDAToolkit_VERSION "${major}.${minor}")
add_library(CUDA::cudart_static STATIC IMPORTED GLOBAL)
find_package(Threads REQUIRED)
set_target_properties(CUDA::cudart_static PROPERTIES
  IMPORTED_LOCATION "${TUNESMITH_CUDA_RUNTIME}"
  INTERFACE_INCLUDE_DIRECTORIES "${TUNESMITH_CUDA_HEADERS};${TUNESMITH_CUDA_CRT_HEADERS}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${TUNESMITH_CUDA_HEADERS};${TUNESMITH_CUDA_CRT_HEADERS}"
  INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
