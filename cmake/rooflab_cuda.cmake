# Finds nvcc: in ROOFLAB_CUDA_ROOT where that is given, else by PATH, CUDA_HOME, /usr/local/cuda, then the wheels that
# scripts/setup puts into .cuda/.
# CUDA sources are compiled by rooflab_cuda_program below, not by CMake's CUDA language: the grader builds a
# student's file with the very same command line, and enabling the language needs a linkable toolkit.

include(rooflab_cuda_version)

set(ROOFLAB_CUDA_ROOT "" CACHE PATH "The CUDA toolkit to build with, which holds bin/nvcc; by default the first that is found")
if(ROOFLAB_CUDA_ROOT)
  # Also where another one was found before.
  unset(ROOFLAB_NVCC CACHE)
  find_program(ROOFLAB_NVCC nvcc HINTS ${ROOFLAB_CUDA_ROOT}/bin NO_DEFAULT_PATH)
  if(NOT ROOFLAB_NVCC)
    message(FATAL_ERROR "There is no bin/nvcc in ROOFLAB_CUDA_ROOT, ${ROOFLAB_CUDA_ROOT}. Name the toolkit's own folder.")
  endif()
endif()
find_program(ROOFLAB_NVCC nvcc
  HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin ${PROJECT_SOURCE_DIR}/.cuda/bin)
if(NOT ROOFLAB_NVCC)
  message(FATAL_ERROR "nvcc was not found on PATH, in CUDA_HOME, /usr/local/cuda or .cuda. "
                      "Run scripts/setup: it installs NVIDIA's compiler into .cuda/.")
endif()
cmake_path(GET ROOFLAB_NVCC PARENT_PATH ROOFLAB_CUDA_ROOT)
cmake_path(GET ROOFLAB_CUDA_ROOT PARENT_PATH ROOFLAB_CUDA_ROOT)
rooflab_cuda_version(${ROOFLAB_CUDA_ROOT}/include ROOFLAB_CUDA_VERSION ROOFLAB_CUDA_MAJOR)
message(STATUS "CUDA ${ROOFLAB_CUDA_VERSION} in ${ROOFLAB_CUDA_ROOT}")

# How the build calls nvcc: host code for another architecture is compiled by its own compiler.
set(ROOFLAB_NVCC_COMMAND ${ROOFLAB_NVCC})
if(CMAKE_CROSSCOMPILING)
  list(APPEND ROOFLAB_NVCC_COMMAND -ccbin ${CMAKE_CXX_COMPILER})
endif()
if(ROOFLAB_ARM64)
  list(APPEND ROOFLAB_NVCC_COMMAND -Xcompiler -fsigned-char -Xcudafe --signed_chars)  # as Toolchain::command()
endif()

# CUPTI's headers, which some toolkits keep apart and others leave out.
find_path(ROOFLAB_CUPTI_INCLUDE cupti_activity.h NO_DEFAULT_PATH NO_CACHE
  HINTS ${ROOFLAB_CUDA_ROOT}/include ${ROOFLAB_CUDA_ROOT}/extras/CUPTI/include
        ${PROJECT_SOURCE_DIR}/.cuda-cupti/include)
if(NOT ROOFLAB_CUPTI_INCLUDE)
  message(FATAL_ERROR "cupti_activity.h was not found in ${ROOFLAB_CUDA_ROOT} or .cuda-cupti. "
                      "Run scripts/setup: it installs CUPTI's headers into .cuda-cupti/.")
endif()

