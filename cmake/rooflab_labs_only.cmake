# Only labs are built, against a build of Rooflab that is there already, another checkout's:
#
#   cmake -G Ninja -B build -D ROOFLAB_BUILD=<its build tree> [-D ROOFLAB_LABS="part1-metrics;part6-sorting"]
#
# Programs, the simulated GPU, the toolkit, and all parts that are not in ROOFLAB_LABS are taken from there. By default
# those are built here that the other build has not. `build/bin/grader` then grades this checkout. The other build says
# what it is in cmake/labs.cmake.

set(ROOFLAB_BUILD "" CACHE PATH "Build tree whose programs and libraries are used; only labs are built then")
set(ROOFLAB_LABS "" CACHE STRING "With ROOFLAB_BUILD: the parts to build; by default those that it has not")
if(NOT ROOFLAB_BUILD)
  return()
endif()
if(NOT EXISTS ${ROOFLAB_BUILD}/cmake/labs.cmake)
  message(FATAL_ERROR "${ROOFLAB_BUILD} is no build tree of Rooflab; build one first: cmake --preset default && "
                      "cmake --build --preset default")
endif()
file(READ_SYMLINK ${ROOFLAB_BUILD}/lib/simgpu/libcudart.so runtime)
if(NOT runtime STREQUAL "libcudart.so.${ROOFLAB_CUDA_MAJOR}")
  message(FATAL_ERROR "${ROOFLAB_BUILD} is for the CUDA of ${runtime}, and ${ROOFLAB_CUDA_ROOT} has ${ROOFLAB_CUDA_VERSION}. "
                      "Name the other build's toolkit with -D ROOFLAB_CUDA_ROOT=/usr/local/cuda-12.4")
endif()
include(${ROOFLAB_BUILD}/cmake/labs.cmake)
include(labs/rooflab_lab.cmake)

# The grader takes what lies beside it: its programs cannot be links to where others lie.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/bin ${PROJECT_BINARY_DIR}/lib/labs)
file(GLOB programs ${ROOFLAB_BUILD}/bin/*)
foreach(program ${programs})
  cmake_path(GET program FILENAME name)
  file(REMOVE ${PROJECT_BINARY_DIR}/bin/${name})
  file(CREATE_LINK ${program} ${PROJECT_BINARY_DIR}/bin/${name} COPY_ON_ERROR)
endforeach()
file(COPY ${ROOFLAB_BUILD}/lib/simgpu DESTINATION ${PROJECT_BINARY_DIR}/lib)
file(COPY ${ROOFLAB_BUILD}/lib/labs/toolkit.a DESTINATION ${PROJECT_BINARY_DIR}/lib/labs)

# What implementations for students' tests are linked with is there already.
add_custom_target(toolkit_archive)
add_custom_target(simgpu_cudart)

rooflab_course_parts(parts ${PROJECT_SOURCE_DIR}/labs)
foreach(folder ${parts})
  cmake_path(GET folder FILENAME name)
  if(name IN_LIST ROOFLAB_LABS OR NOT EXISTS ${ROOFLAB_BUILD}/lib/labs/${name}.so)
    add_subdirectory(${folder})
    continue()
  endif()
  foreach(built ${name} ${name}.so)
    file(CREATE_LINK ${ROOFLAB_BUILD}/lib/labs/${built} ${PROJECT_BINARY_DIR}/lib/labs/${built} SYMBOLIC)
  endforeach()
endforeach()
