# Options of the whole build, and the flags that every one of our targets gets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Binaries together in build/bin and libraries in build/lib: the documented command is build/bin/grader.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# A build tree outside the checkout (cmake -B elsewhere) finds it by this file: a path inside the programs would differ
# from folder to folder, and go out with them (docs/design/release.md).
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/checkout_folder CONTENT "${PROJECT_SOURCE_DIR}\n")

set(ROOFLAB_SANITIZE "" CACHE STRING "Sanitizers for our own code, as in -fsanitize=LIST")
option(ROOFLAB_COVERAGE "Count which lines of our own code run (scripts/coverage)" OFF)
option(ROOFLAB_FUZZ "Build libFuzzer programs for the readers of untrusted input (clang only)" OFF)
option(ROOFLAB_CLUSTERS "Grade classes on Slurm and Kubernetes too (grader batch --executor)" ON)
option(ROOFLAB_REVIEW "Review a graded class in a browser (grader review), where cpp-httplib is installed" ON)
option(ROOFLAB_FETCH "Download pinned dependencies that find_package does not find" ON)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ROOFLAB_ARM64 ON)
  set(engine_march armv8-a)  # which has fused multiply-adds and vectors
else()
  set(ROOFLAB_ARM64 OFF)
  set(engine_march x86-64-v3)
endif()
set(SIMGPU_MARCH ${engine_march} CACHE STRING
    "Instruction set the simulated GPU's engine is compiled for (-march); simgpu checks it at start")
