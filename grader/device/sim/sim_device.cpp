#include "grader/device/sim/sim_device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grader/contract/elements.h"
#include "grader/device/guest_process.h"
#include "grader/device/toolkit_libraries.h"
#include "grader/spec/files.h"
#include "simgpu/device/device_process.h"

namespace rooflab {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::size_t kLargestLibrary = std::size_t{256} << 20;
constexpr int kDeviceDescriptor = 4;  // the guest's connection to the simulated GPU

// A launch may take the work of so many warp instructions per second of the time limit: a device
// that counts ends a kernel at the same place on every machine, a clock does not. Where checkers
// watch, that is about what a kernel with scattered accesses gets done. The largest timed
// launch of a solution, which nobody checks, needs three quarters of its share; a timed call of
// more is not worth the wait, and is told by a bound of its time.
constexpr double kInstructionsPerSecond = 3e6, kCheckedInstructionsPerSecond = 1.5e6;
constexpr std::uint64_t kLeastInstructions = 20'000'000;
// Nor is one of more in a correctness case, however long the task's limit is: naive attention of
// 256 tokens and four heads, whose lanes read rows of their own, takes about a third.
constexpr Seconds kMostForALaunch{60};

// A warp that takes longer by itself, modelled, will hardly come to its end: a thread that computes
// all of a correctness case alone takes less. It is what ends a loop without end within seconds,
// however few threads are in it.
constexpr double kWarpLimitUs = 100'000;

// A loop on the host that calls the runtime for ever is ended by its calls, of which a machine
// serves some ten thousands in a second. Calls that ask for what is not done yet do not count.
constexpr std::uint64_t kHostCallLimit = 200'000;

// How long the device may take to finish what a returned call left running, and what an ended guest
// did.
constexpr Seconds kPatienceAfterReturn{30};
constexpr Seconds kPatienceAfterEnd{3};

// A simulation takes as long as the machine has time for it. A loop on the host ends by the
// processor time that it takes, one in a kernel by its instructions; the clock on the wall only
// ends a function that waits for ever, and has to leave right ones alone where others are at work,
// too.
constexpr double kOnABusyMachine = 3;

// What a submission may take on the device besides the tensors that it is given: as much as its
// process may on the host. A share of the machine's memory would not be enough of a bound, for
// several devices run at a time, and the same program would get on differently on every machine.
constexpr std::uint64_t kDeviceMemoryBytes = std::uint64_t{4} << 30;

std::uint64_t memory_limit(const Problem& problem) {
  std::uint64_t bytes = kDeviceMemoryBytes;
  for (const Tensor& tensor : problem.tensors) bytes += tensor.bytes();
  return bytes;
}

/// Work of a launch of a vast problem. Where each thread has a few elements, the blocks that run
/// take next to nothing of it; where blocks go over all elements, each a part, it is enough for
/// some. It is the only limit: one warp alone for all elements is slow, but not wrong.
constexpr std::uint64_t kVastInstructions = 20'000'000;

std::uint64_t instruction_budget(const RunRequest& request, bool checkers) {
  if (request.problem->vast) return kVastInstructions;
  const double rate = checkers ? kCheckedInstructionsPerSecond : kInstructionsPerSecond;
  const bool is_sampled = !request.timed && !checkers;
  const Seconds time =
      is_sampled ? request.time_limit : std::min(request.time_limit, kMostForALaunch);
  const double share = request.timed ? request.share_of_work : 1;
  return std::max(kLeastInstructions, static_cast<std::uint64_t>(share * time.count() * rate));
}

/// Ends the device process when it takes too long, so that no call to it can block for ever.
class Deadline {
 public:
  Deadline(simgpu::DeviceProcess& device, Seconds patience)
      : thread_([this, &device, patience] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, patience, [this] { return over_; })) {
            passed_ = true;
            device.kill();
          }
        }) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { finish(); }
  /// Whether the device had to be ended.
  bool finish() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        over_ = true;
      }
      changed_.notify_all();
      thread_.join();
    }
    return passed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool passed_ = false;
  std::thread thread_;
};

/// The tensors of a problem in the memory of the device, inputs written and outputs poisoned.
std::vector<std::uint64_t> place_tensors(simgpu::DeviceProcess& device, const Problem& problem) {
  std::vector<std::uint64_t> addresses;
  for (const Tensor& tensor : problem.tensors) {
    const std::uint64_t bytes = tensor.bytes();
    if (problem.vast) {
      addresses.push_back(device.allocate_vast(bytes, tensor.name, tensor.data));
      continue;
    }
    const std::uint64_t address = device.allocate(std::max<std::uint64_t>(bytes, 1), tensor.name);
    addresses.push_back(address);
    if (bytes == 0) {
      continue;
    }
    if (tensor.role == Role::output) {
      device.fill(address, std::to_integer<std::uint8_t>(kPoisonByte), bytes);
      device.mark_uninitialized(address, bytes);
    } else {
      device.write(address, tensor.data);
    }
  }
  return addresses;
}

