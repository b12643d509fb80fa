#include "grader/cli/teaching/calibrate_command.h"

#include <fmt/format.h>

#include <string>

#include "grader/calibrate/measure_peaks.h"
#include "grader/cli/devices.h"
#include "grader/cli/progress_line.h"
#include "grader/pipeline/toolchain.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"
#include "specs/calibration.h"

namespace rooflab {
namespace {

std::unique_ptr<Device> open(const CalibrateOptions& options, const Installation& installation,
                             ProgressLine& progress) {
  DeviceOptions device = device_options(installation, find_toolchain(installation), true);
  device.progress = [&progress](const std::string& text) { progress.show(text); };
  return open_device(options.device, device);
}

std::string clocks_words(const gpu_spec::Calibration& calibration) {
  if (calibration.kind == "modelled") return "a simulated GPU is not throttled";
  return calibration.watched ? "clocks were watched"
                             : "clocks were not watched: NVML (libnvidia-ml.so.1) is not there";
}

/// Where rooflines look for it, unless another place is asked for.
std::filesystem::path file_of(const CalibrateOptions& options, const Installation& installation,
                              const gpu_spec::Calibration& calibration) {
  if (!options.out.empty()) return options.out;
  return gpu_spec::calibration_file(installation.gpus(), calibration.gpu, calibration.uuid);
}

std::string use_words(const gpu_spec::Calibration& calibration, const CalibrateOptions& options) {
  if (calibration.kind == "modelled") {
    return "nothing is graded by it: a simulated GPU is made of its data sheet";
  }
  if (calibration.uuid.empty()) {
    return "nothing is graded by it: the driver does not tell which GPU this is";
  }
  if (!options.out.empty()) return "gradings find it without --out";
  return "gradings on this GPU go by it from now on";
}

}  // namespace

int calibrate_gpu(std::ostream& out, const CalibrateOptions& options,
                  const Installation& installation) {
  gpu_spec::Calibration calibration;
  gpu_spec::GpuSpec gpu;
  {
    ProgressLine progress;
    const std::unique_ptr<Device> device = open(options, installation, progress);
    gpu = device->gpu();
    calibration =
        measure_peaks(*device, {.library = installation.calibration_library(),
                                .tool = ROOFLAB_VERSION,
                                .date = utc_date(),
                                .progress = [&](const std::string& text) { progress.show(text); }});
  }
  out << fmt::format("Peaks of {} · {} · {}\n\n{}\n", calibration.device, calibration.kind,
                     clocks_words(calibration), comparison_table(calibration, gpu));
  const std::filesystem::path file = file_of(options, installation, calibration);
  write_file_atomically(file, to_toml(calibration, gpu));
  out << fmt::format("{} holds them; {}\n", file.string(), use_words(calibration, options));
  return 0;
}

}  // namespace rooflab
