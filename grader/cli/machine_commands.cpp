#include "grader/cli/machine_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

/// What the columns of peaks mean.
void explain_peaks(std::ostream& out) {
  out << "    peak rates of memory and of arithmetic by type; below the ridge, in FLOPs for each "
         "byte "
         "of DRAM,\n    memory limits a kernel, above it the arithmetic\n";
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

/// A line of the table of timed cases.
struct TargetRow {
  std::string task, timed;  ///< names
  std::string roofline, limit, full_marks;
};

/// What a timed case takes at the roofline, and for full marks.
TargetRow target_row(const TaskSpec& task, const SpeedSpec& speed, const Oracle& oracle,
                     const gpu_spec::GpuSpec& gpu) {
  TargetRow row{
      .task = task.id, .timed = speed.name, .roofline = {}, .limit = {}, .full_marks = {}};
  try {
    const Roofline roofline = roofline_of(oracle.work(speed.parameters), gpu);
    row.roofline = format_time_us(roofline.time_us);
    row.limit = roofline.bound == "compute" ? "arithmetic" : roofline.bound;
    if (speed.is_for_answer) {
      row.full_marks = "any time";
    } else if (maximum_points(speed) > 0) {
      row.full_marks = format_time_us(roofline.time_us / speed.full_efficiency);
    }
  } catch (const RooflineError& error) {
    row.roofline = error.what();
  }
  return row;
}

/// The rows of a part under their headings.
void show_targets(std::ostream& out, const PartSpec& part, std::vector<TargetRow> rows) {
  if (rows.empty()) return;
  out << fmt::format("\n  Part {}, {}\n", part.number, part.title);
  rows.insert(rows.begin(), {"task", "timed case", "roofline", "limited by", "full marks at"});
  std::size_t task = 0, timed = 0;
  for (const TargetRow& row : rows) {
    task = std::max(task, row.task.size());
    timed = std::max(timed, row.timed.size());
  }
  for (const TargetRow& row : rows) {
    std::string line = fmt::format("    {:<{}}  {:<{}}  {:>9}  {:<10}  {:>13}", row.task, task,
                                   row.timed, timed, row.roofline, row.limit, row.full_marks);
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

void show_timed_tasks(std::ostream& out, const gpu_spec::GpuSpec& gpu,
                      const Installation& installation) {
  out << "\n  Times of the timed cases: the roofline is the shortest time that the peaks allow, "
         "and "
         "what limits\n  it is memory or arithmetic; no points depend on a time without full "
         "marks\n";
  for (const int number : list_parts(installation.labs())) {
    std::vector<TargetRow> rows;
    const PartSpec part =
        with_targets_of(load_part(installation.labs(), installation.solutions(), number), gpu);
    const OracleLibrary oracles(installation, part.directory);
    for (const TaskSpec& task : part.tasks) {
      for (const SpeedSpec& speed : task.speeds) {
        rows.push_back(target_row(task, speed, *oracles.make(task.oracle), gpu));
      }
    }
    show_targets(out, part, std::move(rows));
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
    explain_peaks(out);
    show_timed_tasks(out, gpu, installation);
    show_calibrations(out, gpu, installation);
    return 0;
  }
  for (const std::string& id : gpu_spec::list(installation.gpus())) {
    show_gpu(out, gpu_spec::find(installation.gpus(), id));
  }
  explain_peaks(out);
  return 0;
}

}  // namespace rooflab
