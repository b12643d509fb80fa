# Finds nvcc (PATH, CUDA_HOME, /usr/local/cuda, then the wheels that scripts/setup puts into .cuda/).
# CUDA sources are compiled by rooflab_cuda_program below, not by CMake's CUDA language: the grader builds a
# student's file with the very same command line, and enabling the language needs a linkable toolkit.

find_program(ROOFLAB_NVCC nvcc
  HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin ${PROJECT_SOURCE_DIR}/.cuda/bin)
if(NOT ROOFLAB_NVCC)
  message(FATAL_ERROR "nvcc was not found on PATH, in CUDA_HOME, /usr/local/cuda or .cuda. "
                      "Run scripts/setup: it installs NVIDIA's compiler into .cuda/.")
endif()
cmake_path(GET ROOFLAB_NVCC PARENT_PATH ROOFLAB_CUDA_ROOT)
cmake_path(GET ROOFLAB_CUDA_ROOT PARENT_PATH ROOFLAB_CUDA_ROOT)

# rooflab_cuda_program(<name> SOURCES ... [LIBRARIES cublas]): a CUDA program that runs under `simgpu run`,
# built as cuda/<name> in the build tree. It is linked against the simulated runtime, whose interface is the
# toolkit's: a wheel of the compiler alone is enough.
function(rooflab_cuda_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM arg_LIBRARIES PREPEND -l OUTPUT_VARIABLE link_flags)
  list(TRANSFORM arg_LIBRARIES PREPEND simgpu_ OUTPUT_VARIABLE link_targets)
  set(program ${PROJECT_BINARY_DIR}/cuda/${name})
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/cuda
    COMMAND ${ROOFLAB_NVCC} -std=c++20 -O2 -lineinfo -cudart none
            "-gencode=arch=compute_80,code=[sm_80,compute_80]"
            -I${PROJECT_SOURCE_DIR}/simgpu/cublas/include ${arg_SOURCES} -o ${program}
            -L${PROJECT_BINARY_DIR}/lib/simgpu ${link_flags} -lcudart
    DEPENDS ${arg_SOURCES} simgpu_cudart ${link_targets}
    COMMENT "Compiling CUDA program ${name}" VERBATIM)
  add_custom_target(cuda_${name} DEPENDS ${program})
endfunction()