std::vector<simgpu::ByteRange> ranges_of(const Problem& problem,
                                         const std::vector<std::uint64_t>& addresses) {
  std::vector<simgpu::ByteRange> ranges;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    ranges.push_back({addresses[i], problem.tensors[i].bytes()});
  }
  return ranges;
}

Call call_for(const RunRequest& request, const std::vector<std::uint64_t>& addresses) {
  Call call;
  call.library = request.library.string();
  call.entry = request.entry;
  call.parameters = request.problem->parameters;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    call.tensors[request.problem->tensors[i].name] = {addresses[i], ""};
  }
  return call;
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

/// These bytes of a tensor, one after the other.
std::vector<std::byte> read_ranges(simgpu::DeviceProcess& device, std::uint64_t address,
                                   const std::vector<simgpu::ByteRange>& ranges) {
  std::vector<std::byte> bytes;
  for (const simgpu::ByteRange& range : ranges) {
    const std::size_t before = bytes.size();
    bytes.resize(before + range.bytes);
    device.read(address + range.address, std::span(bytes).subspan(before));
  }
  return bytes;
}

/// The tensors after a call. Inputs of a sampled run stay away: they are large, and whether a
/// function writes to them is seen in runs of all blocks.
std::vector<std::vector<std::byte>> read_tensors(simgpu::DeviceProcess& device,
                                                 const RunRequest& request,
                                                 const std::vector<std::uint64_t>& addresses,
                                                 const SettledPart& settled) {
  std::vector<std::vector<std::byte>> contents(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Tensor& tensor = request.problem->tensors[i];
    if ((request.sampled || request.problem->vast) && tensor.role == Role::input) continue;
    if (request.problem->vast) {
      if (!settled.written.empty())
        contents[i] = read_ranges(device, addresses[i], settled.written[i]);
      continue;
    }
    auto& bytes = contents[i];
    bytes.resize(tensor.bytes());
    if (!bytes.empty()) {
      device.read(addresses[i], bytes);
    }
  }
  return contents;
}

/// The settled bytes by the tensor that they lie in.
SettledPart settled_part(const simgpu::SettledBytes& settled, const RunRequest& request,
                         const std::vector<std::uint64_t>& addresses) {
  SettledPart part;
  if (settled.ranges.empty() && settled.chosen.of_grid == 0) return part;
  part.chosen = settled.chosen;
  part.addresses = addresses;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::uint64_t begin = addresses[i];
    const std::uint64_t end = begin + request.problem->tensors[i].bytes();
    const auto of_grid = std::ranges::find(settled.of_grid, begin, &simgpu::ByteRange::address);
    part.of_grid.push_back(of_grid == settled.of_grid.end() ? 0 : of_grid->bytes);
    auto& written = part.written.emplace_back();
    for (const simgpu::ByteRange& range : settled.ranges) {
      // No access goes from one allocation into the next.
      if (range.address < begin || range.address >= end) continue;
      written.push_back({range.address - begin, range.bytes});
    }
  }
  return part;
}

/// The arguments are on their way on the stream that the function is given, or used there. Only of
/// late inputs is the whole order between streams judged: elsewhere inputs are there before the
/// call.
void note_callers_work(simgpu::DeviceProcess& device, const RunRequest& request,
                       const std::vector<std::uint64_t>& addresses) {
  if (!request.late_inputs && !request.holds_to_stream) return;
  device.note_callers_work(ranges_of(*request.problem, addresses), !request.late_inputs);
}

/// Takes what the device knows. A guest that ended in time has to have left a device that does so
/// as well.
void collect(simgpu::DeviceProcess& device, const RunRequest& request,
             const std::vector<std::uint64_t>& addresses, RunOutcome& outcome) {
  const bool returned = outcome.end == RunOutcome::End::returned;
  Deadline deadline(device, returned ? kPatienceAfterReturn : kPatienceAfterEnd);
  try {
    if (returned) note_callers_work(device, request, addresses);
    // A function that ended in another way had no chance to free anything.
    if (returned) device.report_end();
    outcome.activity = device.collect();
    outcome.settled = settled_part(device.settled(), request, addresses);
    outcome.outputs = read_tensors(device, request, addresses, outcome.settled);
  } catch (const simgpu::DeviceProcessError& error) {
    if (!deadline.finish()) {
      throw;
    }
    if (returned) {
      outcome.end = RunOutcome::End::time_limit;
      outcome.detail = "the function came back, but the GPU was still busy long after";
    }
  }
}

