#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/kept_variables.h"
#include "simgpu/device/module.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/variable_content.h"
#include "simgpu/memory/device_memory.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// The modules that a guest has loaded, and which of them messages may name: what a program makes
/// at run time could say anything by its names.
class LoadedModules {
 public:
  LoadedModules(const gpu_spec::GpuSpec& gpu, const DeviceOptions& options, DeviceMemory& memory,
                ActivityLog& log)
      : reader_{gpu, options.assembler, options.most_registers, options.reads_machine_code()},
        options_(options),
        memory_(memory),
        log_(log) {}

  /// @param container untrusted: see load_module()
  /// @param handle of the module, which no other one ever gets
  CudaError load(std::span<const std::byte> container, std::uint64_t* handle,
                 protocol::ImageOrigin origin = protocol::ImageOrigin::program);
  CudaError unload(std::uint64_t handle);
  void unload_all();
  /// nullptr when there is none of this handle.
  LoadedModule* find(std::uint64_t handle);
  /// A kernel, read and ready to be launched, by its index in the module. nullptr when there is
  /// none, or when it means nothing, of which a finding tells.
  LoadedKernel* find_kernel(std::uint64_t handle, std::uint64_t index);
  /// How many of them the guest has loaded as libraries, and has to unload.
  std::size_t libraries() const;

  /// The next bytes of the built library. Modules that lie in it were there before the call.
  /// @throws std::runtime_error when there are too many
  void add_built_code(std::span<const std::byte> bytes);
  /// What variables hold now, and those of modules that are loaded later as they are loaded, they
  /// get back by restore_variables().
  void keep_variables();
  void restore_variables() { kept_variables_.restore(memory_); }
  /// Variables hold this from now on, in modules that are loaded and those that will be.
  void assign(std::vector<VariableContent> contents);
  /// Only modules of the built library are named from now on.
  void name_only_built_code() { names_only_built_code_ = true; }
  /// Of a kernel's mangled name, where its module may have gone.
  std::string shown_name(const std::string& mangled) const;

 private:
  bool is_built(std::span<const std::byte> container) const;
  void write_assigned(const LoadedModule& module);

  const KernelReader reader_;
  const DeviceOptions& options_;
  DeviceMemory& memory_;
  ActivityLog& log_;
  std::map<std::uint64_t, LoadedModule> modules_;
  std::uint64_t next_handle_ = 1;
  std::vector<std::byte> built_code_;  ///< empty: all modules count as built
  bool names_only_built_code_ = false;
  bool keeps_variables_ = false;
  KeptVariables kept_variables_;
  std::vector<VariableContent> assigned_;
};

}  // namespace simgpu
