#include "grader/cli/machine_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "grader/calibrate/measure_peaks.h"
#include "grader/cli/devices.h"
#include "grader/pipeline/oracles.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/timing.h"
#include "grader/report/text.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/part.h"
#include "specs/calibration.h"
#include "specs/gpu_spec.h"

namespace rooflab {
namespace {

void say(std::ostream& out, bool good, const std::string& what, const std::string& text) {
  out << fmt::format("  {:<4} {:<10} {}\n", good ? "ok" : "--", what, text);
}

bool examine_compiler(std::ostream& out, const Installation& installation, Toolchain& toolchain) {
  try {
    toolchain = find_toolchain(installation);
    say(out, true, "nvcc",
        fmt::format("{} of {} (found by {})", toolchain.release(), toolchain.nvcc.string(),
                    toolchain.found_by));
    if (toolchain.ptxas.empty()) {
      say(out, false, "ptxas",
          fmt::format("{}/bin has none, so that registers and occupancy are estimated on simulated "
                      "GPUs; reinstall the CUDA toolkit or run scripts/setup",
                      toolchain.root.string()));
    } else {
      say(out, true, "ptxas", toolchain.ptxas.string());
    }
    return true;
  } catch (const InstallationError& error) {
    say(out, false, "nvcc", error.what());
    return false;
  }
}

/// What would isolate submissions better than this machine does without bubblewrap.
std::string bubblewrap_remedy() {
  if (bubblewrap_program().empty()) return "install bubblewrap";
  return "bubblewrap is installed, but this system or its container lets it make no namespaces: "
         "allow user namespaces";
}

void examine_sandbox(std::ostream& out) {
  const auto active = active_layers();
  std::string text = fmt::format("{}", fmt::join(active, ", "));
  const bool strong = std::ranges::find(active, "bubblewrap") != active.end();
  if (!strong && isolates(active)) {
    text += "; stronger isolation: " + bubblewrap_remedy();
  } else if (!strong) {
    text += "; nothing isolates submissions, and batch refuses to run: " + bubblewrap_remedy();
  }
  say(out, strong, "sandbox", text);
}

/// What the opening of a real GPU proved, step by step, as far as it came. A machine without a
/// driver takes no step, and its one line says so already.
void show_opening(std::ostream& out, const DeviceStatus& device) {
  if (device.steps.empty() || !device.steps.front().good) return;
  for (const OpeningStep& step : device.steps) {
    say(out, step.good, "",
        step.good ? fmt::format("{}  {}: {}", device.id, step.name, step.text)
                  : fmt::format("{}  {}: {}; {}", device.id, step.name, step.text, step.remedy));
  }
}

bool examine_devices(std::ostream& out, const Installation& installation,
                     const Toolchain& toolchain) {
  bool usable = false;
  DeviceOptions options = device_options(installation, toolchain, true);
  tell_of_device("auto", options);  // of a GPU that somebody else's grading has just now
  for (const DeviceStatus& device : list_devices(options)) {
    usable = usable || device.usable;
    const bool unlisted = device.id.starts_with("sim:") &&
                          !objection_to_gpu(device.id.substr(4), options.gpus).empty();
    const char* note = unlisted ? " (this course does not list it; --any-gpu tries it)" : "";
    say(out, device.usable, "device",
        device.usable ? fmt::format("{}  {}{}", device.id, device.name, note)
                      : fmt::format("{}  {}; {}", device.id, device.reason, device.remedy));
    show_opening(out, device);
  }
  return usable;
}

bool examine_parts(std::ostream& out, const Installation& installation) {
  bool good = true;
  for (const int number : list_parts(installation.labs())) {
    try {
      const PartSpec part = load_part(installation.labs(), installation.solutions(), number);
      const OracleLibrary oracles(installation, part.directory);
      say(out, true, "part", fmt::format("{}  {}", number, part.title));
    } catch (const std::exception& error) {
      good = false;
      say(out, false, "part", error.what());
    }
  }
  return good;
}

bool examine_disk(std::ostream& out, const Installation& installation) {
  constexpr double kNeeded = 1e9;
  std::error_code error;
  std::filesystem::create_directories(installation.cache, error);
  const auto space = std::filesystem::space(installation.cache, error);
  if (error || ::access(installation.cache.c_str(), W_OK) != 0) {
    say(out, false, "cache",
        fmt::format("{} cannot be written to; set ROOFLAB_CACHE to a folder that can",
                    installation.cache.string()));
    return false;
  }
  const auto available = static_cast<double>(space.available);
  const bool enough = available >= kNeeded;
  say(out, enough, "cache",
      fmt::format("{}, {} free{}", installation.cache.string(), format_bytes(available),
                  enough ? "" : "; free 1 GB there"));
  return enough;
}

std::string peaks_of(const gpu_spec::GpuSpec& gpu) {
  std::string text;
  for (const auto& [type, peak] : gpu.peak_flops) {
    text += fmt::format("    {:<12} {:>8.1f} TFLOP/s   ridge at {:>6.1f} FLOP/B\n", type,
                        peak / 1e12, gpu.ridge_point(type));
  }
  return text;
}

void show_gpu(std::ostream& out, const gpu_spec::GpuSpec& gpu) {
  out << fmt::format("{}  {}\n    {:<12} {:>8.0f} GB/s\n{}", gpu.id, gpu.name, "DRAM",
                     gpu.dram_bytes_per_second / 1e9, peaks_of(gpu));
}

/// What calibrations found on GPUs of this kind, beside the data sheet.
void show_calibrations(std::ostream& out, const gpu_spec::GpuSpec& gpu,
                       const Installation& installation) {
  for (const auto& file : gpu_spec::calibration_files(installation.gpus(), gpu.id)) {
    try {
      const gpu_spec::Calibration calibration = gpu_spec::load_calibration(file);
      const std::string objection = objection_to(calibration, gpu);
      out << fmt::format("\n  {} on {}, {}{}\n{}", calibration.kind, calibration.device,
                         calibration.date, objection.empty() ? "" : "; not used, for " + objection,
                         comparison_table(calibration, gpu));
    } catch (const gpu_spec::SpecError& error) {
      out << "\n  a calibration that cannot be used: " << error.what() << '\n';
    }
  }
}

/// What a timed case takes at the roofline, and for full marks.
std::string target_words(const SpeedSpec& speed, const Oracle& oracle,
                         const gpu_spec::GpuSpec& gpu) {
  try {
    const Roofline roofline = roofline_of(oracle.work(speed.parameters), gpu);
    std::string words = fmt::format("{:<16} roofline {:>9}, {} bound", speed.name,
                                    format_time_us(roofline.time_us), roofline.bound);
    if (speed.is_for_answer) {
      words += "; points for a right answer, whatever its time";
    } else if (maximum_points(speed) > 0) {
      words += fmt::format("; full marks at {:>9}",
                           format_time_us(roofline.time_us / speed.full_efficiency));
    }
    return words;
  } catch (const RooflineError& error) {
    return error.what();
  }
}

void show_timed_tasks(std::ostream& out, const gpu_spec::GpuSpec& gpu,
                      const Installation& installation) {
  for (const int number : list_parts(installation.labs())) {
    const PartSpec part =
        with_targets_of(load_part(installation.labs(), installation.solutions(), number), gpu);
    const OracleLibrary oracles(installation, part.directory);
    for (const TaskSpec& task : part.tasks) {
      for (const SpeedSpec& speed : task.speeds) {
        out << fmt::format("    part {} {:<16} {}\n", number, task.id,
                           target_words(speed, *oracles.make(task.oracle), gpu));
      }
    }
  }
}

}  // namespace

int examine_machine(std::ostream& out, const Installation& installation) {
  Toolchain toolchain;
  bool good = examine_compiler(out, installation, toolchain);
  examine_sandbox(out);
  good = examine_devices(out, installation, toolchain) && good;
  good = examine_parts(out, installation) && good;
  good = examine_disk(out, installation) && good;
  out << (good ? "ready to grade\n" : "not ready: see the lines marked --\n");
  return good ? 0 : 3;
}

int show_rooflines(std::ostream& out, const Options& options, const Installation& installation) {
  if (!options.gpu.empty()) {
    const auto gpu = gpu_spec::find(installation.gpus(), options.gpu);
    show_gpu(out, gpu);
    show_timed_tasks(out, gpu, installation);
    show_calibrations(out, gpu, installation);
    return 0;
  }
  for (const std::string& id : gpu_spec::list(installation.gpus())) {
    show_gpu(out, gpu_spec::find(installation.gpus(), id));
  }
  return 0;
}

}  // namespace rooflab