/// The tensors with other inputs where they were before, and outputs poisoned.
void replace_tensors(simgpu::DeviceProcess& device, const Problem& problem,
                     const std::vector<std::uint64_t>& addresses) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.bytes() == 0) continue;
    if (tensor.role == Role::output) {
      device.fill(addresses[i], std::to_integer<std::uint8_t>(kPoisonByte), tensor.bytes());
      device.mark_uninitialized(addresses[i], tensor.bytes());
    } else {
      device.write(addresses[i], tensor.data);
    }
  }
}

/// What is off the given stream says nothing of the results.
bool is_error(const simgpu::Finding& finding) {
  return finding.kind != simgpu::FindingKind::leak && finding.code != "RL0325";
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
  return request.fresh && !request.sampled && reply && reply->cuda_error.empty() &&
         (!request.timed || is_cheap_to_check(request, first)) && first.activity.error.empty() &&
         std::ranges::none_of(first.activity.findings, is_error);
}

/// Calls the function once more in its process, with other inputs of the same sizes: one that works
/// only the first time keeps something that it should not. What goes wrong by itself is the
/// outcome; whether the results are right, the fresh call tells. @param call the first one
void call_again(simgpu::DeviceProcess& device, GuestProcess& guest, const RunRequest& request,
                const std::vector<std::uint64_t>& addresses, Call call, RunOutcome& first) {
  FreshCall fresh;
  fresh.problem = request.fresh(0);
  if (request.timed) device.check_from_now_on(instruction_budget(request, true), kHostCallLimit);
  replace_tensors(device, fresh.problem, addresses);
  device.mark();
  note_callers_work(device, request, addresses);
  call.parameters = fresh.problem.parameters;  // scalars are drawn with the inputs
  const std::optional<Reply> reply = guest.call(call);
  RunOutcome second;
  classify(reply, guest.talked_nonsense(), guest.end(), second);
  collect(device, request, addresses, second);
  first.printed = second.printed;
  auto& findings = second.activity.findings;
  const bool failed = second.end != RunOutcome::End::returned || !second.cuda_error.empty() ||
                      !second.activity.error.empty() || std::ranges::any_of(findings, is_error);
  for (simgpu::Finding& finding : findings) {
    const bool is_leak = finding.kind == simgpu::FindingKind::leak;  // the first call's are told
    if (!is_leak) first.activity.findings.push_back(std::move(finding));
  }
  if (!failed) {
    fresh.outputs = std::move(second.outputs);
    first.fresh.push_back(std::move(fresh));
    return;
  }
  first.end = second.end;
  first.detail = second.detail;
  first.cuda_error = second.cuda_error;
  first.activity.error = second.activity.error;
}

/// What only the timed call says: the second one has checkers.
void settle_time(const RunRequest& request, RunOutcome& outcome) {
  outcome.sampled = std::ranges::any_of(outcome.activity.kernels, &simgpu::KernelRecord::sampled);
  if (request.timed && outcome.end == RunOutcome::End::returned) {
    outcome.samples_us = {outcome.activity.elapsed_us};
  }
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
                                    .instruction_budget = instruction_budget(request, checkers),
                                    .warp_limit_us = vast ? 0 : kWarpLimitUs,
                                    .bounds_long_launches = request.timed || vast,
                                    .bounds_by_blocks_alone = vast,
                                    .host_call_limit = checkers ? kHostCallLimit : 0,
                                    .memory_limit = memory_limit(*request.problem),
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
  if (request.gives_stream) {
    call.gives_stream = true;
    call.stream = device.open_callers_stream();
  }
  device.mark();
  note_callers_work(device, request, addresses);
  const std::optional<Reply> reply = guest.call(call);
  RunOutcome outcome;
  outcome.keeps_records = true;
  const bool has_returned = reply && reply->status == Reply::Status::returned;
  const bool may_be_repeated = !request.timed || request.checked_again_up_to > 0;
  if (request.fresh && may_be_repeated && has_returned) {
    outcome.results = reply->results;
    collect(device, request, addresses, outcome);
    if (outcome.end == RunOutcome::End::returned && may_be_called_again(request, reply, outcome)) {
      call_again(device, guest, request, addresses, call, outcome);
      settle_time(request, outcome);
      return outcome;
    }
  }
  classify(reply, guest.talked_nonsense(), guest.end(), outcome);
  if (outcome.outputs.empty()) collect(device, request, addresses, outcome);
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
