# How this project declares its targets: one function each for a library, a program and a test.

function(rooflab_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  # The engine's inline functions are right only without contraction; the other two let its loops over lanes vectorise. The same
  # for all, so that tests of any library can share what is precompiled.
  target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno -fno-trapping-math)
  if(ROOFLAB_ARM64)
    # As on x86-64: a plain char has no sign there otherwise, and what is computed from text would differ.
    target_compile_options(${target} PRIVATE -fsigned-char)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler looks for memory that it can use again from 0.5 GB on, not from 0.1 GB: a tenth of its time.
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-heapsize=524288")
  endif()
  if(ROOFLAB_QUICK)
    rooflab_quick_compile(${target})
  endif()
  if(ROOFLAB_SANITIZE)
    # Instrumented, std::regex looks uninitialized to GCC 12.
    target_compile_options(${target} PRIVATE -fsanitize=${ROOFLAB_SANITIZE} -fno-sanitize-recover=all
                                             -Wno-maybe-uninitialized)
    target_link_options(${target} PUBLIC -fsanitize=${ROOFLAB_SANITIZE})
  endif()
  if(ROOFLAB_COVERAGE)
    # Guests and workers write counts at the same time as others of the same program.
    target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
    target_link_options(${target} PUBLIC --coverage)
  endif()
  if(ROOFLAB_FUZZ)
    # clang warns of what g++, with which the project is written, does not; fuzzers are not the place to hear of it.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                                             -Wno-error)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# rooflab_quick_compile(<target>): for code that is compiled more often than it runs long. Optimizing as little as a debugger
# likes takes half off its compilation. Where ROOFLAB_QUICK is set, all targets are.
function(rooflab_quick_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# rooflab_precompiled(<target>): for a target with precompiled headers. In those GCC 12 takes the standard library for code of ours, and
# sees strings written out of their bounds that are not: a known false alarm.
function(rooflab_precompiled name)
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endfunction()

# No headers are precompiled under a compiler cache: ccache would have to be told to take such files, and has the objects
# anyway.
if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

function(rooflab_reuse_precompiled name carrier)
  target_precompile_headers(${name} REUSE_FROM ${carrier})
  # What is precompiled fits where macros that it asks for are the same.
  target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  rooflab_precompiled(${name})
endfunction()

# rooflab_precompile(<library>): what nearly all files include, the standard library's headers and fmt's, is read once for
# all libraries of the same optimization, which saves each of their files most of a second. Not for the labs alone
# (rooflab_labs_only.cmake): there are too few.
function(rooflab_precompile name)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS OR ROOFLAB_BUILD)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "rooflab_precompiled_${ROOFLAB_SANITIZE}" carrier)
  if(ROOFLAB_QUICK AND CMAKE_BUILD_TYPE STREQUAL "Release")
    string(APPEND carrier _quick)
  endif()
  if(NOT TARGET ${carrier})
    set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing but what is precompiled.\n")
    add_library(${carrier} STATIC EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${carrier} PRIVATE fmt::fmt)
    target_precompile_headers(${carrier} PRIVATE
      <algorithm> <array> <charconv> <chrono> <cmath> <cstring> <filesystem> <fstream> <functional> <map> <memory> <mutex>
      <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <unordered_map> <variant> <vector>
      <fmt/format.h>)
    rooflab_compile_options(${carrier})
  endif()
  rooflab_reuse_precompiled(${name} ${carrier})
endfunction()

