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

# How the build calls nvcc: host code for another architecture is compiled by its own compiler.
set(ROOFLAB_NVCC_COMMAND ${ROOFLAB_NVCC})
if(CMAKE_CROSSCOMPILING)
  list(APPEND ROOFLAB_NVCC_COMMAND -ccbin ${CMAKE_CXX_COMPILER})
endif()
if(ROOFLAB_ARM64)
  list(APPEND ROOFLAB_NVCC_COMMAND -Xcompiler -fsigned-char -Xcudafe --signed_chars)  # as Toolchain::command()
endif()

# CUPTI's headers, which some toolkits keep apart and others leave out.
find_path(ROOFLAB_CUPTI_INCLUDE cupti_activity.h NO_DEFAULT_PATH
  HINTS ${ROOFLAB_CUDA_ROOT}/include ${ROOFLAB_CUDA_ROOT}/extras/CUPTI/include
        ${PROJECT_SOURCE_DIR}/.cuda-cupti/include)
if(NOT ROOFLAB_CUPTI_INCLUDE)
  message(FATAL_ERROR "cupti_activity.h was not found in ${ROOFLAB_CUDA_ROOT} or .cuda-cupti. "
                      "Run scripts/setup: it installs CUPTI's headers into .cuda-cupti/.")
endif()

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

# rooflab_cuda_library(<target> NAME cudart [VERSION 13] [FUNCTIONS public_functions.txt] [PRECOMPILE] SOURCES ...):
# lib<NAME>.so.<VERSION> of the simulated GPU, in lib/simgpu of the build tree. Beside the sources it wants a file of
# all functions of NVIDIA's library: those
# that no source defines refuse by name (simgpu_refuse, which one of the sources defines). lib<NAME>.map says
# what is exported.
function(rooflab_cuda_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PRECOMPILE" "NAME;VERSION;FUNCTIONS" "SOURCES")
  if(NOT arg_VERSION)
    set(arg_VERSION 13)
  endif()
  if(NOT arg_FUNCTIONS)
    set(arg_FUNCTIONS public_functions.txt)
  endif()
  # Refusals are weak, so that a definition in one of the sources takes their place.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_FUNCTIONS})
  file(STRINGS ${arg_FUNCTIONS} public_functions)
  set(refusals "// Generated from ${arg_FUNCTIONS}.\nextern \"C\" int simgpu_refuse(const char*);\n")
  foreach(function IN LISTS public_functions)
    string(APPEND refusals "extern \"C\" __attribute__((weak)) int ${function}() "
                           "{ return simgpu_refuse(\"${function}\"); }\n")
  endforeach()
  set(refusals_file ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_refusals.cpp)
  file(GENERATE OUTPUT ${refusals_file} CONTENT "${refusals}")

  # Programs that nobody instrumented load it, so it cannot be instrumented either.
  set(ROOFLAB_SANITIZE "")
  # Its calls wait for the device's process.
  set(ROOFLAB_QUICK ON)
  # By its own name: the folder's own sources may hold it already.
  set(for_old_glibc ${PROJECT_SOURCE_DIR}/simgpu/runtime/arc4random.cpp)
  list(REMOVE_ITEM arg_SOURCES arc4random.cpp)
  add_library(${target} SHARED ${arg_SOURCES} ${refusals_file} ${for_old_glibc})
  rooflab_compile_options(${target})
  if(arg_PRECOMPILE)
    rooflab_precompile(${target})
  endif()
  # These are declared as they are not: no file that knows the true declarations may see them.
  set_source_files_properties(${refusals_file} ${for_old_glibc} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_include_directories(${target} SYSTEM PRIVATE ${ROOFLAB_CUDA_ROOT}/include)
  # A guest program may carry another C++ library; ours stays inside.
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/lib${arg_NAME}.map)
  target_link_options(${target} PRIVATE
    -static-libstdc++ -static-libgcc -Wl,-Bsymbolic -Wl,--no-undefined -Wl,--version-script=${exports})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_NAME} SOVERSION ${arg_VERSION} VERSION ${arg_VERSION}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/simgpu
    LINK_DEPENDS ${exports})
endfunction()
