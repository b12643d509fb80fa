# Finds nvcc (PATH, CUDA_HOME, /usr/local/cuda, then the wheels that scripts/setup puts into .cuda/).
# CUDA sources are compiled by rooflab_cuda_library below, not by CMake's CUDA language: the grader builds a
# student's file with the very same command line, and enabling the language needs a linkable toolkit.

find_program(ROOFLAB_NVCC nvcc
  HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin ${PROJECT_SOURCE_DIR}/.cuda/bin)
if(NOT ROOFLAB_NVCC)
  message(FATAL_ERROR "nvcc was not found on PATH, in CUDA_HOME, /usr/local/cuda or .cuda. "
                      "Run scripts/setup: it installs NVIDIA's compiler into .cuda/.")
endif()
cmake_path(GET ROOFLAB_NVCC PARENT_PATH ROOFLAB_CUDA_ROOT)
cmake_path(GET ROOFLAB_CUDA_ROOT PARENT_PATH ROOFLAB_CUDA_ROOT)