# For calls of the host compiler. One that is its own, as where Debian has CUDA, may not come before the standard library's.
set(ROOFLAB_CUDA_INCLUDE_FLAGS ${ROOFLAB_CUDA_ROOT}/include ${ROOFLAB_CUPTI_INCLUDE})
list(TRANSFORM ROOFLAB_CUDA_INCLUDE_FLAGS REPLACE "/$" "")
list(REMOVE_ITEM ROOFLAB_CUDA_INCLUDE_FLAGS ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
list(TRANSFORM ROOFLAB_CUDA_INCLUDE_FLAGS PREPEND -isystem)

# NVRTC, where the toolkit has it.
find_file(ROOFLAB_NVRTC libnvrtc.so.${ROOFLAB_CUDA_MAJOR} NO_DEFAULT_PATH NO_CACHE
  HINTS ${ROOFLAB_CUDA_ROOT}/lib64 ${ROOFLAB_CUDA_ROOT}/lib ${ROOFLAB_CUDA_ROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}
        ${ROOFLAB_CUDA_ROOT}/targets/x86_64-linux/lib ${ROOFLAB_CUDA_ROOT}/targets/sbsa-linux/lib)

# Architectures that code of the course gets machine code for. A GPU of another one would compile it from PTX, which a
# driver older than the toolkit refuses.
set(ROOFLAB_GPU_ARCHITECTURES 75 80 86 89 90 CACHE STRING "Real GPUs that graded code can run on, by compute capability")

# Solutions that only tests run get machine code where there may be a GPU to run them; it takes two thirds of their compilation.
if(EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)
  set(found_gpu ON)
else()
  set(found_gpu OFF)
endif()
option(ROOFLAB_TESTS_FOR_GPUS "Machine code in what tests run on real GPUs" ${found_gpu})

# rooflab_native_code(<architecture> <result> [PTX]): nvcc's words for machine code of what is written for one
# architecture, for all of ROOFLAB_GPU_ARCHITECTURES that can run it, and with PTX the code that simulated GPUs run. It is
# made of one and the same PTX, as a driver would: each front end of its own would cost seconds a file.
function(rooflab_native_code architecture result)
  set(codes)
  foreach(real IN LISTS ROOFLAB_GPU_ARCHITECTURES)
    if(real GREATER_EQUAL architecture)
      list(APPEND codes sm_${real})
    endif()
  endforeach()
  if(NOT codes)  # newer than all of them, or with a letter: 90a
    set(codes sm_${architecture})
  endif()
  if(ARGN STREQUAL "PTX")
    list(APPEND codes compute_${architecture})
  endif()
  list(JOIN codes "," codes)
  set(${result} -gencode arch=compute_${architecture},code=[${codes}] PARENT_SCOPE)
endfunction()

# rooflab_cuda_program(<name> SOURCES ... [LIBRARIES cublas] [INCLUDES folders] [ARCHIVES files] [DEPENDS files]): a CUDA program that runs under `simgpu run`,
# built as cuda/<name> in the build tree. It is linked against the simulated runtime, whose interface is the
# toolkit's: a wheel of the compiler alone is enough.
function(rooflab_cuda_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;ARCHITECTURES;INCLUDES;ARCHIVES;DEPENDS;OPTIONS")
  if(NOT arg_ARCHITECTURES)
    set(arg_ARCHITECTURES 80)
  endif()
  list(TRANSFORM arg_ARCHITECTURES REPLACE "(.+)" "-gencode=arch=compute_\\1,code=[sm_\\1,compute_\\1]"
       OUTPUT_VARIABLE code_flags)
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM arg_INCLUDES PREPEND -I)
  list(TRANSFORM arg_LIBRARIES PREPEND -l OUTPUT_VARIABLE link_flags)
  list(TRANSFORM arg_LIBRARIES PREPEND simgpu_ OUTPUT_VARIABLE link_targets)
  set(program ${PROJECT_BINARY_DIR}/cuda/${name})
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/cuda
    COMMAND ${ROOFLAB_NVCC_COMMAND} -std=c++20 -O2 -lineinfo -cudart none
            ${code_flags} ${arg_OPTIONS}
            -I${PROJECT_SOURCE_DIR}/simgpu/cublas/include -I${ROOFLAB_CUPTI_INCLUDE} ${arg_INCLUDES}
            ${arg_SOURCES} ${arg_ARCHIVES} -o ${program}
            -L${PROJECT_BINARY_DIR}/lib/simgpu ${link_flags} -lcudart
    DEPENDS ${arg_SOURCES} ${arg_ARCHIVES} ${arg_DEPENDS} simgpu_cudart ${link_targets}
    COMMENT "Compiling CUDA program ${name}" VERBATIM)
  add_custom_target(cuda_${name} DEPENDS ${program})
endfunction()
