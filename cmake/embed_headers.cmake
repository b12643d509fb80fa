# Writes a header and all that it includes of this project into a C++ source file, as one text in the order of
# inclusion. cmake -D ROOT=<checkout> -D HEADER=<path in it> -D OUTPUT=<file> -P embed_headers.cmake

cmake_minimum_required(VERSION 3.25)

set(done "")
set(text "")

function(add_header path)
  if(path IN_LIST done)
    return()
  endif()
  list(APPEND done ${path})
  file(READ ${ROOT}/${path} content)
  string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${content}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"([^\"]+)\"" "\\1" included "${include}")
    add_header(${included})
  endforeach()
  string(REGEX REPLACE "#include \"[^\"]+\"\n" "" content "${content}")
  string(REPLACE "#pragma once\n" "" content "${content}")
  set(done "${done}" PARENT_SCOPE)
  set(text "${text}${content}" PARENT_SCOPE)
endfunction()

add_header(${HEADER})
# A string literal of a C++ compiler may be limited to 64 KiB.
string(LENGTH "${text}" length)
set(literals "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 16000 piece)
  string(APPEND literals "      R\"embedded(${piece})embedded\"\n")
  math(EXPR at "${at} + 16000")
endwhile()
file(WRITE ${OUTPUT} "#include \"simgpu/native/native_headers.h\"\n
namespace simgpu::native {\n
const std::string& native_headers() {
  static const std::string headers =
${literals}      ;
  return headers;
}\n
}  // namespace simgpu::native\n")
