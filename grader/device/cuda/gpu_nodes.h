#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/device/system_folders.h"

namespace rooflab {

/// Which GPU, or which part of one, device nodes are looked for.
struct NodeQuestion {
  std::string gpu;          ///< "cuda:0", for messages
  std::string pci_address;  ///< "0000:65:00.0"
  /// "GPU-8c4d1f20-…", or "MIG-…" of a part of a divided GPU (a MIG slice)
  std::string uuid;
  bool for_profilers = false;  ///< with what tools need to see managed memory move
};

/// The device nodes that one GPU's process needs, and no other GPU's.
struct GpuNodes {
  std::vector<std::filesystem::path> paths;
  /// The first that every process with a GPU needs and that is not there; empty: all are.
  std::string missing;
};

/// What NVML knows of a GPU and its parts, where /proc does not say it.
struct NvmlNumbers {
  std::optional<unsigned> minor;
  std::optional<unsigned> gpu_instance;  ///< of a slice
  std::optional<unsigned> compute_instance;
};

/// @param library NVML's, by its path or name; what it cannot say is left out.
NvmlNumbers numbers_by_nvml(const std::string& library, const NodeQuestion& question);

/// nvidiactl, nvidia-uvm, the GPU's own node, and for a slice its two capabilities.
/// @throws DeviceError when it cannot be told which of several nodes is the GPU's: all of them
/// would let a guest use what others work on.
GpuNodes nodes_of(const NodeQuestion& question, const NvmlNumbers& nvml,
                  const SystemFolders& system);

}  // namespace rooflab
