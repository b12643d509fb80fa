#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/device/guest_process.h"

namespace rooflab {

/// Lets a guest load what lies in a folder, after the folders that it has already. The folder
/// itself and not a link to it: where `/usr/local/cuda` is a link, the guest's view cannot be
/// mounted there.
void add_library_folder(const std::filesystem::path& folder, GuestSetup& setup);

/// Loads those libraries in a guest that has loaded no student's code yet: what a submission is
/// linked with and the machine lacks would be told as the student's error.
/// @throws DeviceError naming the one that is missing and the remedy.
void load_in_guest(GuestProcess& guest, const std::vector<std::string>& libraries);

/// Their file names, which the loader finds in the toolkit's folder.
std::vector<std::string> library_files(const std::vector<std::string>& libraries);

/// Lets a guest load, and its programs find, what a task's `libraries` name of the CUDA toolkit
/// beside the runtime and cuBLAS, which every device has:
/// - "nvrtc": libnvrtc and its builtins, and for the sources that it compiles the toolkit's
///   headers, in $CUDA_HOME/include
/// - "cupti": libcupti, where the toolkit keeps it apart from its other libraries
///
/// Folders are searched after those that `setup` has already, so that the simulated GPU's own
/// libraries go first.
/// @param lib64 the toolkit's folder of libraries, beside its include/ or, as in Debian, one deeper
/// @throws DeviceError when a library is not there.
void add_toolkit_libraries(const std::vector<std::string>& libraries,
                           const std::filesystem::path& lib64, GuestSetup& setup);

}  // namespace rooflab
