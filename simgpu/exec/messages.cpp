#include "simgpu/exec/messages.h"

#include <cstring>
#include <utility>

namespace simgpu {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string allocation_name(const Allocation& allocation) {
  std::string name = "the " + std::to_string(allocation.bytes) + "-byte allocation";
  if (!allocation.label.empty()) name += " (" + allocation.label + ")";
  return name;
}

/// A name without the mangling of a function's static variable: _ZZ4gemm…E2As is As.
std::string plain_name(const std::string& name) {
  if (name.rfind("_ZZ", 0) != 0) return name;
  // The variable's own length-prefixed name is the last one.
  for (std::size_t at = name.size(); at-- > 3;) {
    if (name[at] < '0' || name[at] > '9') continue;
    std::size_t first = at;
    while (first > 3 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
    std::size_t length = 0;
    for (std::size_t i = first; i <= at; ++i) {
      length = length * 10 + static_cast<std::size_t>(name[i] - '0');
      if (length > name.size()) break;
    }
    if (length > 0 && at + 1 + length <= name.size() && first > 0 && name[first - 1] == 'E') {
      return name.substr(at + 1, length);
    }
  }
  return name;
}

FindingKind kind_of(const char* code) {
  const std::string text = code;
  if (text == "RL0202") return FindingKind::out_of_bounds;
  if (text == "RL0205" || text == "RL0206" || text == "RL0208" || text == "RL0211") {
    return FindingKind::uninitialized_read;
  }
  if (text == "RL0304" || text == "RL0316" || text == "RL0318") return FindingKind::global_race;
  if (text == "RL0305") return FindingKind::divergent_barrier;
  return FindingKind::shared_race;
}

enum class Space { global, shared, local, lanes, registers };

Space space_of(const RawFinding& raw) {
  const std::string code = raw.code;
  if (code == "RL0205" || code == "RL0304" || code == "RL0316" || code == "RL0318") {
    return Space::global;
  }
  if (code == "RL0208") return Space::local;
  if (code == "RL0211") return Space::registers;
  if (code == "RL0305") return Space::lanes;
  return Space::shared;
}

Dim3 coordinates(std::uint64_t index, const Dim3& shape) {
  return {static_cast<std::uint32_t>(index % shape.x),
          static_cast<std::uint32_t>(index / shape.x % shape.y),
          static_cast<std::uint32_t>(index / shape.x / shape.y)};
}

const char* space_name(Space space) {
  return space == Space::global   ? "global memory"
         : space == Space::shared ? "shared memory"
                                  : "local memory";
}

std::string sentence_of_lanes(const RawFinding& raw, const std::string& object) {
  switch (raw.lane_fault) {
    case LaneFault::unnamed_source:
      return "A shuffle asks " + object +
             " for its value, which does not take part in it: what comes back is undefined";
    case LaneFault::exited_source:
      return "A shuffle takes the value of " + object +
             ", which has returned from the kernel: what comes back is undefined, and it is used";
    case LaneFault::no_source:
      return "A shuffle takes the value of " + object +
             ", which is no thread of the block: what comes back is undefined, and it is used";
    case LaneFault::unnamed_caller:
      return "This warp-wide operation is executed by " + object +
             ", which its mask does not name: what it gives is undefined";
    case LaneFault::not_here:
      return "This warp-wide operation names " + object +
             ", which took another way and does not come here: what it gives is undefined";
    case LaneFault::not_at_barrier:
      return "Only " + std::to_string(raw.lanes_here) + " of the " +
             std::to_string(raw.lanes_running) + " running threads of warp " +
             std::to_string(raw.warp) + " reach this barrier; " + object +
             " took another way and has not returned";
  }
  return object;
}

/// What a lane did where lanes need each other, and what the lane did that was needed.
std::pair<std::string, std::string> actions_of_lanes(const RawFinding& raw) {
  const std::string other = "lane " + std::to_string(raw.address);
  switch (raw.lane_fault) {
    case LaneFault::unnamed_source:
      return {"reads from " + other, ""};
    case LaneFault::exited_source:
      return {"reads from " + other, "has returned"};
    case LaneFault::no_source:
      return {"reads from " + other, ""};
    case LaneFault::unnamed_caller:
      return {"is not in the mask", ""};
    case LaneFault::not_here:
      return {"waits for " + other, "is here instead"};
    case LaneFault::not_at_barrier:
      return {"waits at the barrier", "is here instead"};
  }
  return {};
}

std::string sentence_of_blocks(const RawFinding& raw, const std::string& object) {
  const bool with_atomic = raw.kind == AccessKind::atomic || raw.other_kind == AccessKind::atomic;
  const bool with_store = raw.kind == AccessKind::store || raw.other_kind == AccessKind::store;
  const std::string touch =
      with_atomic && !with_store
          ? "One block reads " + object + ", which another updates atomically"
          : "Two blocks touch " + object + ", at least one of them with a store";
  if (!raw.lacks_fence) return touch + ", and nothing orders the blocks of a launch";
  return touch +
         ". The atomic that is to order them is there, but it needs a fence: __threadfence() "
         "between what a block has done and the atomic that says so";
}

/// Threads of a warp that race: many programs were written for GPUs that ran them in lockstep.
bool is_within_warp(const RawFinding& raw) {
  return raw.has_other && raw.block == raw.other_block && raw.warp == raw.other_warp;
}

std::string sentence_of_threads(const RawFinding& raw, const std::string& object) {
  const std::string code = raw.code;
  if (code == "RL0301") {
    return "One thread overwrites " + object + " while another may still need the old value";
  }
  if (code == "RL0302") {
    return "A thread reads " + object +
           " in the same barrier interval in which another thread writes it";
  }
  if (code == "RL0303") {
    return "Two threads store different values to " + object + " without a barrier between them";
  }
  const bool by_atomic = raw.kind == AccessKind::atomic || raw.other_kind == AccessKind::atomic;
  return "Two threads of a block touch " + object + ", at least one of them with " +
         (by_atomic ? "an atomic" : "a store") + ", and no barrier orders them";
}

std::string sentence(const RawFinding& raw, const std::string& object) {
  const std::string code = raw.code;
  if (code == "RL0202") return "A shared-memory access is out of bounds: it is at " + object;
  if (code == "RL0205" || code == "RL0206" || code == "RL0208") {
    return "A thread reads " + bytes_text(raw.bytes) +
           " that nothing has written before: " + object;
  }
  if (code == "RL0211") {
    return "A thread uses a variable that it has not given a value: what it holds is undefined";
  }
  if (code == "RL0305") return sentence_of_lanes(raw, object);
  if (code == "RL0313") {
    return "A thread touches " + object +
           " before the asynchronous copy into it is known to be done: the thread that copies has "
           "to wait for it, and for others a barrier has to follow";
  }
  if (code == "RL0304") return sentence_of_blocks(raw, object);
  if (code == "RL0318") {
    return "A thread loads " + object +
           " as memory that is constant, and the same launch has stored there before: the caches "
           "for constant memory do not see that, whatever barriers lie between";
  }
  const std::string text = sentence_of_threads(raw, object);
  if (!is_within_warp(raw)) return text;
  return text +
         ". Both threads are of one warp: since Volta these do not run in lockstep, and need "
         "__syncwarp() between the two accesses";
}

/// Where an access lies that has left the array from whose address its own is computed.
std::string describe_outside(const RawFinding& raw, const KernelInfo& kernel,
                             const std::string& touched) {
  const std::uint32_t number = kernel.instructions.at(raw.pc).shared_array;
  if (number == 0) return touched;
  const KernelInfo::SharedArray& array = kernel.shared_arrays.at(number - 1);
  const auto offset = static_cast<std::int64_t>(raw.address) - std::int64_t{array.offset};
  const std::string name = "shared array " + plain_name(array.name);
  if (raw.bytes == 0 || offset % raw.bytes != 0 || array.bytes % raw.bytes != 0) {
    return "byte " + std::to_string(offset) + " of " + name + " (" + bytes_text(array.bytes) +
           "), which is " + touched;
  }
  return "index " + std::to_string(offset / raw.bytes) + " of " + name + ", which has " +
         std::to_string(array.bytes / raw.bytes) + " elements of " + bytes_text(raw.bytes) +
         ", and touches " + touched;
}

}  // namespace

AccessSite site_of(const KernelInfo& kernel, std::uint32_t index) {
  AccessSite site;
  if (index < kernel.instructions.size()) {
    const InstructionInfo& info = kernel.instructions[index];
    site.file = kernel.files->at(info.file);
    site.line = info.line;
    site.column = info.column;
    for (std::uint32_t call = info.call; call != 0;) {
      const KernelInfo::Call& at = kernel.calls.at(call - 1);
      site.inlined_at.push_back({at.function, kernel.files->at(at.file), at.line, at.column});
      call = at.parent;
    }
  }
  return site;
}

std::string describe_access(AccessKind kind, unsigned bytes, const char* space) {
  if (kind == AccessKind::copy)
    return "copies " + bytes_text(bytes) + " asynchronously to " + space;
  const char* verb = kind == AccessKind::load    ? "reads "
                     : kind == AccessKind::store ? "writes "
                                                 : "updates atomically ";
  return verb + bytes_text(bytes) + (kind == AccessKind::store ? " to " : " of ") + space;
}

std::string describe_shared(const LoweredKernel& kernel, std::uint64_t offset,
                            std::uint32_t shared_bytes) {
  const KernelInfo::SharedArray* before = nullptr;
  for (const KernelInfo::SharedArray& array : kernel.info.shared_arrays) {
    if (array.offset <= offset && (before == nullptr || array.offset >= before->offset)) {
      before = &array;
    }
  }
  if (before != nullptr && offset < std::uint64_t{before->offset} + before->bytes) {
    return "byte " + std::to_string(offset - before->offset) + " of shared array " +
           plain_name(before->name) + " (" + bytes_text(before->bytes) + ")";
  }
  if (offset < shared_bytes) {
    const std::uint64_t start = (kernel.info.static_shared_bytes + 15U) / 16U * 16U;
    return "byte " + std::to_string(offset >= start ? offset - start : offset) +
           " of the dynamic shared memory (" +
           bytes_text(shared_bytes > start ? shared_bytes - start : shared_bytes) + ")";
  }
  if (before != nullptr && offset > 0xFFFF0000U) before = nullptr;
  std::string text = offset > 0xFFFF0000U
                         ? bytes_text(0x100000000U - offset) + " before the start of shared memory"
                         : bytes_text(offset - shared_bytes) + " past the end of shared memory";
  if (before != nullptr) text += ", beyond array " + plain_name(before->name);
  return text;
}

std::string describe_global(const DeviceMemory& memory, std::uint64_t address, unsigned bytes) {
  const Allocation* allocation = memory.find(address, 1);
  if (allocation == nullptr) allocation = memory.nearest(address);
  if (address < 65536) return "address " + std::to_string(address) + ", a null pointer";
  constexpr std::uint64_t kArena = std::uint64_t{1} << 40;
  if (address < kDeviceBase || address - kDeviceBase >= kArena) {
    return "an address far from any allocation: it is no address of device memory, but may be one "
           "of the host's (kernels see memory from cudaHostAlloc, not from cudaHostRegister)";
  }
  if (allocation == nullptr) return "an address where nothing was ever allocated";
  const std::string name = allocation_name(*allocation);
  const std::uint64_t end = allocation->base + allocation->bytes;
  if (address >= allocation->base && address < end) {
    std::string place = "byte " + std::to_string(address - allocation->base) + " of " + name;
    if (!allocation->live) return place + ", which has been freed";
    if (allocation->read_only) return place + ", which is constant";
    if (address + bytes > end) {
      return place + ", and reaches " + bytes_text(address + bytes - end) + " past its end";
    }
    return place;
  }
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  if (address >= end) {
    if (address - end > kFar) return "an address far from any allocation";
    return bytes_text(address - end) + " past the end of " + name;
  }
  if (allocation->base - address > kFar) return "an address far from any allocation";
  return bytes_text(allocation->base - address) + " before the start of " + name;
}

bool is_of_a_library(const RawFinding& raw, const KernelInfo& kernel) {
  return std::strcmp(raw.code, "RL0206") == 0 &&
         (kernel.name.starts_with("_ZN3cub") || kernel.name.starts_with("_ZN6thrust"));
}

bool is_only_guessed(const RawFinding& raw, const KernelInfo& kernel) {
  if (std::strcmp(raw.code, "RL0304") != 0) return false;
  const auto guesses = [&](AccessKind kind, std::uint32_t pc, AccessKind other) {
    return kind == AccessKind::load && other == AccessKind::atomic &&
           pc < kernel.instructions.size() && kernel.instructions[pc].meets_atomics;
  };
  return guesses(raw.kind, raw.pc, raw.other_kind) ||
         guesses(raw.other_kind, raw.other_pc, raw.kind);
}

Finding to_finding(const RawFinding& raw, const LoweredKernel& kernel, const DeviceMemory& memory,
                   const Dim3& grid, const Dim3& block, std::uint32_t shared_bytes) {
  const Space space = space_of(raw);
  Finding finding;
  finding.code = raw.code;
  finding.kind = kind_of(raw.code);
  finding.kernel = kernel.info.name;
  finding.occurrences = raw.occurrences;
  finding.unless_returned = raw.unless_returned;
  const auto fill = [&](AccessSite& site, std::uint64_t in_block, std::uint16_t warp,
                        std::uint8_t lane) {
    site.block = coordinates(in_block, grid);
    site.thread = coordinates(std::uint64_t{warp} * kWarpSize + lane, block);
    site.warp = warp;
  };
  finding.where = site_of(kernel.info, raw.pc);
  fill(finding.where, raw.block, raw.warp, raw.lane);
  const auto actions =
      space == Space::lanes
          ? actions_of_lanes(raw)
          : std::pair{describe_access(raw.kind, raw.bytes, space_name(space)),
                      describe_access(raw.other_kind, raw.bytes, space_name(space))};
  finding.where.action = space == Space::registers ? "uses what was never set" : actions.first;
  if (raw.has_other) {
    finding.other = site_of(kernel.info, raw.other_pc);
    fill(*finding.other, raw.other_block, raw.other_warp, raw.other_lane);
    finding.other->action = actions.second;
  }
  switch (space) {
    case Space::global:
      finding.object = describe_global(memory, raw.address, raw.bytes);
      break;
    case Space::shared:
      finding.object = describe_shared(kernel, raw.address, shared_bytes);
      if (finding.kind == FindingKind::out_of_bounds) {
        finding.object = describe_outside(raw, kernel.info, finding.object);
      }
      break;
    case Space::lanes:
      finding.object =
          "lane " + std::to_string(raw.address) + " of warp " + std::to_string(raw.warp);
      if (raw.lane_fault == LaneFault::not_at_barrier) {
        const Dim3 absent = coordinates(std::uint64_t{raw.warp} * kWarpSize + raw.address, block);
        finding.object = "thread (" + std::to_string(absent.x) + "," + std::to_string(absent.y) +
                         "," + std::to_string(absent.z) + ")";
      }
      break;
    case Space::registers:
      break;
    case Space::local:
      finding.object = "byte " + std::to_string(raw.address) + " of the thread's local memory";
      break;
  }
  finding.message = sentence(raw, finding.object);
  return finding;
}

}  // namespace simgpu
