#include "grader/device/cuda/cuda_device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "grader/device/cuda/gpu_lock.h"
#include "grader/device/cuda/placement.h"
#include "grader/device/cuda/timed_calls.h"
#include "grader/device/guest_process.h"
#include "grader/device/sanitizer/checked_run.h"
#include "grader/device/toolkit_libraries.h"
#include "specs/calibration.h"

namespace rooflab {
namespace {

// The name under which the guest sees GPU `index` of ours, and no other.
std::string visible_name(int index) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) {
    return std::to_string(index);
  }
  std::istringstream names(list);
  std::string name;
  for (int i = 0; i <= index && std::getline(names, name, ','); ++i) {
  }
  return name;
}

/// The guest loads the driver that we did, which may lie where only our own loader's path leads.
void add_driver(const std::filesystem::path& driver, GuestSetup& setup) {
  if (driver.empty()) return;
  add_library_folder(driver.parent_path(), setup);
  std::error_code error;
  const auto itself = std::filesystem::canonical(driver, error);  // its name may be a link
  if (!error) setup.read_only.push_back(itself.parent_path());
}

GuestSetup guest_setup(const CudaApi& api, const DeviceOptions& options, const RunRequest& request,
                       int index, const Placement& placement) {
  GuestSetup setup;
  setup.program = options.guest_program;
  setup.library = request.library;
  if (!options.cuda_libraries.empty()) add_library_folder(options.cuda_libraries, setup);
  add_driver(api.driver_file(), setup);
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/dev", error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("nvidia") && !entry->is_directory(error)) {
      setup.devices.push_back(entry->path());
    }
  }
  setup.environment = {{"CUDA_VISIBLE_DEVICES", visible_name(index)}};
  if (const char* order = std::getenv("CUDA_DEVICE_ORDER"); order != nullptr) {
    setup.environment["CUDA_DEVICE_ORDER"] = order;
  }
  add_toolkit_libraries(request.libraries, options.cuda_libraries, setup);
  setup.time_limit = request.time_limit;
  setup.sandbox = options.sandbox;
  setup.descriptors = {{placement.descriptor(), kMemoryDescriptor}};
  return setup;
}

RunOutcome run_once(const std::shared_ptr<const CudaApi>& api, const DeviceOptions& options,
                    const RunRequest& request, int index, std::size_t l2_bytes,
                    const ClockWatch& watch) {
  api->use(index);
  // It outlives the guest.
  const Placement placement(api, index, *request.problem, l2_bytes, request.timed);
  RunOutcome measured;
  GuestProcess guest(guest_setup(*api, options, request, index, placement));
  const Call call = placement.call(request);
  guest.prepare(call);
  std::optional<Reply> reply;
  if (request.timed) {
    reply = TimedCalls(guest, placement, request, watch).run(measured);
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
      best_distance = distance;
      best = std::move(spec);
    }
  }
  if (!best) {
    throw DeviceError("no specification for " + gpu.name + " (compute capability " +
                      std::to_string(gpu.capability_major) + "." +
                      std::to_string(gpu.capability_minor) + ", " + std::to_string(gpu.sm_count) +
                      " SMs, " + std::to_string(std::lround(gibibytes(memory))) + " GiB) in " +
                      specs.string() + "; add a file for it there, or use --device sim");
  }
  return *best;
}

CudaDevice::CudaDevice(int index, const DeviceOptions& options)
    : index_(index), options_(options), api_(CudaApi::load(options.cuda_libraries)) {
  const int count = api_->device_count();
  if (index < 0 || index >= count) {
    throw DeviceError("there is no cuda:" + std::to_string(index) + ": this machine has " +
                      std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
                      (count > 0 ? "; use --device cuda:0" : "; use --device sim"));
  }
  description_ = api_->describe(index);
  api_->require_sharing(index);
  watch_.emplace(nvml_in(options.cuda_libraries).c_str(), description_.pci_address);
  gpu_ = matching_spec(description_, options.gpu_specs);
  look_for_calibration();
}

void CudaDevice::look_for_calibration() {
  roofline_gpu_ = gpu_;
  const auto file = gpu_spec::calibration_file(options_.gpu_specs, gpu_.id, description_.uuid);
  std::error_code error;
  if (description_.uuid.empty() || !std::filesystem::exists(file, error)) return;
  std::string objection;
  try {
    const gpu_spec::Calibration calibration = gpu_spec::load_calibration(file);
    objection = calibration.kind != "measured" ? "its times are modelled"
                : calibration.uuid != description_.uuid
                    ? "it is of " + calibration.uuid + ", not of " + description_.uuid
                    : gpu_spec::objection_to(calibration, gpu_);
    if (objection.empty()) {
      roofline_gpu_ = gpu_spec::with_peaks_of(gpu_, calibration);
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
    const GpuLock alone(description_.pci_address, options_.gpu_locks, options_.progress);
    return run_once(api_, options_, request, index_, description_.l2_bytes, *watch_);
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
    const GpuLock alone(description_.pci_address, options_.gpu_locks, options_.progress);
    api_->use(index_);
    const Placement placement(api_, index_, *request.problem, 0, false);
    const auto prepare = [&] {
      placement.prepare(*request.problem);
      return placement.call_on_own_memory(request);
    };
    return sanitizer::run_checked(
        {.program = options_.sanitizer,
         .setup = guest_setup(*api_, options_, request, index_, placement),
         .prepare = prepare});
  } catch (const std::exception& error) {
    return {.unavailable = error.what()};
  }
}

}  // namespace rooflab
