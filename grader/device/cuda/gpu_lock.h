#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// Keeps one GPU for this process among all processes of all users of this machine, from its making
/// to its end: a time that is taken while another program uses the GPU is no time. The kernel lets
/// go of it when the process dies, however it does.
///
/// It is an flock on a file that is named by the GPU's PCI address, which every process sees alike,
/// and parts of a divided GPU (MIG) share, as they share its L2 cache and its power.
class GpuLock {
 public:
  /// @param pci_address "0000:65:00.0"
  /// @param folder of the lock files; empty: common_folder()
  /// @param waiting called once with one line, when another process has the GPU
  /// @throws DeviceError when the file cannot be opened, or is none
  GpuLock(const std::string& pci_address, const std::filesystem::path& folder,
          const std::function<void(const std::string&)>& waiting);

  /// /run/lock where everybody may write to it, else /tmp: the same for every user.
  static std::filesystem::path common_folder();

 private:
  Descriptor file_;
};

}  // namespace rooflab
