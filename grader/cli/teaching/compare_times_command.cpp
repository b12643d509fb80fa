#include "grader/cli/teaching/compare_times_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "grader/author/compare_times/comparison.h"
#include "grader/author/compare_times/time_kernels.h"
#include "grader/calibrate/measure_peaks.h"
#include "grader/cli/devices.h"
#include "grader/cli/progress_line.h"
#include "grader/pipeline/grade.h"
#include "grader/pipeline/toolchain.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using compare_times::Comparison;
using compare_times::MeasuredTimes;
using compare_times::Times;

constexpr int kNothingTimed = 1;

/// The parts that were asked for, or all; those of `only` where it is not empty.
std::vector<PartSpec> parts_of(const CompareTimesOptions& options, const Installation& installation,
                               const std::vector<std::string>& only = {}) {
  std::vector<PartSpec> parts;
  const std::vector<int> known = list_parts(installation.labs());
  for (const int number : options.parts.empty() ? known : options.parts) {
    PartSpec part = load_part(installation.labs(), installation.solutions(), number);
    const bool wanted = only.empty() || std::ranges::find(only, part.directory) != only.end();
    if (wanted) parts.push_back(std::move(part));
  }
  return parts;
}

/// A device for as long as it is looked at: a grading of another process waits while it is open.
class OpenedDevice {
 public:
  OpenedDevice(const CompareTimesOptions& options, const Installation& installation,
               ProgressLine& progress)
      : setup_{.library = installation.calibration_library(),
               .tool = ROOFLAB_VERSION,
               .date = utc_date(),
               .progress = [&progress](const std::string& text) { progress.show(text); }} {
    DeviceOptions device = device_options(installation, find_toolchain(installation), true);
    device.progress = setup_.progress;
    device_ = open_device(options.device, device);
  }

  const Device& device() const { return *device_; }
  GpuUnderLoad look() { return look_under_load(*device_, setup_); }

 private:
  CalibrationSetup setup_;
  std::unique_ptr<Device> device_;
};

/// Everything of a file but the times and the last clock.
MeasuredTimes describe(OpenedDevice& opened) {
  const GpuUnderLoad load = opened.look();
  return {.gpu = opened.device().gpu().id,
          .kind = opened.device().time_kind(),
          .device = opened.device().name(),
          .driver = load.driver.empty() ? "unknown" : load.driver,
          .tool = ROOFLAB_VERSION,
          .date = utc_date(),
          .clocks_watched = load.watched,
          .sm_mhz_before = load.sm_mhz};
}

unsigned simulated_jobs(const CompareTimesOptions& options) {
  return options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

void tell(std::ostream& out, const MeasuredTimes& measured, const std::filesystem::path& file) {
  std::size_t cases = 0;
  for (const auto& kernel : measured.times.kernels) cases += kernel.cases.size();
  for (const auto& left_out : measured.times.left_out) {
    out << fmt::format("left out: {}: {}\n", left_out.name, left_out.why);
  }
  out << fmt::format("{} holds {} {} times of {} kernels on {}\n", file.string(), cases,
                     measured.kind, measured.times.kernels.size(), measured.device);
}

/// @throws UsageError when modelled times were to lie among measured ones.
void check_place(const Device& device, const CompareTimesOptions& options) {
  if (device.time_kind() == "measured" || !options.out.empty()) return;
  throw UsageError(fmt::format(
      "{} is simulated, and its times are not measured; to rehearse, name a file with --out",
      device.id()));
}

int measure(std::ostream& out, const CompareTimesOptions& options,
            const Installation& installation) {
  ProgressLine progress;
  MeasuredTimes measured;
  std::string uuid;
  std::string device;
  {
    OpenedDevice opened(options, installation, progress);
    check_place(opened.device(), options);
    measured = describe(opened);
    uuid = opened.device().uuid();
    device = opened.device().id();
  }
  measured.times = compare_times::time_kernels(
      {.installation = installation,
       .parts = parts_of(options, installation),
       .gpu = measured.gpu,
       .device = device,
       .jobs = measured.kind == "measured" ? 1 : simulated_jobs(options),
       .progress = [&](const std::string& text) { progress.show(text); }});
  measured.sm_mhz_after = OpenedDevice(options, installation, progress).look().sm_mhz;
  progress.clear();
  const std::filesystem::path file =
      options.out.empty() ? compare_times::measured_file(installation.root, measured, uuid)
                          : std::filesystem::path(options.out);
  write_file_atomically(file, to_toml(measured));
  tell(out, measured, file);
  return measured.times.kernels.empty() ? kNothingTimed : 0;
}

/// Those of the parts that were asked for.
MeasuredTimes load(const std::filesystem::path& file, const std::vector<PartSpec>& parts) {
  MeasuredTimes measured = compare_times::load_measured_times(file);
  const auto is_other = [&](const auto& kernel) {
    const std::string part = compare_times::part_of(kernel.name);
    return std::ranges::find(parts, part, &PartSpec::directory) == parts.end();
  };
  std::erase_if(measured.times.kernels, is_other);
  std::erase_if(measured.times.left_out, is_other);
  return measured;
}

std::vector<std::filesystem::path> files_of(const CompareTimesOptions& options,
                                            const Installation& installation) {
  if (!options.files.empty()) return {options.files.begin(), options.files.end()};
  const auto files = compare_times::measured_files(installation.root);
  if (files.empty()) {
    throw UsageError(
        "nothing has been measured: specs/measured has no files; where there is a GPU, run grader "
        "compare-times --measure and commit the file");
  }
  return files;
}

std::vector<std::string> parts_in(const MeasuredTimes& measured) {
  std::vector<std::string> parts;
  for (const auto& kernel : measured.times.kernels) {
    parts.push_back(compare_times::part_of(kernel.name));
  }
  return parts;
}

Comparison compare_file(const std::filesystem::path& file, const CompareTimesOptions& options,
                        const Installation& installation) {
  MeasuredTimes measured = load(file, parts_of(options, installation));
  if (measured.times.kernels.empty()) {
    throw UsageError(
        fmt::format("{} has no times of the parts that were asked for", file.string()));
  }
  ProgressLine progress;
  const Times modelled = compare_times::time_kernels(
      {.installation = installation,
       .parts = parts_of(options, installation, parts_in(measured)),
       .gpu = measured.gpu,
       .device = "sim:" + measured.gpu,
       .jobs = simulated_jobs(options),
       .progress = [&](const std::string& text) { progress.show(text); }});
  return compare_times::compare(std::move(measured), modelled);
}

}  // namespace

int compare_times_with_model(std::ostream& out, const CompareTimesOptions& options,
                             const Installation& installation) {
  if (options.measure) return measure(out, options, installation);
  std::vector<Comparison> comparisons;
  // With the document on stdout, people read the comparison on stderr.
  std::ostream& people = options.json == "-" ? std::cerr : out;
  for (const auto& file : files_of(options, installation)) {
    comparisons.push_back(compare_file(file, options, installation));
    people << compare_times::comparison_text(comparisons.back()) << std::flush;
  }
  if (options.json == "-") {
    out << to_json(comparisons) << std::flush;
  } else if (!options.json.empty()) {
    write_file_atomically(options.json, to_json(comparisons));
  }
  return 0;
}

}  // namespace rooflab