# rooflab_precompile_test(<test>): the same for tests, which are programs and whose code is not that of libraries: GoogleTest's
# headers with the others. It saves each of their files three seconds. For programs with CLI11, it did not pay.
function(rooflab_precompile_test name)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  if(NOT TARGET rooflab_precompiled_test)
    set(main ${PROJECT_BINARY_DIR}/precompiled_test.cpp)
    file(CONFIGURE OUTPUT ${main} CONTENT "int main() { return 0; }\n")
    add_executable(rooflab_precompiled_test EXCLUDE_FROM_ALL ${main})
    target_link_libraries(rooflab_precompiled_test PRIVATE GTest::gmock fmt::fmt)
    target_precompile_headers(rooflab_precompiled_test PRIVATE
      <gmock/gmock.h> <array> <cmath> <cstring> <filesystem> <fstream> <map> <optional> <span> <sstream> <fmt/format.h>)
    set(ROOFLAB_QUICK ON)
    rooflab_compile_options(rooflab_precompiled_test)
  endif()
  rooflab_reuse_precompiled(${name} rooflab_precompiled_test)
endfunction()

# rooflab_sources(<variable> [EXCEPT <file> ...]): the folder's sources that belong into a library; rooflab_test_sources: those of
# its tests.
function(rooflab_sources variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|_testing|_fuzz|_bench|^main|_main)\\.cpp$")
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
function(rooflab_test_sources variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *_test.cpp *_testing.cpp)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# rooflab_library(<name> [QUICK] [SOURCES ... | EXCEPT ...] [LINK ...] [OPTIONS <compile options> ...]): a static library, of the
# folder's sources, but for these, where none are named; includes are rooted at the checkout. QUICK: rooflab_quick_compile.
function(rooflab_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "" "SOURCES;EXCEPT;LINK;OPTIONS")
  if(NOT arg_SOURCES)
    rooflab_sources(arg_SOURCES EXCEPT ${arg_EXCEPT})
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_QUICK)
    set(ROOFLAB_QUICK ON)
  endif()
  rooflab_compile_options(${name})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  if(NOT arg_OPTIONS)
    rooflab_precompile(${name})
  endif()
endfunction()

