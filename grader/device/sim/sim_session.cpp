#include "grader/device/sim/sim_session.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "grader/device/sim/sim_call.h"
#include "grader/device/toolkit_libraries.h"
#include "grader/spec/files.h"

namespace rooflab {
bool makes_variants(const RunRequest& request) {
  return !request.variants.empty() && request.further.empty() && !request.sampled &&
         !request.problem->vast;
}

std::chrono::duration<double> time_for_variants(const RunRequest& request) {
  return kOnABusyMachine * (request.variants_time_limit + request.variants_host_time_limit);
}

namespace {

constexpr std::size_t kLargestLibrary = std::size_t{256} << 20;
constexpr int kDeviceDescriptor = 4;  // the guest's connection to the simulated GPU

// What a submission may take on the device besides the tensors that it is given: as much as its
// process may on the host. A share of the machine's memory would not be enough of a bound, for
// several devices run at a time, and the same program would get on differently on every machine.
constexpr std::uint64_t kDeviceMemoryBytes = std::uint64_t{4} << 30;

std::uint64_t memory_limit(const RunRequest& request) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : request.problem->tensors) bytes += tensor.bytes();
  const auto apart =
      std::ranges::count_if(request.further, [](const FurtherCall& call) { return !call.at; });
  const std::uint64_t at_once = request.late_inputs ? 2 : 1;
  return kDeviceMemoryBytes + (at_once + static_cast<std::uint64_t>(apart)) * bytes;
}

GuestSetup simulated_guest(const DeviceOptions& options, const RunRequest& request,
                           int connection) {
  GuestSetup setup;
  setup.program = options.guest_program;
  setup.library = request.library;
  setup.library_path = {options.runtime_libraries};
  setup.descriptors = {{connection, kDeviceDescriptor}};
  setup.environment = {{"SIMGPU_FD", std::to_string(kDeviceDescriptor)}};
  add_toolkit_libraries(request.libraries, options.cuda_libraries, setup);
  setup.processor_time_limit = request.host_time_limit.count() > 0
                                   ? std::min(request.host_time_limit, request.time_limit)
                                   : request.time_limit;
  setup.time_limit = kOnABusyMachine * request.time_limit;
  if (makes_variants(request)) {
    setup.processor_time_limit += request.variants_host_time_limit;
    setup.time_limit += time_for_variants(request);
  }
  setup.sandbox = options.sandbox;
  return setup;
}

/// So few that any block fits on a multiprocessor, with as many others as may be there: code with
/// all of its variants needs more registers than each of them would, and nobody asks for its time.
unsigned registers_of_any(const gpu_spec::GpuSpec& gpu) {
  return static_cast<unsigned>(gpu.registers_per_sm / std::max(gpu.max_threads_per_sm, 1));
}

}  // namespace

SimSession::SimSession(const DeviceOptions& options, const gpu_spec::GpuSpec& gpu,
                       const RunRequest& request)
    : options_(options), gpu_(gpu), request_(request) {
  start_device();
  start_guest();
}

std::string SimSession::replace_guest() {
  std::string printed = guest_->end().output;
  start_guest();
  return printed;
}

std::string SimSession::replace_device() {
  std::string printed = guest_->end().output;
  device_.reset();
  start_device();
  start_guest();
  return printed;
}

void SimSession::start_device() {
  // Sampled runs are about times, like timed ones.
  const bool vast = request_.problem->vast;
  const bool checkers = !request_.timed && !request_.sampled && !vast;
  const bool has_variants = makes_variants(request_);
  device_ = simgpu::DeviceProcess::start(
      {.program = options_.simgpu_device,
       .gpu = options_.gpu_specs / (gpu_.id + ".toml"),
       .workers = options_.workers,
       .checkers = checkers,
       .sampled = request_.sampled,
       .lines = request_.timed,
       .time_from = request_.timed || request_.sampled ? simgpu::TimeFrom::machine_code
                                                       : simgpu::TimeFrom::ptx,
       .instruction_budget = instruction_budget(request_, checkers),
       .warp_limit_us = warp_limit_us(request_),
       .bounds_long_launches = request_.timed || vast,
       .bounds_by_blocks_alone = vast,
       .backwards = request_.backwards,
       .host_call_limit = checkers ? kHostCallLimit : 0,
       .most_registers = has_variants ? registers_of_any(gpu_) : 0,
       .memory_limit = memory_limit(request_),
       .assembler = has_variants ? simgpu::machine_code::AssemblerOptions{} : options_.assembler});
  if (has_variants) device_->keep_for_variants();
  knows_library_ = false;
  addresses_ = place_tensors(*device_, *request_.problem);
}

void SimSession::start_guest() {
  Descriptor connection(device_->connect_guest());
  guest_.emplace(simulated_guest(options_, request_, connection.get()));
  connection.reset();
  guest_->prepare();
  if (std::exchange(knows_library_, true)) return;
  device_->set_secret(request_.secret);
  const std::string library = read_file(request_.library, kLargestLibrary);
  device_->set_built_code(std::as_bytes(std::span(library)));
  if (request_.names_built_code_only) device_->name_only_built_code();
}

}  // namespace rooflab
