# The simulated GPU's own libraries in place of NVIDIA's, for programs of each major version of CUDA, whichever the build is for
# (docs/design/cuda-versions.md).

# rooflab_cuda_library(<target> NAME cudart [EXPORTS cuda* ...] [PRIVATE simgpu_report_refusal ...]
# [FUNCTIONS public_functions.txt] [NEEDS simgpu_cudart] [LINK ...] [PRECOMPILE] SOURCES ...): lib<NAME>.so.<number> in lib/simgpu
# of the build tree. <target> is the library for the CUDA of the build, which is what -l<NAME> finds, and brings <target>_cuda<major>
# along, that of the other. All are made of the same objects.
#
# Beside the sources it wants a file of all functions of NVIDIA's library: those that no source defines refuse by name
# (simgpu_refuse, which one of the sources defines). What only one major version has lies in cuda<major>/: more sources, more
# functions in a file of the same name, and exported_names.txt: a name that programs call, and what defines it here.
# EXPORTS is what programs see, <NAME>* unless given, PRIVATE what other libraries of ours see, NEEDS such a library.
function(rooflab_cuda_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PRECOMPILE" "NAME;FUNCTIONS;NEEDS" "EXPORTS;PRIVATE;LINK;SOURCES")
  if(NOT arg_FUNCTIONS)
    set(arg_FUNCTIONS public_functions.txt)
  endif()
  if(NOT arg_EXPORTS)
    set(arg_EXPORTS "${arg_NAME}*")
  endif()
  # Programs that nobody instrumented load it, so it cannot be instrumented either.
  set(ROOFLAB_SANITIZE "")
  # Its calls wait for the device's process.
  set(ROOFLAB_QUICK ON)
  # By its own name: the folder's own sources may hold it already.
  set(for_old_glibc ${PROJECT_SOURCE_DIR}/simgpu/runtime/arc4random.cpp)
  list(REMOVE_ITEM arg_SOURCES arc4random.cpp)
  add_library(${target}_objects OBJECT ${arg_SOURCES} ${for_old_glibc})
  rooflab_compile_options(${target}_objects)
  if(arg_PRECOMPILE)
    rooflab_precompile(${target}_objects)
  endif()
  target_include_directories(${target}_objects SYSTEM PRIVATE ${ROOFLAB_CUDA_ROOT}/include)
  # Declared as it is not: no file that knows the true declaration may see it.
  set_source_files_properties(${for_old_glibc} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)

  set(objects ${target}_objects)
  rooflab_soname_number(${arg_NAME} ${ROOFLAB_CUDA_MAJOR} number_of_build)
  rooflab_simulated_library(${target} ${ROOFLAB_CUDA_MAJOR} ${number_of_build})
  set_target_properties(${target} PROPERTIES SOVERSION ${number_of_build} VERSION ${number_of_build})
  foreach(major IN LISTS ROOFLAB_SIMULATED_MAJORS)
    rooflab_soname_number(${arg_NAME} ${major} number)
    if(NOT number EQUAL number_of_build)
      rooflab_simulated_library(${target}_cuda${major} ${major} ${number})
      # Without the link for -l<NAME>, which the build's own has.
      set_target_properties(${target}_cuda${major} PROPERTIES SUFFIX .so.${number} NO_SONAME ON)
      target_link_options(${target}_cuda${major} PRIVATE -Wl,-soname,lib${arg_NAME}.so.${number})
      add_dependencies(${target} ${target}_cuda${major})
    endif()
  endforeach()
endfunction()

# One of these libraries, in the scope of rooflab_cuda_library: its target, the CUDA that it is of, the number in its name.
function(rooflab_simulated_library target major number)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/cuda${major})
  set(of_version ${CMAKE_CURRENT_SOURCE_DIR}/cuda${major})
  file(GLOB more_sources CONFIGURE_DEPENDS ${of_version}/*.cpp)

  # Refusals are weak, so that a definition in one of the sources takes their place.
  string(CONCAT refusals "// Generated from ${arg_FUNCTIONS}.\nextern \"C\" {\nint simgpu_refuse(const char*);\n"
                "extern const int simgpu_cuda_version;\nconst int simgpu_cuda_version = ${ROOFLAB_SIMULATED_CUDA_${major}};\n")
  foreach(names IN ITEMS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FUNCTIONS} ${of_version}/${arg_FUNCTIONS})
    if(EXISTS ${names})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${names})
      file(STRINGS ${names} public_functions)
      foreach(function IN LISTS public_functions)
        string(APPEND refusals "__attribute__((weak)) int ${function}() { return simgpu_refuse(\"${function}\"); }\n")
      endforeach()
    endif()
  endforeach()
  set(refusals_file ${generated}/${arg_NAME}_refusals.cpp)
  file(CONFIGURE OUTPUT ${refusals_file} CONTENT "${refusals}}\n" @ONLY)
  # Declared as they are not, or in other forms than the toolkit's headers have.
  set_source_files_properties(${more_sources} ${refusals_file}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)

  # As NVIDIA's libraries have it: all that programs see has the library's name for a version.
  list(JOIN arg_EXPORTS "; " exported)
  set(exports "lib${arg_NAME}.so.${number} { global: ${exported}; local: *; };\n")
  if(arg_PRIVATE)
    list(JOIN arg_PRIVATE "; " private)
    string(APPEND exports "SIMGPU_PRIVATE { global: ${private}; };\n")
  endif()
  set(exports_file ${generated}/lib${arg_NAME}.map)
  file(CONFIGURE OUTPUT ${exports_file} CONTENT "${exports}" @ONLY)
  set(names_file ${of_version}/exported_names.txt)
  set(names)
  if(EXISTS ${names_file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${names_file})
    file(STRINGS ${names_file} names)
    list(TRANSFORM names REPLACE "^([^ ]+) ([^ ]+)$" "-Wl,--defsym=\\1=\\2")
  endif()

  add_library(${target} SHARED $<TARGET_OBJECTS:${objects}> ${more_sources} ${refusals_file})
  rooflab_compile_options(${target})
  if(arg_NEEDS)
    set(needed ${arg_NEEDS})
    if(NOT major EQUAL ROOFLAB_CUDA_MAJOR)
      string(APPEND needed _cuda${major})
    endif()
    target_link_libraries(${target} PRIVATE ${needed})
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  # A guest program may carry another C++ library; ours stays inside.
  target_link_options(${target} PRIVATE ${names}
    -static-libstdc++ -static-libgcc -Wl,-Bsymbolic -Wl,--no-undefined -Wl,--version-script=${exports_file})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_NAME} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/simgpu
    LINK_DEPENDS ${exports_file})
  set_property(GLOBAL APPEND PROPERTY ROOFLAB_SIMULATED_LIBRARIES ${target})
endfunction()
