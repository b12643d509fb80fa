#include "grader/cli/devices.h"

#include <set>

#include "grader/cli/progress_line.h"
#include "grader/device/sanitizer/checked_run.h"
#include "grader/spec/course_spec.h"
#include "grader/spec/part.h"

namespace rooflab {
namespace {

/// What tasks name as their `libraries`, once each; nothing of a course that cannot be read: who
/// grades it hears of that.
std::vector<std::string> libraries_of_course(const Installation& installation) {
  std::set<std::string> all;
  try {
    for (const PartSpec& part : load_parts(installation.labs(), installation.solutions())) {
      for (const TaskSpec& task : part.tasks) {
        all.insert(task.libraries.begin(), task.libraries.end());
      }
    }
  } catch (const SpecError&) {
    return {};
  }
  return {all.begin(), all.end()};
}

}  // namespace

DeviceOptions device_options(const Installation& installation, const Toolchain& toolchain,
                             bool sandbox) {
  DeviceOptions options;
  options.gpu_specs = installation.gpus();
  options.simgpu_device = installation.build / "bin" / "simgpu-device";
  options.guest_program = installation.build / "bin" / "rooflab-guest";
  options.runtime_libraries = installation.build / "lib" / "simgpu";
  options.cuda_libraries = toolchain.libraries();
  options.sanitizer = sanitizer::find_sanitizer(options.cuda_libraries);
  options.assembler = sandboxed_assembler(installation, toolchain, sandbox);
  options.sandbox = sandbox;
  options.course_libraries = libraries_of_course(installation);
  options.gpus = course_spec_or_none(installation.labs()).gpus;
  return options;
}

void tell_of_device(const std::string& selector, DeviceOptions& options) {
  if (selector != "auto" && !shows_gpu(options.system)) return;
  options.progress = [](const std::string& line) { ProgressLine::keep("grader: " + line); };
}

}  // namespace rooflab
