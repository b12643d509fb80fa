#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grader/device/device.h"
#include "grader/device/opening_step.h"
#include "grader/device/system_folders.h"
#include "simgpu/machine_code/assembler.h"

namespace rooflab {

/// Where the programs and data are that devices need, and how to run guests.
struct DeviceOptions {
  std::filesystem::path gpu_specs;      ///< specs/gpus
  std::filesystem::path simgpu_device;  ///< build/bin/simgpu-device
  std::filesystem::path guest_program;  ///< build/bin/rooflab-guest
  std::filesystem::path
      runtime_libraries;  ///< build/lib/simgpu: the simulated libcudart and libcublas
  std::filesystem::path cuda_libraries;  ///< lib64 of the toolkit, for real GPUs and what tasks
                                         ///< load of it; may be empty
  /// Makes machine code of the PTX that simulated GPUs execute, in the sandbox.
  simgpu::machine_code::AssemblerOptions assembler = {};
  std::filesystem::path sanitizer = {};  ///< compute-sanitizer, for real GPUs; may be empty
  std::filesystem::path gpu_locks = {};  ///< folder of GpuLock; empty: all users' common one
  /// The GPUs of the course: "sim" is the first of them. Empty: all of gpu_specs.
  std::vector<std::string> gpus = {};
  bool only_those = false;  ///< others are not simulated
  bool sandbox = true;
  /// What the course's tasks need of CUDA beside the runtime (TaskSpec::libraries): a real GPU on a
  /// machine without it is not opened.
  std::vector<std::string> course_libraries = {};
  SystemFolders system = {};
  /// Told of each step of opening a real GPU; may be empty.
  std::function<void(const OpeningStep&)> opening_step = {};
  unsigned workers = 0;                              ///< threads of a simulated GPU; 0: one per CPU
  std::function<void(const std::string&)> progress;  ///< one line of what goes on; may be empty
};

/// Opens the device that `selector` names:
/// - `auto`: the first GPU that works and has a specification, else `sim`; why others were passed
///   over is told
/// - `cuda` or `cuda:<index>`: a real GPU
/// - `sim` or `sim:<gpu>`: a simulated one, `<gpu>` being a file of `gpu_specs`; without a name the
///   first of the course
/// @throws DeviceError naming the reason and the remedy.
std::unique_ptr<Device> open_device(const std::string& selector, const DeviceOptions& options);

/// Whether the kernel shows a GPU of NVIDIA's, be it one that works or not. Where it does not,
/// nobody wonders that one is simulated.
bool shows_gpu(const SystemFolders& system);

/// Why the course does not grade on a GPU, with the remedy; empty where it lists the GPU.
/// @param id a file of specs/gpus
std::string objection_to_gpu(const std::string& id, const std::vector<std::string>& gpus);

/// One line of `grader doctor`.
struct DeviceStatus {
  std::string id;    ///< "sim:a100", "cuda:0"
  std::string name;  ///< "simulated A100 40 GB PCIe"; empty when unusable
  bool usable = false;
  std::string reason;                   ///< why not
  std::string remedy;                   ///< what to do about it
  std::vector<OpeningStep> steps = {};  ///< of a real GPU: what its opening proved, in order
};

/// Every simulated GPU there is a specification for, and every real one (or one unusable "cuda"
/// line).
std::vector<DeviceStatus> list_devices(const DeviceOptions& options);

}  // namespace rooflab
