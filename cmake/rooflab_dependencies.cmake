# Third-party libraries: the system's first (find_package), else the source at a pinned commit (FetchContent),
# so that people with neither root nor apt can build too.

include(FetchContent)
find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

# rooflab_fetch(<name> <repository> <commit> [SUBDIR <folder of its CMakeLists.txt>] [<option>=<value> ...])
function(rooflab_fetch name repository commit)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "SUBDIR" "")
  # An archive of scripts/gpu_tests brings the sources along.
  set(carried ${PROJECT_SOURCE_DIR}/third_party/${name})
  if(EXISTS ${carried})
    string(TOUPPER ${name} upper)
    set(FETCHCONTENT_SOURCE_DIR_${upper} ${carried})
    set(repository ${carried})
  elseif(NOT ROOFLAB_FETCH)
    message(FATAL_ERROR "${name} was not found and ROOFLAB_FETCH is OFF. Run scripts/setup, or install it.")
  endif()
  message(STATUS "${name}: not installed, building ${repository} at ${commit}")
  foreach(option ${arg_UNPARSED_ARGUMENTS})
    string(REPLACE "=" ";" option ${option})
    list(GET option 0 key)
    list(GET option 1 value)
    set(${key} ${value} CACHE INTERNAL "")
  endforeach()
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit} SOURCE_SUBDIR "${arg_SUBDIR}" SYSTEM)
  FetchContent_MakeAvailable(${name})
  string(TOLOWER ${name} lower)
  set(${name}_SOURCE_DIR ${${lower}_SOURCE_DIR} PARENT_SCOPE)
  set(${name}_BINARY_DIR ${${lower}_BINARY_DIR} PARENT_SCOPE)
endfunction()

# rooflab_pkg_config(<name> <module>): defines PkgConfig::<name>, or leaves <name>_FOUND false.
macro(rooflab_pkg_config name module)
  set(${name}_FOUND FALSE)
  if(PkgConfig_FOUND)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  endif()
