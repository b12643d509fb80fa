#include "grader/device/sim/sim_device.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "grader/device/guest_process.h"
#include "grader/device/sim/further_calls.h"
#include "grader/device/sim/sim_call.h"
#include "grader/device/sim/sim_origins.h"
#include "grader/device/toolkit_libraries.h"
#include "grader/spec/files.h"
#include "simgpu/device/device_process.h"

namespace rooflab {
namespace {

constexpr std::size_t kLargestLibrary = std::size_t{256} << 20;
constexpr int kDeviceDescriptor = 4;  // the guest's connection to the simulated GPU

// A simulation takes as long as the machine has time for it. A loop on the host ends by the
// processor time that it takes, one in a kernel by its instructions; the clock on the wall only
// ends a function that waits for ever, and has to leave right ones alone where others are at work,
// too.
constexpr double kOnABusyMachine = 3;

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
  setup.sandbox = options.sandbox;
  return setup;
}

/// Whether a call was timed whole, and the checkers do not take long over one like it.
bool is_cheap_to_check(const RunRequest& request, const RunOutcome& timed) {
  std::uint64_t instructions = 0;
  for (const simgpu::KernelRecord& kernel : timed.activity.kernels) {
    if (kernel.at_least || kernel.sampled) return false;
    instructions += kernel.counters.warp_instructions;
  }
  return instructions > 0 && instructions <= request.checked_again_up_to;
}

/// Whether the first call has shown nothing that a second one could not be told from.
bool may_be_called_again(const RunRequest& request, const std::optional<Reply>& reply,
                         const RunOutcome& first) {
  return !request.sampled && reply && reply->cuda_error.empty() &&
         (!request.timed || is_cheap_to_check(request, first)) && first.activity.error.empty() &&
         std::ranges::none_of(first.activity.findings, is_error);
}

/// What only the timed call says: the second one has checkers.
void settle_time(const RunRequest& request, RunOutcome& outcome) {
  outcome.sampled = std::ranges::any_of(outcome.activity.kernels, &simgpu::KernelRecord::sampled);
  if (request.timed && outcome.end == RunOutcome::End::returned) {
    outcome.samples_us = {outcome.activity.elapsed_us};
  }
}

/// Takes what the device knows of the first call.
void collect_call(simgpu::DeviceProcess& device, const RunRequest& request,
                  const std::vector<std::uint64_t>& addresses, RunOutcome& outcome) {
  collect(device, request, addresses, outcome);
  // Of a device that had to be ended there are no outputs.
  if (follows_origins(request) && !outcome.outputs.empty()) {
    outcome.origins = origins_of(device, request, addresses);
  }
}

/// Has the device record what is asked for, by the addresses that it has here.
void record(simgpu::DeviceProcess& device, const RunRequest& request,
            const std::vector<std::uint64_t>& addresses) {
  if (!request.recording) return;
  simgpu::replay::Wanted wanted = request.recording->wanted;
  if (const auto& element = request.recording->element) {
    const Tensor& tensor = request.problem->tensors.at(element->tensor);
    wanted.bytes = size_of(tensor.type);
    wanted.address = addresses.at(element->tensor) + element->element * wanted.bytes;
  }
  device.record(wanted);
}

RunOutcome run_once(const DeviceOptions& options, const gpu_spec::GpuSpec& gpu,
                    const RunRequest& request) {
  // Sampled runs are about times, like timed ones.
  const bool vast = request.problem->vast;
  const bool checkers = !request.timed && !request.sampled && !vast;
  simgpu::DeviceProcess device =
      simgpu::DeviceProcess::start({.program = options.simgpu_device,
                                    .gpu = options.gpu_specs / (gpu.id + ".toml"),
                                    .workers = options.workers,
                                    .checkers = checkers,
                                    .sampled = request.sampled,
                                    .lines = request.timed,
                                    .instruction_budget = instruction_budget(request, checkers),
                                    .warp_limit_us = warp_limit_us(request),
                                    .bounds_long_launches = request.timed || vast,
                                    .bounds_by_blocks_alone = vast,
                                    .host_call_limit = checkers ? kHostCallLimit : 0,
                                    .memory_limit = memory_limit(request),
                                    .assembler = options.assembler});
  const std::vector<std::uint64_t> addresses = place_tensors(device, *request.problem);

  Descriptor connection(device.connect_guest());
  GuestProcess guest(simulated_guest(options, request, connection.get()));
  connection.reset();

  guest.prepare();
  device.set_secret(request.secret);
  const std::string library = read_file(request.library, kLargestLibrary);
  device.set_built_code(std::as_bytes(std::span(library)));
  if (request.names_built_code_only) device.name_only_built_code();
  Call call = call_for(request, addresses);
  std::optional<SecondCall> second = second_call_for(device, request, call);
  // The stream that is opened last is the one that the caller's own work is on.
  if (second) call.beside->stream = device.open_callers_stream();
  call.holds_to_stream = request.gives_stream || request.holds_to_stream;
  if (request.gives_stream) {
    call.gives_stream = true;
    call.stream = device.open_callers_stream();
  }
  if (follows_origins(request)) device.follow_origins();
  device.mark();
  note_callers_work(device, request, addresses);
  record(device, request, addresses);
  const std::optional<Reply> reply = guest.call(call);
  RunOutcome outcome;
  outcome.keeps_records = true;
  const bool has_returned = reply && reply->status == Reply::Status::returned;
  const bool may_be_repeated = !request.timed || request.checked_again_up_to > 0;
  if (!request.further.empty() && may_be_repeated && has_returned) {
    outcome.results = reply->results;
    collect_call(device, request, addresses, outcome);
    if (outcome.end == RunOutcome::End::returned && may_be_called_again(request, reply, outcome)) {
      FurtherCalls(device, guest, request, call, addresses).make(outcome);
      settle_time(request, outcome);
      return outcome;
    }
  }
  classify(reply, guest.talked_nonsense(), guest.end(), outcome);
  if (outcome.outputs.empty()) collect_call(device, request, addresses, outcome);
  if (request.recording) outcome.recorded = device.recorded();
  if (second && outcome.end == RunOutcome::End::returned) collect_second(device, *second, outcome);
  settle_time(request, outcome);
  return outcome;
}

}  // namespace

SimDevice::SimDevice(const std::string& gpu, const DeviceOptions& options) : options_(options) {
  try {
    gpu_ = gpu_spec::find(options.gpu_specs, gpu);
  } catch (const gpu_spec::SpecError& error) {
    throw DeviceError(error.what());
  }
  for (const auto& program : {options.simgpu_device, options.guest_program}) {
    if (!std::filesystem::exists(program)) {
      throw DeviceError("the simulated GPU needs " + program.string() +
                        ", which is not there; build it with `cmake --build --preset default`");
    }
  }
}

RunOutcome SimDevice::run(const RunRequest& request) {
  try {
    return run_once(options_, gpu_, request);
  } catch (const std::exception& error) {  // ours or the machine's, never the student's
    RunOutcome outcome;
    outcome.end = RunOutcome::End::device_fault;
    outcome.detail = error.what();
    return outcome;
  }
}

}  // namespace rooflab
