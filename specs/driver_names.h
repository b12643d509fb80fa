#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gpu_spec {

/// The names that NVIDIA's driver has for GPUs that a specification is of ("NVIDIA H100 PCIe"), its
/// key `driver_names`; empty where it lists none, and any name may be its GPU's. Products of one
/// chip differ in clocks, power and memory, though they have the same multiprocessors.
/// @param id a file of the directory
/// @throws SpecError when the file cannot be read, or the key is no list of names.
std::vector<std::string> driver_names(const std::filesystem::path& directory,
                                      const std::string& id);

}  // namespace gpu_spec
