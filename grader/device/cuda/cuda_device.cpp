#include "grader/device/cuda/cuda_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "grader/device/cuda/gpu_lock.h"
#include "grader/device/cuda/opening.h"
#include "grader/device/cuda/placement.h"
#include "grader/device/cuda/timed_calls.h"
#include "grader/device/guest_process.h"
#include "grader/device/sanitizer/checked_run.h"
#include "grader/device/toolkit_libraries.h"
#include "specs/calibration.h"
#include "specs/driver_names.h"

namespace rooflab {
namespace {

GuestNeeds needs_of(const RunRequest& request, const Placement& placement) {
  return {.library = request.library,
          .libraries = request.libraries,
          .time_limit = request.time_limit,
          .memory = placement.descriptor()};
}

/// Loads what the task needs before a student's code does.
/// @throws DeviceError, also where it would make what the driver does not load
void load_libraries(const CudaApi& api, GuestProcess& guest,
                    const std::vector<std::string>& libraries) {
  const bool makes_ptx = std::ranges::find(libraries, "nvrtc") != libraries.end();
  if (makes_ptx && !api.loads_ptx()) {
    throw DeviceError("what this task compiles by NVRTC cannot be loaded: the driver " +
                      api.versions() +
                      "; install a driver that is as new as the CUDA toolkit, or a toolkit that is "
                      "as old, or use --device sim");
  }
  load_in_guest(guest, libraries);
}

RunOutcome run_once(const std::shared_ptr<const CudaApi>& api, const DeviceOptions& options,
                    const RunRequest& request, const OpenedGpu& gpu, const ClockWatch& watch) {
  api->use(gpu.index);
  // It outlives the guest.
  const Placement placement(api, gpu.index, *request.problem, gpu.description.l2_bytes,
                            request.timed);
  RunOutcome measured;
  const GuestSetup setup = gpu_guest_setup(*api, options, gpu, needs_of(request, placement));
  GuestProcess guest(setup);
  const Call call = placement.call(request);
  guest.prepare(call);
  load_libraries(*api, guest, request.libraries);
  std::optional<Reply> reply;
  if (request.timed) {
    GuestProcess bystander(setup);
    reply = TimedCalls(guest, bystander, placement, request, watch).run(measured);
  } else {
    placement.prepare(*request.problem);
    reply = guest.call(call);
    // Before the guest ends, which may take longer than what it left running.
    if (came_back(reply)) measured.outputs = placement.read();
  }
  RunOutcome outcome;
  classify(reply, guest.talked_nonsense(), guest.end(), outcome);
  if (!came_back(reply)) {
    outcome.outputs = placement.read();
    return outcome;
  }
  outcome.outputs = std::move(measured.outputs);
  if (outcome.end == RunOutcome::End::returned) {
    outcome.samples_us = std::move(measured.samples_us);
    outcome.sampling = measured.sampling;
    outcome.drawn_outputs = std::move(measured.drawn_outputs);
    outcome.fresh = std::move(measured.fresh);
  }
  return outcome;
}

/// NVML stands beside the driver; a folder of libraries that is named has its own.
std::string nvml_in(const std::filesystem::path& libraries) {
  constexpr const char* kName = "libnvidia-ml.so.1";
  std::error_code error;
  const auto preferred = libraries / kName;
  return !libraries.empty() && std::filesystem::exists(preferred, error) ? preferred.string()
                                                                         : kName;
}

double gibibytes(double bytes) { return bytes / (1ULL << 30); }

}  // namespace

gpu_spec::GpuSpec matching_spec(const CudaApi::Description& gpu,
                                const std::filesystem::path& specs) {
  std::string others;
  constexpr double kMemoryTolerance = 1.0 / 6;  // drivers keep some of it
  const auto memory = static_cast<double>(gpu.memory_bytes);
  std::optional<gpu_spec::GpuSpec> best;
  double best_distance = kMemoryTolerance;
  for (const std::string& id : gpu_spec::list(specs)) {
    gpu_spec::GpuSpec spec = gpu_spec::find(specs, id);
    const double distance = std::abs(static_cast<double>(spec.dram_bytes) - memory) / memory;
    if (spec.compute_capability_major == gpu.capability_major &&
        spec.compute_capability_minor == gpu.capability_minor && spec.sm_count == gpu.sm_count &&
        distance < best_distance) {
      const std::vector<std::string> names = gpu_spec::driver_names(specs, id);
      if (!names.empty() && std::ranges::find(names, gpu.name) == names.end()) {
        others += fmt::format(", where {}.toml fits but for its name, as it is of {}", id,
                              fmt::join(names, " and "));
        continue;
      }
      best_distance = distance;
      best = std::move(spec);
    }
  }
  if (!best) {
    throw DeviceError(fmt::format(
        "no specification for {} (compute capability {}.{}, {} SMs, {} GiB) in {}{}; add a file "
        "for it there, or use --device sim",
        gpu.name, gpu.capability_major, gpu.capability_minor, gpu.sm_count,
        std::lround(gibibytes(memory)), specs.string(), others));
  }
  return *best;
}

CudaDevice::CudaDevice(int index, const DeviceOptions& options)
    : options_(options), gpu_{.index = index, .description = {}, .nvml = {}} {
  const OpeningSteps steps(options.opening_step);
  int count = 0;
  steps.take("driver", [&] {
    api_ = CudaApi::load(options.cuda_libraries);
    count = api_->device_count();
    return api_->driver_file().string() + " " + api_->versions();
  });
  steps.take("GPU", [&] { return look_at_gpu(count); });
  steps.take("specification", [&] {
    spec_ = matching_spec(gpu_.description, options.gpu_specs);
    return spec_.id + ".toml";
  });
  prove_opening(api_, options_, gpu_, steps);
  look_for_calibration();
}

std::string CudaDevice::look_at_gpu(int count) {
  if (gpu_.index < 0 || gpu_.index >= count) {
    throw DeviceError("there is no " + id() + ": this machine has " + std::to_string(count) +
                      (count == 1 ? " GPU" : " GPUs") +
                      (count > 0 ? "; use --device cuda:0" : "; use --device sim"));
  }
  const CudaApi::Description& found = gpu_.description = api_->describe(gpu_.index);
  api_->require_default_mode(gpu_.index);
  const std::string nvml = nvml_in(options_.cuda_libraries);
  watch_.emplace(nvml.c_str(), found.pci_address);
  gpu_.nvml =
      numbers_by_nvml(nvml, {.gpu = id(), .pci_address = found.pci_address, .uuid = found.uuid});
  return fmt::format("{} at {}, compute capability {}.{}", found.name, found.pci_address,
                     found.capability_major, found.capability_minor);
}

void CudaDevice::look_for_calibration() {
  roofline_gpu_ = spec_;
  const auto file = gpu_spec::calibration_file(options_.gpu_specs, spec_.id, gpu_.description.uuid);
  std::error_code error;
  if (gpu_.description.uuid.empty() || !std::filesystem::exists(file, error)) return;
  std::string objection;
  try {
    const gpu_spec::Calibration calibration = gpu_spec::load_calibration(file);
    objection = calibration.kind != "measured" ? "its times are modelled"
                : calibration.uuid != gpu_.description.uuid
                    ? "it is of " + calibration.uuid + ", not of " + gpu_.description.uuid
                    : gpu_spec::objection_to(calibration, spec_);
    if (objection.empty()) {
      roofline_gpu_ = gpu_spec::with_peaks_of(spec_, calibration);
      peaks_ = "calibrated on this GPU, " + calibration.date;
    }
  } catch (const gpu_spec::SpecError& broken) {
    objection = broken.what();
  }
  if (!objection.empty()) {
    peaks_ = "data sheet (" + file.filename().string() + " is not used: " + objection + ")";
  }
}

RunOutcome CudaDevice::run(const RunRequest& request) {
  try {
    // Untimed runs keep others away too: they would be what disturbs somebody else's timed one.
    const GpuLock alone(gpu_.description.pci_address, options_.gpu_locks, options_.progress);
    return run_once(api_, options_, request, gpu_, *watch_);
  } catch (const std::exception& error) {  // ours or the machine's, never the student's
    RunOutcome outcome;
    outcome.end = RunOutcome::End::device_fault;
    outcome.detail = error.what();
    return outcome;
  }
}

CheckedCall CudaDevice::check(const RunRequest& request) {
  if (checkers_failed_) return {};
  if (std::ranges::find(request.libraries, "cupti") != request.libraries.end()) {
    return {.incomplete = "compute-sanitizer cannot watch a call that profiles itself with CUPTI"};
  }
  CheckedCall checked = check_once(request);
  checkers_failed_ = !checked.unavailable.empty();
  return checked;
}

CheckedCall CudaDevice::check_once(const RunRequest& request) const {
  try {
    const GpuLock alone(gpu_.description.pci_address, options_.gpu_locks, options_.progress);
    api_->use(gpu_.index);
    const Placement placement(api_, gpu_.index, *request.problem, 0, false);
    const auto prepare = [&] {
      placement.prepare(*request.problem);
      Call call = placement.call_on_own_memory(request);
      call.libraries = library_files(request.libraries);
      return call;
    };
    return sanitizer::run_checked(
        {.program = options_.sanitizer,
         .setup = gpu_guest_setup(*api_, options_, gpu_, needs_of(request, placement)),
         .prepare = prepare});
  } catch (const std::exception& error) {
    return {.unavailable = error.what()};
  }
}

}  // namespace rooflab
