# How this project declares its targets: one function each for a library, a program and a test.

function(rooflab_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  if(ROOFLAB_SANITIZE)
    # Instrumented, std::regex looks uninitialized to GCC 12.
    target_compile_options(${target} PRIVATE -fsanitize=${ROOFLAB_SANITIZE} -fno-sanitize-recover=all
                                             -Wno-maybe-uninitialized)
    target_link_options(${target} PUBLIC -fsanitize=${ROOFLAB_SANITIZE})
  endif()
endfunction()

# rooflab_library(<name> SOURCES ... [LINK ...]): a static library; includes are rooted at the checkout.
function(rooflab_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  rooflab_compile_options(${name})
endfunction()

# rooflab_program(<name> SOURCES ... [LINK ...]): an executable in build/bin.
function(rooflab_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  rooflab_compile_options(${name})
endfunction()

# rooflab_test(<name> SOURCES ... [LINK ...] [LABELS ...] [TIMEOUT <seconds>]): a GoogleTest program, which ctest
# runs as one test. Without a TIMEOUT it has 300 s.
function(rooflab_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINK;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  rooflab_compile_options(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE ROOFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             ROOFLAB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()

# rooflab_fuzz_program(<name> SOURCES ... [LINK ...]): a libFuzzer program; SOURCES hold the code under test too, so
# that it is instrumented. Only with ROOFLAB_FUZZ and clang.
function(rooflab_fuzz_program name)
  if(NOT ROOFLAB_FUZZ OR NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  rooflab_program(${name} ${ARGN})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
endfunction()