endmacro()

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  rooflab_fetch(fmt https://github.com/fmtlib/fmt.git a33701196adfad74917046096bf5a2aa0ab0bb50)  # 9.1.0
endif()

find_package(nlohmann_json 3.11 QUIET)
if(NOT nlohmann_json_FOUND)
  rooflab_fetch(nlohmann_json https://github.com/nlohmann/json.git
                bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d JSON_BuildTests=OFF)  # 3.11.2
endif()

find_package(CLI11 2.1 QUIET)
if(NOT CLI11_FOUND)
  rooflab_fetch(CLI11 https://github.com/CLIUtils/CLI11.git
                291c58789c031208f08f4f261a858b5b7083e8e2 CLI11_BUILD_TESTS=OFF)  # 2.3.2
endif()

find_package(tomlplusplus 3.3 QUIET)
if(NOT tomlplusplus_FOUND)
  rooflab_fetch(tomlplusplus https://github.com/marzer/tomlplusplus.git
                c635f218c0aefc801d9748841930365e54fe3089)  # 3.3.0
endif()

find_package(GTest 1.12 QUIET)
if(NOT GTest_FOUND)
  rooflab_fetch(googletest https://github.com/google/googletest.git
                58d77fa8070e8cec2dc1ed015d66b454c8d78850 INSTALL_GTEST=OFF)  # 1.12.1
endif()

find_package(benchmark 1.7 QUIET)
if(NOT benchmark_FOUND)
  rooflab_fetch(benchmark https://github.com/google/benchmark.git
                d572f4777349d43653b21d6c2fc63020ab326db2
                BENCHMARK_ENABLE_TESTING=OFF BENCHMARK_ENABLE_INSTALL=OFF)  # 1.7.1
endif()

rooflab_pkg_config(zstd libzstd)
if(NOT zstd_FOUND)
  rooflab_fetch(zstd https://github.com/facebook/zstd.git 945f27758c0fd67b636103a38dbf050266c6b90a
                SUBDIR build/cmake ZSTD_BUILD_PROGRAMS=OFF ZSTD_BUILD_SHARED=OFF)  # 1.5.4
  add_library(rooflab_zstd INTERFACE)
  target_link_libraries(rooflab_zstd INTERFACE libzstd_static)
  target_include_directories(rooflab_zstd SYSTEM INTERFACE ${zstd_SOURCE_DIR}/lib)
  add_library(PkgConfig::zstd ALIAS rooflab_zstd)
endif()

rooflab_pkg_config(lz4 liblz4)
if(NOT lz4_FOUND)
  rooflab_fetch(lz4 https://github.com/lz4/lz4.git 5ff839680134437dbf4678f3d0c7b371d84f4964
                SUBDIR build/cmake LZ4_BUILD_CLI=OFF LZ4_BUILD_LEGACY_LZ4C=OFF LZ4_BUNDLED_MODE=ON)  # 1.9.4
  add_library(rooflab_lz4 INTERFACE)
  target_link_libraries(rooflab_lz4 INTERFACE lz4_static)
  target_include_directories(rooflab_lz4 SYSTEM INTERFACE ${lz4_SOURCE_DIR}/lib)
  add_library(PkgConfig::lz4 ALIAS rooflab_lz4)
endif()

rooflab_pkg_config(openblas openblas)
if(NOT openblas_FOUND)
  if(ROOFLAB_ARM64)
    set(openblas_target ARMV8)
  else()
    set(openblas_target HASWELL)
  endif()
  rooflab_fetch(openblas https://github.com/OpenMathLib/OpenBLAS.git
                5ef8b1964658f9cb6a6324a06f6a1a022609b0c5 TARGET=${openblas_target}
                NOFORTRAN=ON BUILD_WITHOUT_LAPACK=ON BUILD_TESTING=OFF USE_THREAD=OFF
                BUILD_SINGLE=ON BUILD_DOUBLE=ON)  # 0.3.28; no complex numbers, which are two thirds of its files
  add_library(rooflab_openblas INTERFACE)
  target_link_libraries(rooflab_openblas INTERFACE openblas_static)
  target_include_directories(rooflab_openblas SYSTEM INTERFACE ${openblas_SOURCE_DIR} ${openblas_BINARY_DIR})
  add_library(PkgConfig::openblas ALIAS rooflab_openblas)
elseif(openblas_LIBRARY_DIRS MATCHES "^/usr/lib/")
  # Debian has it in a folder of its own, where the loader is led by its alternatives. Programs, which go out in kits and packages,
  # are not to look there by themselves.
  list(APPEND CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES ${openblas_LIBRARY_DIRS})
endif()

# What grading a class needs, and students do not: without one of these there is no `grader batch`.
find_package(SQLite3 QUIET)
find_package(LibArchive QUIET)
find_package(yaml-cpp QUIET)
find_package(OpenSSL COMPONENTS Crypto QUIET)
find_path(LIBCSV_INCLUDE_DIR csv.h)
find_library(LIBCSV_LIBRARY csv)
set(ROOFLAB_BATCH_MISSING "")
foreach(package SQLite3 LibArchive yaml-cpp OpenSSL)
  if(NOT ${package}_FOUND)
    list(APPEND ROOFLAB_BATCH_MISSING ${package})
  endif()
endforeach()
if(LIBCSV_INCLUDE_DIR AND LIBCSV_LIBRARY)
  add_library(rooflab_libcsv INTERFACE)
  target_include_directories(rooflab_libcsv SYSTEM INTERFACE ${LIBCSV_INCLUDE_DIR})
  target_link_libraries(rooflab_libcsv INTERFACE ${LIBCSV_LIBRARY})
else()
  list(APPEND ROOFLAB_BATCH_MISSING libcsv)
endif()
if(ROOFLAB_BATCH_MISSING)
  list(JOIN ROOFLAB_BATCH_MISSING ", " missing)
  message(STATUS "grader batch is left out, since these libraries are missing: ${missing}")
endif()

# What serves the pages of `grader review`, which is left out without it.
rooflab_pkg_config(httplib cpp-httplib)
if(ROOFLAB_REVIEW AND NOT httplib_FOUND)
  message(STATUS "grader review is left out, since cpp-httplib is missing (Debian: libcpp-httplib-dev)")
endif()
