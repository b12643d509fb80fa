# rooflab_lab_part(): what a part's folder is built into, found by directory:
#   oracle/*.cpp           -> lib/labs/<part>.so, which the grader loads
#   guest/<entry>.cpp|.cu  -> lib/labs/<part>/<entry>.o, which is linked to a submission's file
#   oracle/*_test.cpp      -> the test <part>_oracle_test
#   tested/<task>.cu       -> lib/labs/<part>/tested/<task>.so, what students' tests are run against
#   tested/hidden/<task>.cu  the same of what a student's copy does not have
# The target <part> is all of them but the test, and the grader.
# Oracles are linked with what they share, labs/oracle_support.
function(rooflab_lab_part)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME part)
  set(folder ${PROJECT_BINARY_DIR}/lib/labs)
  set(exports ${PROJECT_SOURCE_DIR}/labs/oracle_support/oracle_library.map)

  file(GLOB oracle_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/oracle/*.cpp)
  set(oracle_tests ${oracle_sources})
  list(FILTER oracle_tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER oracle_sources EXCLUDE REGEX "_test\\.cpp$")
  if(oracle_sources)
    add_library(${part}_oracle SHARED ${oracle_sources})
    target_link_libraries(${part}_oracle PUBLIC rooflab_oracle_support PkgConfig::openblas)
    rooflab_compile_options(${part}_oracle)
    rooflab_precompile(${part}_oracle)
    set_target_properties(${part}_oracle PROPERTIES
      PREFIX "" OUTPUT_NAME ${part} LIBRARY_OUTPUT_DIRECTORY ${folder})
    # Students have this library: names of functions would tell how a reference is computed.
    target_link_options(${part}_oracle PRIVATE -Wl,--version-script=${exports})
    set_target_properties(${part}_oracle PROPERTIES LINK_DEPENDS ${exports})
  endif()
  if(oracle_tests)
    # With the very objects that the grader loads, which are compiled once.
    rooflab_test(${part}_oracle_test SOURCES ${oracle_tests} $<TARGET_OBJECTS:${part}_oracle>
                 LINK rooflab_oracle_support rooflab_spec PkgConfig::openblas)
  endif()

  file(GLOB adapters CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/guest/*.cpp
                                       ${CMAKE_CURRENT_SOURCE_DIR}/guest/*.cu)
  set(objects)
  foreach(adapter ${adapters})
    cmake_path(GET adapter STEM entry)
    rooflab_guest_object(${adapter} ${folder}/${part}/${entry}.o)
    list(APPEND objects ${folder}/${part}/${entry}.o)
  endforeach()
  file(GLOB implementations RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
       ${CMAKE_CURRENT_SOURCE_DIR}/tested/*.cu ${CMAKE_CURRENT_SOURCE_DIR}/tested/hidden/*.cu)
  foreach(source ${implementations})
    string(REGEX REPLACE "\\.cu$" "" inside ${source})
    rooflab_tested_library(${CMAKE_CURRENT_SOURCE_DIR}/${source} ${folder}/${part}/${inside})
    list(APPEND objects ${folder}/${part}/${inside}.so)
  endforeach()
  # What an author builds after a change of the part, by its name.
  add_custom_target(${part} ALL DEPENDS ${objects})
  if(oracle_sources)
    add_dependencies(${part} ${part}_oracle)
  endif()

  # The grader loads these as it runs, and builds a part that is asked for where it is missing.
  if(TARGET grader)
    add_dependencies(${part} grader)
  endif()
  if(TARGET course)
    add_dependencies(course ${part})
  endif()
endfunction()

# rooflab_tested_library(<source> <library without .so>): implementations of one task, each an entry of a library that the
# guest loads as it does a submission. Its device code is compressed: a student's copy has it, and it shows mistakes.
function(rooflab_tested_library source library)
  rooflab_guest_object(${source} ${library}.o COMPRESSED)
  set(toolkit ${PROJECT_BINARY_DIR}/lib/labs/toolkit.a)
  add_custom_command(OUTPUT ${library}.so
    COMMAND ${ROOFLAB_NVCC} -shared -cudart none -Xcompiler -fPIC ${library}.o ${toolkit} -o ${library}.so
            -L${PROJECT_BINARY_DIR}/lib/simgpu -lcudart
    DEPENDS ${library}.o toolkit_archive simgpu_cudart VERBATIM COMMENT "Linking ${library}.so")
endfunction()

# rooflab_guest_object(<source> <object> [ARCHITECTURE 80] [INTERFACE <folder>]): one file that is linked to a
# submission's: host code by the host compiler, device code (.cu) by nvcc for every GPU from ARCHITECTURE on, 75 unless
# given, and machine code for ROOFLAB_GPU_ARCHITECTURES. Headers are those of INTERFACE, interface/ of this folder unless given.
# FOR_TESTS: machine code only with ROOFLAB_TESTS_FOR_GPUS. COMPRESSED: device code that nobody is to read; it may have
# nothing that is internal to the file.
function(rooflab_guest_object source object)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FOR_TESTS;COMPRESSED" "ARCHITECTURE;INTERFACE" "")
  if(NOT arg_ARCHITECTURE)
    set(arg_ARCHITECTURE 75)
  endif()
  if(NOT arg_INTERFACE)
    set(arg_INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/interface)
  endif()
  cmake_path(GET object PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  set(flags -std=c++20 -O2 -I ${arg_INTERFACE} -I ${PROJECT_SOURCE_DIR}/labs
            -I ${PROJECT_SOURCE_DIR} -MD -MF ${object}.d -c ${source} -o ${object})
  # Students read these paths in messages: they start at the checkout, also where a compiler cache makes them relative.
  file(RELATIVE_PATH up ${CMAKE_CURRENT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set(paths -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${up}/=)
  set(mend)
  cmake_path(GET source EXTENSION kind)
  if(kind STREQUAL ".cu")
    # nvcc hands these on through a shell, and the checkout may lie in a folder with a space in its name.
    list(TRANSFORM paths REPLACE "(.+)" "\"\\1\"")
    list(JOIN paths "," paths)
    if(arg_FOR_TESTS AND NOT ROOFLAB_TESTS_FOR_GPUS)
      set(code -gencode arch=compute_${arg_ARCHITECTURE},code=compute_${arg_ARCHITECTURE})
    else()
      rooflab_native_code(${arg_ARCHITECTURE} code PTX)
    endif()
    set(command ${ROOFLAB_NVCC_COMMAND} -Xcompiler -fPIC,-Wall,${paths} -cudart shared
        ${code})
    # The same object in every folder: nvcc names what is internal by its process, which a seed replaces, and by a hash of
    # the file's whole path, which nothing turns off.
    # nvcc of CUDA 12 takes no seed: what it makes differs from build to build.
    if(ROOFLAB_CUDA_MAJOR GREATER_EQUAL 13)
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
      list(APPEND command -frandom-seed=${name})
    endif()
    if(NOT arg_COMPRESSED)
      list(APPEND command -no-compress)
    endif()
    set(mend COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C
        sed -i -E "s/_GLOBAL__N__[0-9a-f]{8}_/_GLOBAL__N__00000000_/g" ${object})
  else()
    # A library of headers: found in /usr/include, it may not come before the compiler's own.
    set(json $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
    set(signs)
    if(ROOFLAB_ARM64)
      set(signs -fsigned-char)  # as rooflab_compile_options()
    endif()
    set(command ${CMAKE_CXX_COMPILER} -fPIC -Wall -Wextra -Werror ${signs} ${paths}
        ${ROOFLAB_CUDA_INCLUDE_FLAGS}
        "-idirafter$<JOIN:${json},$<SEMICOLON>-idirafter>")
  endif()
  add_custom_command(OUTPUT ${object} COMMAND ${command} ${flags} ${mend} DEPENDS ${source}
                     DEPFILE ${object}.d VERBATIM COMMAND_EXPAND_LISTS
                     COMMENT "Compiling ${object}")
endfunction()

# rooflab_toolkit(): labs/toolkit/**/*.cpp|*.cu -> lib/labs/toolkit.a, which every submission is
# linked with. They need nothing but the standard library, CUDA and headers: no other library is on
# that line. *_test.cpp in the folder itself are the test toolkit_test, but *_gpu_test.cpp, there and
# one folder below, with kernels from testing/*.cu, are toolkit_gpu_test, which runs on the simulated
# GPU with its checkers on.
function(rooflab_toolkit)
  set(source_folder ${CMAKE_CURRENT_SOURCE_DIR})
  set(folder ${PROJECT_BINARY_DIR}/lib/labs)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${source_folder}/*.cpp ${source_folder}/*.cu)
  file(GLOB tests CONFIGURE_DEPENDS ${source_folder}/*_test.cpp ${source_folder}/*/*_gpu_test.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$|/toolkit/testing/")
  set(gpu_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_gpu_test\\.cpp$")
  list(FILTER gpu_tests INCLUDE REGEX "_gpu_test\\.cpp$")
  set(objects)
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${source_folder} OUTPUT_VARIABLE inside)
    string(REPLACE "/" "." inside ${inside})
    rooflab_guest_object(${source} ${folder}/toolkit/${inside}.o)
    list(APPEND objects ${folder}/toolkit/${inside}.o)
  endforeach()
  set(archive ${folder}/toolkit.a)
  file(MAKE_DIRECTORY ${folder})
  # Written anew each time: `ar` would keep the objects of files that are gone.
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} rcsD ${archive} ${objects}
    DEPENDS ${objects} VERBATIM COMMENT "Archiving the toolkit")
  add_custom_target(toolkit_archive ALL DEPENDS ${archive})
  if(TARGET grader)
    add_dependencies(grader toolkit_archive)
  endif()

  if(tests)
    rooflab_test(toolkit_test SOURCES ${tests} LINK ${archive})
    add_dependencies(toolkit_test toolkit_archive)
    target_include_directories(toolkit_test SYSTEM PRIVATE ${ROOFLAB_CUDA_ROOT}/include)
    target_include_directories(toolkit_test PRIVATE ${PROJECT_SOURCE_DIR}/labs)  # as for students
  endif()
  if(gpu_tests)
    rooflab_toolkit_gpu_test(${archive} "${gpu_tests}")
  endif()
