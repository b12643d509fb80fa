#include "grader/device/cuda/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "grader/contract/elements.h"
#include "grader/device/cuda/gpu_lock.h"
#include "grader/device/cuda/measurement.h"
#include "grader/device/guest_process.h"
#include "grader/device/toolkit_libraries.h"
#include "specs/calibration.h"

namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;

// Allocations of whole pages of the GPU: small ones would share a page, and an IPC handle opens all
// of it.
constexpr std::size_t kPageBytes = 2U << 20;
constexpr int kIdleCalls = 20;
constexpr int kWarmUpCalls = 2;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// Memory of the GPU.
class DeviceBuffer {
 public:
  DeviceBuffer(std::shared_ptr<const CudaApi> api, std::size_t bytes)
      : api_(std::move(api)),
        address_(api_->allocate((std::max<std::size_t>(bytes, 1) + kPageBytes - 1) / kPageBytes *
                                kPageBytes)),
        bytes_(bytes) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : api_(std::move(other.api_)),
        address_(std::exchange(other.address_, nullptr)),
        bytes_(other.bytes_) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer() {
    if (address_ != nullptr) {
      api_->release(address_);
    }
  }
  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<const CudaApi> api_;
  void* address_;
  std::size_t bytes_;
};

/// The tensors of one problem on the GPU, and the buffer that drives them out of its L2 cache.
class Placement {
 public:
  Placement(const std::shared_ptr<const CudaApi>& api, const Problem& problem, std::size_t l2_bytes)
      : api_(api), problem_(problem), flush_(api, 2 * l2_bytes) {
    for (const Tensor& tensor : problem.tensors) {
      buffers_.emplace_back(api, tensor.bytes());
    }
  }

  /// Writes what a call may read, poisons what it has to write, and leaves the caches cold.
  void prepare() const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const Tensor& tensor = problem_.tensors[i];
      const DeviceBuffer& buffer = buffers_[i];
      if (buffer.bytes() == 0) {
        continue;
      }
      if (tensor.role == Role::output) {
        api_->fill(buffer.address(), std::to_integer<int>(kPoisonByte), buffer.bytes());
      } else {
        api_->copy_to_device(buffer.address(), tensor.data.data(),
                             std::min(tensor.data.size(), buffer.bytes()));
      }
    }
    if (flush_.bytes() > 0) {
      api_->fill(flush_.address(), 0, flush_.bytes());
    }
    api_->synchronize();
  }

  std::vector<std::vector<std::byte>> read() const {
    api_->synchronize();
    std::vector<std::vector<std::byte>> contents;
    for (const DeviceBuffer& buffer : buffers_) {
      auto& bytes = contents.emplace_back(buffer.bytes());
      if (!bytes.empty()) {
        api_->copy_to_host(bytes.data(), buffer.address(), bytes.size());
      }
    }
    return contents;
  }

  Call call(const RunRequest& request) const {
    Call call;
    call.library = request.library.string();
    call.entry = request.entry;
    call.parameters = problem_.parameters;
    call.measured = request.timed;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      call.tensors[problem_.tensors[i].name] = {0, api_->ipc_handle(buffers_[i].address())};
    }
    return call;
  }

 private:
  std::shared_ptr<const CudaApi> api_;
  const Problem& problem_;
  DeviceBuffer flush_;
  std::vector<DeviceBuffer> buffers_;
};

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

GuestSetup guest_setup(const DeviceOptions& options, const RunRequest& request, int index) {
  GuestSetup setup;
  setup.program = options.guest_program;
  setup.library = request.library;
  if (!options.cuda_libraries.empty()) {
    setup.library_path = {options.cuda_libraries};
  }
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
  setup.shares_processes = true;
  return setup;
}

/// Shortest round trip of a call that does nothing. It is made before the student's library is
/// loaded, so that nobody can stretch it.
double idle_round_trip_us(GuestProcess& guest) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kIdleCalls; ++i) {
    const auto before = Clock::now();
    if (!guest.call(Call{})) {
      break;
    }
    shortest = std::min(shortest, microseconds(Clock::now() - before));
  }
  return std::isfinite(shortest) ? shortest : 0;
}

bool came_back(const std::optional<Reply>& reply) {
  return reply && reply->status == Reply::Status::returned && reply->cuda_error.empty();
}

/// Calls until the samples are steady enough. Stops at the first call that does not come back.
std::optional<Reply> measure(GuestProcess& guest, const Placement& placement,
                             const RunRequest& request, std::vector<double>& samples_us) {
  const double idle_us = idle_round_trip_us(guest);
  const Call call = placement.call(request);
  const RepeatRule rule{.budget = request.time_limit / 2};
  const auto begin = Clock::now();
  std::optional<Reply> reply;
  for (int count = 0; !enough(samples_us, Clock::now() - begin, rule); ++count) {
    placement.prepare();
    const auto before = Clock::now();
    reply = guest.call(call);
    const double wall_us = microseconds(Clock::now() - before);
    if (!came_back(reply)) {
      samples_us.clear();
      break;
    }
    if (count >= kWarmUpCalls) {
      samples_us.push_back(believed_us(reply->elapsed_us, wall_us, idle_us));
    }
  }
  return reply;
}

RunOutcome run_once(const std::shared_ptr<const CudaApi>& api, const DeviceOptions& options,
                    const RunRequest& request, int index, std::size_t l2_bytes) {
  api->use(index);
  const Placement placement(api, *request.problem, l2_bytes);
  RunOutcome outcome;
  std::vector<double> samples_us;
  GuestProcess guest(guest_setup(options, request, index));
  guest.prepare();
  std::optional<Reply> reply;
  if (request.timed) {
    reply = measure(guest, placement, request, samples_us);
  } else {
    placement.prepare();
    reply = guest.call(placement.call(request));
  }
  classify(reply, guest.talked_nonsense(), guest.end(), outcome);
  // After the guest's end: whatever it left running ends with its context, and cannot write any
  // more.
  outcome.outputs = placement.read();
  if (outcome.end == RunOutcome::End::returned) {
    outcome.samples_us = std::move(samples_us);
  }
  return outcome;
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
    return run_once(api_, options_, request, index_, description_.l2_bytes);
  } catch (const std::exception& error) {  // ours or the machine's, never the student's
    RunOutcome outcome;
    outcome.end = RunOutcome::End::device_fault;
    outcome.detail = error.what();
    return outcome;
  }
}

}  // namespace rooflab
