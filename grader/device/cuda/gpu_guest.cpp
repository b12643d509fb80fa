#include "grader/device/cuda/gpu_guest.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "grader/device/toolkit_libraries.h"

namespace rooflab {
namespace {

bool contains(const std::vector<std::string>& all, const char* one) {
  return std::ranges::find(all, one) != all.end();
}

/// The name under which the guest finds the GPU. A number would be another GPU's where fewer nodes
/// are to be seen than ours.
std::string visible_name(const OpenedGpu& gpu) {
  if (!gpu.description.uuid.empty()) return gpu.description.uuid;
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) {
    return std::to_string(gpu.index);
  }
  std::istringstream names(list);
  std::string name;
  for (int i = 0; i <= gpu.index && std::getline(names, name, ','); ++i) {
  }
  return name;
}

/// The guest loads the driver that we did, which may lie where only our own loader's path leads.
void add_driver(const std::filesystem::path& driver, GuestSetup& setup) {
  if (driver.empty()) return;
  add_library_folder(driver.parent_path(), setup);
  std::error_code error;
  const auto itself = std::filesystem::canonical(driver, error);  // its name may be a link
  if (!error) setup.read_only.push_back(itself.parent_path());
}

}  // namespace

GpuNodes guest_nodes(const OpenedGpu& gpu, const SystemFolders& system, bool for_profilers) {
  return nodes_of({.gpu = "cuda:" + std::to_string(gpu.index),
                   .pci_address = gpu.description.pci_address,
                   .uuid = gpu.description.uuid,
                   .for_profilers = for_profilers},
                  gpu.nvml, system);
}

GuestSetup gpu_guest_setup(const CudaApi& api, const DeviceOptions& options, const OpenedGpu& gpu,
                           const GuestNeeds& needs) {
  GuestSetup setup;
  setup.program = options.guest_program;
  setup.library = needs.library;
  if (!options.cuda_libraries.empty()) add_library_folder(options.cuda_libraries, setup);
  add_driver(api.driver_file(), setup);
  if (options.sandbox) {  // without one it sees what we see
    setup.devices = guest_nodes(gpu, options.system, contains(needs.libraries, "cupti")).paths;
  }
  setup.environment = {{"CUDA_VISIBLE_DEVICES", visible_name(gpu)},
                       {"CUDA_MPS_PIPE_DIRECTORY", kNoMps}};
  if (const char* order = std::getenv("CUDA_DEVICE_ORDER"); order != nullptr) {
    setup.environment["CUDA_DEVICE_ORDER"] = order;
  }
  add_toolkit_libraries(needs.libraries, options.cuda_libraries, setup);
  setup.time_limit = needs.time_limit;
  setup.sandbox = options.sandbox;
  setup.descriptors = {{needs.memory, kMemoryDescriptor}};
  return setup;
}

}  // namespace rooflab
