#include "grader/device/sim/sim_device.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "grader/device/guest_process.h"
#include "grader/device/result_findings.h"
#include "grader/device/sim/further_calls.h"
#include "grader/device/sim/sim_call.h"
#include "grader/device/sim/sim_origins.h"
#include "grader/device/sim/sim_session.h"
#include "grader/device/sim/variant_calls.h"
#include "simgpu/device/device_process.h"

namespace rooflab {
namespace {

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
         std::ranges::none_of(first.activity.findings, concerns_results);
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
  SimSession session(options, gpu, request);
  simgpu::DeviceProcess& device = session.device();
  GuestProcess& guest = session.guest();
  const std::vector<std::uint64_t>& addresses = session.addresses();
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
  // The guest may take longer for the variants, but not for the first call.
  const std::optional<Reply> reply =
      makes_variants(request) ? guest.call(call, request.time_limit) : guest.call(call);
  RunOutcome outcome;
  outcome.keeps_records = true;
  if (makes_variants(request)) {
    VariantCalls(session, request, call).make(reply, outcome);
    settle_time(request, outcome);
    return outcome;
  }
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
