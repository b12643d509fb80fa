#include "grader/calibrate/measure_peaks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "grader/calibrate/statistics.h"

namespace rooflab {
namespace {

constexpr std::chrono::seconds kTimeLimit{120};
constexpr std::size_t kMostSamples = 10'000;

template <typename Type>
const Type& result(const Values& results, const std::string& name) {
  const auto found = results.find(name);
  const Type* const value = found == results.end() ? nullptr : std::get_if<Type>(&found->second);
  if (value == nullptr) {
    throw CalibrationError("the calibration's program gave no " + name +
                           "; build it anew: cmake --build --preset default");
  }
  return *value;
}

template <typename Number>
bool take(const char*& at, const char* end, Number& number) {
  const auto [stop, error] = std::from_chars(at, end, number);
  const bool ends_well = error == std::errc{} && stop != end && (*stop == ' ' || *stop == '\n');
  at = ends_well ? stop + 1 : end;
  return ends_well;
}

/// Lines of "time_us sm_mhz reasons".
std::vector<Sample> samples_from(const std::string& text) {
  std::vector<Sample> samples;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    Sample sample;
    const bool good = take(at, end, sample.time_us) && take(at, end, sample.sm_mhz) &&
                      take(at, end, sample.throttled_by);
    if (!good || samples.size() == kMostSamples) {
      throw CalibrationError(
          "the calibration's program gave samples that cannot be read; build it anew: cmake "
          "--build --preset default");
    }
    samples.push_back(sample);
  }
  return samples;
}

bool is_there(const gpu_spec::GpuSpec& gpu, const gpu_spec::Quantity& quantity) {
  const std::string name = quantity.name;
  return !name.ends_with("_tensor") || gpu.peak_flops.contains(name);
}

/// What the guest returns of one quantity. @throws CalibrationError when it returns nothing.
Values run(Device& device, const CalibrationSetup& setup, const std::string& quantity) {
  const gpu_spec::GpuSpec& gpu = device.gpu();
  Problem problem;
  problem.parameters = {{"quantity", quantity},
                        {"simulated", std::int64_t{device.time_kind() == "modelled"}},
                        {"sms", std::int64_t{gpu.sm_count}},
                        {"threads_per_sm", std::int64_t{gpu.max_threads_per_sm}},
                        {"l2_bytes", gpu.l2_bytes},
                        {"dram_bytes", gpu.dram_bytes}};
  RunRequest request;
  request.library = setup.library;
  request.entry = "calibrate";
  request.libraries = {"cublas"};
  request.problem = &problem;
  // One call: it repeats, warms up and times by itself. Nothing of it is a student's.
  request.timed = false;
  request.sampled = true;
  request.time_limit = kTimeLimit;
  if (setup.progress) {
    setup.progress(std::string("measuring ") + gpu_spec::quantity_named(quantity).title);
  }
  RunOutcome outcome = device.run(request);
  if (outcome.end != RunOutcome::End::returned || !outcome.cuda_error.empty()) {
    throw CalibrationError(fmt::format("{} could not be measured ({}); run `grader doctor`",
                                       gpu_spec::quantity_named(quantity).title,
                                       !outcome.cuda_error.empty() ? outcome.cuda_error
                                       : outcome.detail.empty()    ? "it took too long or was ended"
                                                                   : outcome.detail));
  }
  return std::move(outcome.results);
}

std::string with_unit(double value, const std::string& unit) {
  return value > 0 ? fmt::format("{:.4g} {}", value, unit) : "-";
}

}  // namespace

gpu_spec::CalibratedPeak peak_from(const std::string& quantity, const Values& results) {
  const gpu_spec::Quantity& known = gpu_spec::quantity_named(quantity);
  const double work = result<double>(results, "work");
  const TimeStatistics time = statistics_of(samples_from(result<std::string>(results, "samples")));
  if (!std::isfinite(work) || !(work > 0)) {
    throw CalibrationError(fmt::format("{}: a sample did no work", known.title));
  }
  if (time.counted == 0) {
    throw CalibrationError(fmt::format(
        "{}: none of {} samples counts{}; let the GPU cool down and try again", known.title,
        time.dropped, time.dropped > 0 ? ", for it was throttled by heat or a fault" : ""));
  }
  const bool is_time = std::string(known.unit) == "us";
  const auto value = [&](double time_us) {
    return is_time ? time_us / work : work / (time_us * 1e-6) / known.scale;
  };
  return {.quantity = quantity,
          .value = value(time.median_us),
          .spread = std::abs(value(time.first_quartile_us) - value(time.third_quartile_us)) / 2,
          .samples = time.counted,
          .dropped = time.dropped,
          .sm_mhz = time.sm_mhz,
          .how = result<std::string>(results, "how")};
}

gpu_spec::Calibration measure_peaks(Device& device, const CalibrationSetup& setup) {
  const gpu_spec::GpuSpec& gpu = device.gpu();
  gpu_spec::Calibration calibration{.gpu = gpu.id,
                                    .kind = device.time_kind(),
                                    .device = device.name(),
                                    .uuid = device.uuid(),
                                    .driver = {},
                                    .tool = setup.tool,
                                    .date = setup.date,
                                    .watched = false,
                                    .peaks = {}};
  for (const gpu_spec::Quantity& quantity : gpu_spec::quantities()) {
    if (!is_there(gpu, quantity)) continue;
    const Values results = run(device, setup, quantity.name);
    calibration.peaks.push_back(peak_from(quantity.name, results));
    calibration.driver = result<std::string>(results, "driver");
    calibration.watched = result<std::int64_t>(results, "watched") != 0;
  }
  if (const std::string objection = objection_to(calibration, gpu); !objection.empty()) {
    throw CalibrationError(
        fmt::format("this calibration is not kept: {}; see that nothing else uses the GPU, and "
                    "that specs/gpus/{}.toml is of it",
                    objection, gpu.id));
  }
  return calibration;
}

GpuUnderLoad look_under_load(Device& device, const CalibrationSetup& setup) {
  const Values results = run(device, setup, "fp32");
  return {.driver = result<std::string>(results, "driver"),
          .watched = result<std::int64_t>(results, "watched") != 0,
          .sm_mhz = peak_from("fp32", results).sm_mhz};
}

std::string comparison_table(const gpu_spec::Calibration& calibration,
                             const gpu_spec::GpuSpec& gpu) {
  std::string text = fmt::format("  {:<24}{:>15}{:>15}{:>12}{:>9}  {}\n", "", "data sheet",
                                 calibration.kind, "spread", "samples", "of the data sheet");
  for (const gpu_spec::CalibratedPeak& peak : calibration.peaks) {
    const gpu_spec::Quantity& quantity = gpu_spec::quantity_named(peak.quantity);
    const double sheet = data_sheet_value(gpu, peak.quantity);
    text += fmt::format("  {:<24}{:>15}{:>15}{:>12}{:>9}  {:>8}{}\n", quantity.title,
                        with_unit(sheet, quantity.unit), with_unit(peak.value, quantity.unit),
                        fmt::format("+-{:.2f} %", 100 * peak.spread / peak.value), peak.samples,
                        sheet > 0 ? fmt::format("{:.1f} %", 100 * peak.value / sheet) : "-",
                        peak.dropped > 0 ? fmt::format("  ({} throttled)", peak.dropped) : "");
  }
  return text;
}

}  // namespace rooflab
