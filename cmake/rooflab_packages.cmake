# The target `packages`: Debian packages in build/packages. They are simgpu, the component of simgpu/package, and rooflab-grader,
# the student kit under lib/rooflab (docs/design/packages.md).

set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Rooflab authors <rooflab@example.org>")

# rooflab_package_documents(<package> <component>): what Debian asks of each package: its licence, and a changelog of its own form.
function(rooflab_package_documents package component)
  set(folder ${PROJECT_BINARY_DIR}/packages/documents/${package})
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(CONFIGURE OUTPUT ${folder}/changelog CONTENT "${package} (${PROJECT_VERSION}-1) unstable; urgency=medium

  * What has changed stands in CHANGELOG.md of the project.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")
  file(ARCHIVE_CREATE OUTPUT ${folder}/changelog.Debian.gz PATHS ${folder}/changelog FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  install(FILES ${folder}/changelog.Debian.gz DESTINATION share/doc/${package} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/${package} RENAME copyright COMPONENT ${component})
endfunction()

# Only a checkout with the masters makes kits.
set(CPACK_COMPONENTS_ALL simgpu)
if(EXISTS ${PROJECT_SOURCE_DIR}/solutions)
  list(APPEND CPACK_COMPONENTS_ALL grader)
  configure_file(cmake/install_kit.cmake.in ${PROJECT_BINARY_DIR}/cmake/install_kit.cmake @ONLY)
  install(SCRIPT ${PROJECT_BINARY_DIR}/cmake/install_kit.cmake COMPONENT grader)
  rooflab_package_documents(rooflab-grader grader)
endif()
rooflab_package_documents(simgpu simgpu)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_SIMGPU_PACKAGE_NAME simgpu)
set(CPACK_DEBIAN_SIMGPU_DESCRIPTION "simulated GPU that runs CUDA programs
simgpu executes the PTX of CUDA programs without a GPU, finds races and
accesses out of bounds with their source lines, counts memory traffic, and
predicts times.")
# For libsimgpu alone: nobody else shall take the libraries in lib/simgpu for CUDA's.
set(control ${PROJECT_BINARY_DIR}/packages/control)
file(CONFIGURE OUTPUT ${control}/triggers CONTENT "activate-noawait ldconfig\n")
file(CONFIGURE OUTPUT ${control}/shlibs
     CONTENT "libsimgpu ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} simgpu (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_SIMGPU_PACKAGE_CONTROL_EXTRA ${control}/triggers ${control}/shlibs)
set(CPACK_DEBIAN_GRADER_PACKAGE_NAME rooflab-grader)
set(CPACK_DEBIAN_GRADER_DESCRIPTION "grader of the Rooflab labs on efficient AI in C++ and CUDA
Students fill in kernels and run grader as often as they like, on a GPU or on
the simulated one that comes with it. It checks, times and explains.")
set(CPACK_DEBIAN_GRADER_PACKAGE_DEPENDS g++)
set(CPACK_DEBIAN_GRADER_PACKAGE_RECOMMENDS "bubblewrap, python3-pip")

include(CPack)
add_custom_target(packages COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake USES_TERMINAL VERBATIM)
add_dependencies(packages simgpu_program simgpu_library)
if(TARGET grader)
  add_dependencies(packages grader)
endif()

if(Python3_FOUND)
  add_test(NAME debian_packages COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_packages ${PROJECT_BINARY_DIR})
  set_tests_properties(debian_packages PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 LABELS "grading;thorough")
endif()
