# The headers that most files include, parsed once for libraries and once for tests: a third of a first build's time.
# Not with a compiler cache, which keeps whole object files; not for clang, which checks and fuzzes.

if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompile OFF)
else()
  set(precompile ON)
endif()
option(ROOFLAB_PRECOMPILE "Precompile the headers that most files include" ${precompile})

set(ROOFLAB_COMMON_HEADERS <algorithm> <array> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional>
                           <set> <span> <sstream> <stdexcept> <string> <string_view> <utility> <vector>)

# rooflab_precompiled_headers(<target> <headers>): the target's files begin with them. A file or target of another
# instruction set (-march) has to say SKIP_PRECOMPILE_HEADERS or DISABLE_PRECOMPILE_HEADERS: the compiler refuses them.
function(rooflab_precompiled_headers target headers)
  if(ROOFLAB_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

if(ROOFLAB_PRECOMPILE)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/library.cpp CONTENT "")
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/test.cpp CONTENT "int main() {}\n")
  # Position-independent like a library, and like an executable: the compiler tells them apart.
  add_library(rooflab_library_headers STATIC ${PROJECT_BINARY_DIR}/precompiled/library.cpp)
  target_precompile_headers(rooflab_library_headers PRIVATE ${ROOFLAB_COMMON_HEADERS})
  add_executable(rooflab_test_headers ${PROJECT_BINARY_DIR}/precompiled/test.cpp)
  target_link_libraries(rooflab_test_headers PRIVATE GTest::gmock)
  target_precompile_headers(rooflab_test_headers PRIVATE ${ROOFLAB_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  foreach(headers rooflab_library_headers rooflab_test_headers)
    rooflab_compile_options(${headers})
  endforeach()
endif()
