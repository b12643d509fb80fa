#include "grader/device/sim/sim_call.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "grader/contract/elements.h"
#include "grader/device/sim/deadline.h"

namespace rooflab {
namespace {

using Seconds = std::chrono::duration<double>;

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
// all of a correctness case alone takes less, with a dozen instructions for each operation that the
// problem asks for, one after the other. It is what ends a loop without end within seconds,
// however few threads are in it.
constexpr double kLeastWarpLimitUs = 100'000, kMostWarpLimitUs = 600'000;
constexpr double kAloneUsPerFlop = 0.04;
constexpr double kAloneInstructionsPerFlop = 12, kMostInstructionsAlone = 200e6;

// How long the device may take to finish what a returned call left running, and what an ended guest
// did.
constexpr Seconds kPatienceAfterReturn{30};
constexpr Seconds kPatienceAfterEnd{3};

/// Work of a launch of a vast problem. Where each thread has a few elements, the blocks that run
/// take next to nothing of it; where blocks go over all elements, each a part, it is enough for
/// some. It is the only limit: one warp alone for all elements is slow, but not wrong.
constexpr std::uint64_t kVastInstructions = 20'000'000;

std::vector<simgpu::ByteRange> ranges_of(const Problem& problem,
                                         const std::vector<std::uint64_t>& addresses) {
  std::vector<simgpu::ByteRange> ranges;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    ranges.push_back({addresses[i], problem.tensors[i].bytes()});
  }
  return ranges;
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

/// Whether the device left out blocks, so that only what it settled is compared.
bool ran_in_part(const RunRequest& request, const simgpu::Activity& activity) {
  return request.problem->vast ||
         std::ranges::any_of(activity.kernels, [](const simgpu::KernelRecord& kernel) {
           return kernel.sampled || kernel.at_least;
         });
}

/// The tensors after a call. Inputs of a sampled run stay away: they are large, and whether a
/// function writes to them is seen in runs of all blocks.
std::vector<std::vector<std::byte>> read_tensors(simgpu::DeviceProcess& device,
                                                 const RunRequest& request,
                                                 const std::vector<std::uint64_t>& addresses,
                                                 const SettledPart& settled, bool in_part) {
  std::vector<std::vector<std::byte>> contents(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Tensor& tensor = request.problem->tensors[i];
    if ((request.sampled || request.problem->vast) && tensor.role == Role::input) continue;
    if (in_part && tensor.role != Role::input) {
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

}  // namespace

std::uint64_t instruction_budget(const RunRequest& request, bool checkers) {
  if (request.problem->vast) return kVastInstructions;
  const double rate = checkers ? kCheckedInstructionsPerSecond : kInstructionsPerSecond;
  const bool is_sampled = !request.timed && !checkers;
  const Seconds time =
      is_sampled ? request.time_limit : std::min(request.time_limit, kMostForALaunch);
  const double share = request.timed ? request.share_of_work : 1;
  const double of_time = share * time.count() * rate;
  const double of_one_thread =
      checkers ? std::min(kAloneInstructionsPerFlop * request.flops, kMostInstructionsAlone) : 0;
  return std::max(kLeastInstructions, static_cast<std::uint64_t>(std::max(of_time, of_one_thread)));
}

double warp_limit_us(const RunRequest& request) {
  if (request.problem->vast) return 0;
  return std::clamp(kAloneUsPerFlop * request.flops, kLeastWarpLimitUs, kMostWarpLimitUs);
}

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

std::optional<SecondCall> second_call_for(simgpu::DeviceProcess& device, const RunRequest& request,
                                          Call& call) {
  const bool may_be_two = request.further.empty() && !request.problem->parameters.contains("alone");
  if (!request.late_inputs || !request.gives_stream || !request.fresh || !may_be_two) {
    return std::nullopt;
  }
  SecondCall second;
  second.fresh.problem = request.fresh(0);
  second.fresh.is_beside = true;
  second.addresses = place_tensors(device, second.fresh.problem);
  call.beside.emplace();
  call.beside->parameters = second.fresh.problem.parameters;
  for (std::size_t i = 0; i < second.addresses.size(); ++i) {
    call.beside->tensors[second.fresh.problem.tensors[i].name] = {second.addresses[i], ""};
  }
  return second;
}

void collect_second(simgpu::DeviceProcess& device, SecondCall& second, RunOutcome& outcome) {
  for (std::size_t i = 0; i < second.addresses.size(); ++i) {
    auto& bytes = second.fresh.outputs.emplace_back(second.fresh.problem.tensors[i].bytes());
    if (!bytes.empty()) device.read(second.addresses[i], bytes);
  }
  outcome.fresh.push_back(std::move(second.fresh));
}

void note_callers_work(simgpu::DeviceProcess& device, const RunRequest& request,
                       const std::vector<std::uint64_t>& addresses) {
  if (!request.late_inputs && !request.holds_to_stream) return;
  device.note_callers_work(ranges_of(*request.problem, addresses), !request.late_inputs);
}

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
    outcome.outputs = read_tensors(device, request, addresses, outcome.settled,
                                   ran_in_part(request, outcome.activity));
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

}  // namespace rooflab
