# Which CUDA a build is for, and what differs between the major versions outside of C++ (docs/design/cuda-versions.md).

set(ROOFLAB_OLDEST_CUDA 12.4)
set(ROOFLAB_NEWEST_CUDA_MAJOR 13)

# The major versions whose programs run on simgpu, and what cudaRuntimeGetVersion says in each: the newest whose functions it has.
set(ROOFLAB_SIMULATED_MAJORS 12 13)
set(ROOFLAB_SIMULATED_CUDA_12 12090)
set(ROOFLAB_SIMULATED_CUDA_13 13000)

# The numbers behind .so of NVIDIA's libraries, where they are not CUDA's major version itself.
set(ROOFLAB_SONAMES_OF_CUDA_12 curand.10 cufft.11 cusolver.11 cudnn.9 nccl.2)
set(ROOFLAB_SONAMES_OF_CUDA_13 curand.10 cufft.12 cusolver.12 cusparse.12 cudnn.9 nccl.2)

# rooflab_cuda_version(<include> <version> <major>): what the headers in a folder are of: 12.4 and 12.
function(rooflab_cuda_version include version major)
  set(pattern "^#define CUDART_VERSION +([0-9]+)([0-9][0-9])0$")
  file(STRINGS ${include}/cuda_runtime_api.h line REGEX "${pattern}")
  if(NOT line MATCHES "${pattern}")
    message(FATAL_ERROR "${include}/cuda_runtime_api.h does not say which version of CUDA it is of. "
                        "Reinstall the toolkit, or run scripts/setup.")
  endif()
  math(EXPR found_major "${CMAKE_MATCH_1}")
  math(EXPR minor "${CMAKE_MATCH_2}")
  set(found ${found_major}.${minor})
  if(found VERSION_LESS ROOFLAB_OLDEST_CUDA OR found_major GREATER ROOFLAB_NEWEST_CUDA_MAJOR)
    message(FATAL_ERROR "The toolkit of ${include} is CUDA ${found}; Rooflab is built with ${ROOFLAB_OLDEST_CUDA} to "
                        "${ROOFLAB_NEWEST_CUDA_MAJOR}.x. Name another one with -D ROOFLAB_CUDA_ROOT=/usr/local/cuda-13, "
                        "or remove nvcc from PATH and run scripts/setup: it installs NVIDIA's compiler into .cuda/.")
  endif()
  set(${version} ${found} PARENT_SCOPE)
  set(${major} ${found_major} PARENT_SCOPE)
endfunction()

# rooflab_soname_number(<library> <major> <number>): 12 for cufft of CUDA 13, or cudart of 12.
function(rooflab_soname_number library major number)
  set(${number} ${major} PARENT_SCOPE)
  foreach(entry IN LISTS ROOFLAB_SONAMES_OF_CUDA_${major})
    if(entry MATCHES "^${library}\\.([0-9]+)$")
      set(${number} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
