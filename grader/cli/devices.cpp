#include "grader/cli/devices.h"

#include "grader/device/sanitizer/checked_run.h"
#include "grader/spec/course_spec.h"

namespace rooflab {

DeviceOptions device_options(const Installation& installation, const Toolchain& toolchain,
                             bool sandbox) {
  DeviceOptions options;
  options.gpu_specs = installation.gpus();
  options.simgpu_device = installation.build / "bin" / "simgpu-device";
  options.guest_program = installation.build / "bin" / "rooflab-guest";
  options.runtime_libraries = installation.build / "lib" / "simgpu";
  options.cuda_libraries = toolchain.root / "lib64";
  options.sanitizer = sanitizer::find_sanitizer(options.cuda_libraries);
  options.assembler = sandboxed_assembler(installation, toolchain, sandbox);
  options.sandbox = sandbox;
  options.gpus = course_spec_or_none(installation.labs()).gpus;
  return options;
}

}  // namespace rooflab