endfunction()

# The toolkit on the simulated GPU. The test's own kernels are compiled as the toolkit's are.
function(rooflab_toolkit_gpu_test archive sources)
  set(folder ${PROJECT_BINARY_DIR}/lib/labs/toolkit_testing)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/testing/*.cu)
  foreach(kernel ${kernels})
    cmake_path(GET kernel STEM name)
    rooflab_guest_object(${kernel} ${folder}/${name}.o FOR_TESTS)
    list(APPEND sources ${folder}/${name}.o)
  endforeach()
  add_executable(toolkit_gpu_test ${sources})
  # Each file stands for one of a student's, which includes what it needs itself.
  set_target_properties(toolkit_gpu_test PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(toolkit_gpu_test PRIVATE
    ${archive} simgpu_cublas simgpu_cudart nlohmann_json::nlohmann_json GTest::gmock
    GTest::gtest_main)
  add_dependencies(toolkit_gpu_test toolkit_archive simgpu_program)
  rooflab_compile_options(toolkit_gpu_test)
  rooflab_quick_compile(toolkit_gpu_test)
  target_include_directories(toolkit_gpu_test SYSTEM PRIVATE ${ROOFLAB_CUDA_ROOT}/include)
  target_include_directories(toolkit_gpu_test PRIVATE ${PROJECT_SOURCE_DIR}/labs)  # as for students
  target_compile_definitions(toolkit_gpu_test PRIVATE ROOFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(toolkit_gpu_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME toolkit_gpu_test COMMAND simgpu_program run -- $<TARGET_FILE:toolkit_gpu_test>)
  set_tests_properties(toolkit_gpu_test PROPERTIES TIMEOUT 300)
  # The same program on a real GPU, with NVIDIA's runtime, cuBLAS and CUPTI: the loader's path goes before its own.
  target_link_options(toolkit_gpu_test PRIVATE -Wl,--enable-new-dtags)
  rooflab_gpu_test(toolkit DEPENDS toolkit_gpu_test COMMAND $<TARGET_FILE:toolkit_gpu_test>)
endfunction()