# rooflab_program(<name> SOURCES ... [LINK ...]): an executable in build/bin. Its own sources read its command line: what takes
# time is in libraries.
function(rooflab_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  set(ROOFLAB_QUICK ON)
  rooflab_compile_options(${name})
endfunction()

# rooflab_test(<name> [SOURCES ... | EXCEPT ...] [LINK ...] [OPTIONS <compile options> ...] [LABELS ...] [TIMEOUT <seconds>] [COST <seconds>]
# [THOROUGH <pattern> ...] [LONG <pattern> ...]):
# a GoogleTest program, of the folder's tests, but for these, where none are named, which ctest runs as one test. Without a TIMEOUT it has 300 s. Those with
# the label `engine` or `threads` are built by the target engine_tests or threads_tests too. What matches a pattern of THOROUGH, as in
# --gtest_filter, takes long, and is run by the test <name>_thoroughly under the label `thorough`. What matches a pattern of LONG
# does the same again and again, and is left out of builds with a sanitizer, to which it shows nothing new. Those with a higher COST begin
# earlier: a long one that began last would run alone.
function(rooflab_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;COST" "SOURCES;EXCEPT;LINK;LABELS;OPTIONS;THOROUGH;LONG")
  if(NOT arg_SOURCES)
    rooflab_test_sources(arg_SOURCES EXCEPT ${arg_EXCEPT})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  set(ROOFLAB_QUICK ON)
  rooflab_compile_options(${name})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  if(NOT arg_OPTIONS)
    rooflab_precompile_test(${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE ROOFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             ROOFLAB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(tests ${name})
  set(left_out ${arg_THOROUGH})
  if(ROOFLAB_SANITIZE)
    list(APPEND left_out ${arg_LONG})
  endif()
  list(JOIN left_out ":" left_out)
  add_test(NAME ${name} COMMAND ${name} --gtest_filter=-${left_out})
  if(arg_THOROUGH)
    list(JOIN arg_THOROUGH ":" thorough)
    add_test(NAME ${name}_thoroughly COMMAND ${name} --gtest_filter=${thorough})
    list(APPEND tests ${name}_thoroughly)
  endif()
  foreach(label engine threads)
    if(label IN_LIST arg_LABELS)
      if(NOT TARGET ${label}_tests)
        add_custom_target(${label}_tests)
      endif()
      add_dependencies(${label}_tests ${name})
    endif()
  endforeach()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(ROOFLAB_COVERAGE)
    # Counting takes several times as long, and a test that is killed has counted nothing.
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 6")
  endif()
  set_tests_properties(${tests} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
  if(arg_THOROUGH)
    set_property(TEST ${name}_thoroughly APPEND PROPERTY LABELS thorough)
  endif()
endfunction()

# rooflab_thorough_build(<fixture> <targets> ...): builds what only tests under the label thorough run, before those that
# require the fixture; it takes too long to be part of every build.
function(rooflab_thorough_build fixture)
  add_test(NAME ${fixture} COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${ARGN})
  set_tests_properties(${fixture} PROPERTIES FIXTURES_SETUP ${fixture} TIMEOUT 1200 LABELS thorough)
endfunction()

# rooflab_gpu_test(<name> COMMAND ... DEPENDS <targets> [TIMEOUT <seconds>] [ENVIRONMENT ...]): the test gpu.<name>, under the label
# gpu: it needs a real GPU, is skipped where there is none, and runs alone, since times are measured. What it measures it
# keeps in $ROOFLAB_GPU_RESULTS, by default gpu_results of the build tree. The toolkit's libraries come first on the loader's
# path. The target gpu_tests is all that these tests run.
add_custom_target(gpu_tests)
function(rooflab_gpu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;DEPENDS;ENVIRONMENT")
  add_dependencies(gpu_tests ${arg_DEPENDS})
  if(NOT Python3_FOUND)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_test(NAME gpu.${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/grader/real_gpu/on_gpu
                                    --cuda ${ROOFLAB_CUDA_ROOT} -- ${arg_COMMAND})
  set_tests_properties(gpu.${name} PROPERTIES LABELS gpu TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77 RUN_SERIAL TRUE
                                              ENVIRONMENT "ROOFLAB_ROOT=${PROJECT_SOURCE_DIR};${arg_ENVIRONMENT}")
endfunction()

# rooflab_fuzz_program(<name> SOURCES ... [LINK ...] [SEEDS <folder> ...] [RUNS <count>] [OPTIONS ...]): a program
# with LLVMFuzzerTestOneInput. With ROOFLAB_FUZZ (the preset `fuzz`, clang) it is libFuzzer's, everything below it is
# instrumented, and it belongs to the target `fuzzers`; else it replays its seeds with changes to them. Either way ctest
# makes RUNS of it with a fixed seed, under the label `fuzz`.
function(rooflab_fuzz_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RUNS" "SOURCES;LINK;SEEDS;OPTIONS")
  set(corpus)
  if(NOT ROOFLAB_FUZZ)
    # Apart from the entry, since it asks whether that defines a function; the same for all, and compiled once.
    set(ROOFLAB_QUICK ON)
    if(NOT TARGET rooflab_fuzz_replay)
      add_library(rooflab_fuzz_replay OBJECT ${PROJECT_SOURCE_DIR}/simgpu/fuzzing/replay_main.cpp)
      set_target_properties(rooflab_fuzz_replay PROPERTIES POSITION_INDEPENDENT_CODE ON)
      rooflab_compile_options(rooflab_fuzz_replay)
    endif()
    list(APPEND arg_SOURCES $<TARGET_OBJECTS:rooflab_fuzz_replay>)
  else()
    set(corpus ${PROJECT_BINARY_DIR}/corpus/${name})
    file(MAKE_DIRECTORY ${corpus})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  rooflab_compile_options(${name})
  target_compile_definitions(${name} PRIVATE ROOFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  if(ROOFLAB_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${name})
  endif()
  if(arg_RUNS)
    add_test(NAME ${name}
             COMMAND ${name} -runs=${arg_RUNS} -seed=1 -timeout=20 -rss_limit_mb=2048 ${arg_OPTIONS} ${corpus} ${arg_SEEDS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS fuzz)
  endif()
endfunction()
