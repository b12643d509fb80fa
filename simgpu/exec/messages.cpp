#include "simgpu/exec/messages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include "simgpu/exec/places.h"

namespace simgpu {
namespace {

Dim3 coordinates(std::uint64_t index, const Dim3& shape) {
  return {static_cast<std::uint32_t>(index % shape.x),
          static_cast<std::uint32_t>(index / shape.x % shape.y),
          static_cast<std::uint32_t>(index / shape.x / shape.y)};
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

/// A race of two threads of a block, with what to know where both are of one warp.
std::string of_two_threads(const RawFinding& raw, std::string race) {
  if (!is_within_warp(raw)) return race;
  return std::move(race) +
         ". Both threads are of one warp: its threads need not run in step (on GPUs of 2017 and "
         "later, from Volta on), so __syncwarp() has to stand between the two accesses";
}

std::string sentence_of_overwriting(const RawFinding& raw, const std::string& object) {
  return of_two_threads(
      raw, "One thread overwrites " + object + " while another may still need the old value");
}

std::string sentence_of_early_read(const RawFinding& raw, const std::string& object) {
  return of_two_threads(raw, "A thread reads " + object +
                                 " in the same barrier interval in which another thread writes it");
}

std::string sentence_of_two_stores(const RawFinding& raw, const std::string& object) {
  return of_two_threads(
      raw, "Two threads store different values to " + object + " without a barrier between them");
}

std::string sentence_of_threads(const RawFinding& raw, const std::string& object) {
  const bool by_atomic = raw.kind == AccessKind::atomic || raw.other_kind == AccessKind::atomic;
  return of_two_threads(raw,
                        "Two threads of a block touch " + object + ", at least one of them with " +
                            (by_atomic ? "an atomic" : "a store") + ", and no barrier orders them");
}

std::string sentence_of_early_touch(const RawFinding&, const std::string& object) {
  return "A thread touches " + object +
         " before the asynchronous copy into it is known to be done: the thread that copies has "
         "to wait for it, and for others a barrier has to follow";
}

std::string sentence_of_stale_load(const RawFinding&, const std::string& object) {
  return "A thread loads " + object +
         " as memory that is constant, and the same launch has stored there before: the caches "
         "for constant memory do not see that, whatever barriers lie between";
}

std::string sentence_of_forgotten(const RawFinding& raw, const std::string&) {
  return "Between two barriers a block touches more global memory than the race checker keeps in "
         "mind: it forgot " +
         std::to_string(raw.occurrences) +
         " windows of 512 bytes, and has not looked for races of the block's threads in these";
}

std::string sentence_of_bounds(const RawFinding&, const std::string& object) {
  return "A shared-memory access is out of bounds: it is at " + object;
}

std::string sentence_of_unwritten(const RawFinding& raw, const std::string& object) {
  if (raw.unwritten_count > 0 && raw.unwritten_count < raw.bytes) {
    return "A thread reads " + bytes_text(raw.bytes) + ", and nothing has written " +
           std::to_string(raw.unwritten_count) + " of them before: the first is " + object;
  }
  return "A thread reads " + bytes_text(raw.bytes) + " that nothing has written before: " + object;
}

std::string sentence_of_unset(const RawFinding&, const std::string&) {
  return "A thread uses a variable that it has not given a value: what it holds is undefined";
}

enum class Space : std::uint8_t { global, shared, local, lanes, registers };

/// What the checkers tell of, and how it is told.
struct Told {
  Code code;
  Space space;
  std::string (*sentence)(const RawFinding& raw, const std::string& object);
};
constexpr std::array kTold{
    Told{"RL0202", Space::shared, sentence_of_bounds},
    Told{"RL0205", Space::global, sentence_of_unwritten},
    Told{"RL0206", Space::shared, sentence_of_unwritten},
    Told{"RL0208", Space::local, sentence_of_unwritten},
    Told{"RL0211", Space::registers, sentence_of_unset},
    Told{"RL0301", Space::shared, sentence_of_overwriting},
    Told{"RL0302", Space::shared, sentence_of_early_read},
    Told{"RL0303", Space::shared, sentence_of_two_stores},
    Told{"RL0304", Space::global, sentence_of_blocks},
    Told{"RL0305", Space::lanes, sentence_of_lanes},
    Told{"RL0313", Space::shared, sentence_of_early_touch},
    Told{"RL0316", Space::global, sentence_of_threads},
    Told{"RL0318", Space::global, sentence_of_stale_load},
    Told{"RL0615", Space::global, sentence_of_forgotten},
};

const Told& told(Code code) {
  const auto found = std::ranges::find(kTold, code, &Told::code);
  if (found == kTold.end()) {
    throw std::logic_error("messages.cpp has no words for " + code.text());
  }
  return *found;
}

const char* space_name(Space space) {
  return space == Space::global   ? "global memory"
         : space == Space::shared ? "shared memory"
                                  : "local memory";
}

FindingDetail detail_of(LaneFault fault) {
  switch (fault) {
    case LaneFault::exited_source:
      return FindingDetail::returned_lane;
    case LaneFault::no_source:
      return FindingDetail::missing_lane;
    case LaneFault::unnamed_source:
    case LaneFault::unnamed_caller:
    case LaneFault::not_here:
      return FindingDetail::lanes_apart;
    case LaneFault::not_at_barrier:
      return FindingDetail::none;
  }
  return FindingDetail::none;
}

/// The place in the array from whose address a shared access's own is computed, which it has left;
/// without words where that array is not known.
ArrayPlace place_outside(const RawFinding& raw, const KernelInfo& kernel) {
  const std::uint32_t number = kernel.instructions.at(raw.pc).shared_array;
  if (number == 0) return {};
  const KernelInfo::SharedArray& array = kernel.shared_arrays.at(number - 1);
  const auto offset = static_cast<std::int64_t>(raw.address) - std::int64_t{array.offset};
  const std::string name = "shared array " + plain_name(array.name);
  const bool are_elements =
      raw.bytes != 0 && offset % raw.bytes == 0 && array.bytes % raw.bytes == 0;
  return {.space = ArraySpace::shared,
          .name = plain_name(array.name),
          .words = are_elements ? "index " + std::to_string(offset / raw.bytes) + " of " + name +
                                      ", which has " + std::to_string(array.bytes / raw.bytes) +
                                      " elements of " + bytes_text(raw.bytes)
                                : "byte " + std::to_string(offset) + " of " + name + " (" +
                                      bytes_text(array.bytes) + ")",
          .bytes = array.bytes,
          .offset = offset,
          .touched = raw.bytes};
}

/// The lane that is asked or waited for.
Place place_of_lane(const RawFinding& raw, const Dim3& block) {
  const FindingDetail detail = detail_of(raw.lane_fault);
  if (raw.lane_fault != LaneFault::not_at_barrier) {
    return {"lane " + std::to_string(raw.address) + " of warp " + std::to_string(raw.warp), "",
            detail};
  }
  const Dim3 absent = coordinates(std::uint64_t{raw.warp} * kWarpSize + raw.address, block);
  return {"thread (" + std::to_string(absent.x) + "," + std::to_string(absent.y) + "," +
              std::to_string(absent.z) + ")",
          "", detail};
}

/// Where just the first bytes of an allocation have been written: ", of which only the first 32
/// bytes have been written".
std::string written_part(const DeviceMemory& memory, std::uint64_t address) {
  const Allocation* const allocation = memory.find(address, 1);
  if (allocation == nullptr || address == allocation->base) return {};
  const std::uint64_t written = address - allocation->base;
  const std::uint64_t left = allocation->bytes - written;
  if (!memory.is_initialized(allocation->base, written)) return {};
  if (memory.unwritten(address, left).bytes != left) return {};
  std::string words = ", of which only the first " + bytes_text(written) + " have been written";
  for (const std::uint64_t size : {2, 4, 8, 16}) {
    if (written * size == allocation->bytes) {
      words +=
          ": 1/" + std::to_string(size) + " of it, as where elements are counted and not bytes";
    }
  }
  return words;
}

Place place_in_local(const RawFinding& raw, const KernelInfo& kernel) {
  const std::uint64_t at = raw.address + raw.unwritten_first;
  Place place{"byte " + std::to_string(at) + " of the thread's local memory"};
  place.array = {.space = ArraySpace::local,
                 .words = place.words,
                 .bytes = kernel.local_bytes_per_thread,
                 .offset = static_cast<std::int64_t>(at),
                 .touched = raw.bytes};
  return place;
}

/// What a finding is about.
Place place_of(const RawFinding& raw, Space space, const LoweredKernel& kernel,
               const DeviceMemory& memory, const Dim3& block, std::uint32_t shared_bytes) {
  switch (space) {
    case Space::global: {
      const unsigned bytes = raw.bytes - raw.unwritten_first;
      Place place = place_in_global(memory, raw.address + raw.unwritten_first, bytes);
      if (raw.code == "RL0205") {
        place.words += written_part(memory, raw.address + raw.unwritten_first);
        place.array.words = place.words;
      }
      place.array.touched = raw.bytes;
      if (raw.lacks_fence) place.detail = FindingDetail::lacks_fence;
      return place;
    }
    case Space::shared: {
      Place place = place_in_shared(kernel, raw.address + raw.unwritten_first, shared_bytes);
      place.array.touched = raw.bytes;
      return place;
    }
    case Space::lanes:
      return place_of_lane(raw, block);
    case Space::local:
      return place_in_local(raw, kernel.info);
    case Space::registers:
      return {};
  }
  return {};
}

/// What the two sides of a finding do.
/// @param other_bytes of the other side's access
std::pair<std::string, std::string> actions_of(const RawFinding& raw, Space space,
                                               unsigned other_bytes) {
  if (space == Space::lanes) return actions_of_lanes(raw);
  if (space == Space::registers) return {"uses what was never set", ""};
  return {describe_access(raw.kind, raw.bytes, space_name(space)),
          describe_access(raw.other_kind, other_bytes, space_name(space))};
}

/// Of the other side of a race; as the first one's where its instruction does not tell.
unsigned other_bytes_of(const RawFinding& raw, const KernelInfo& kernel) {
  constexpr unsigned kMost = 16;
  if (!raw.has_other || raw.other_pc >= kernel.instructions.size()) return raw.bytes;
  const unsigned bytes = kernel.instructions[raw.other_pc].access_bytes;
  return std::has_single_bit(bytes) && bytes <= kMost ? bytes : raw.bytes;
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

bool is_of_a_library(const RawFinding& raw, const KernelInfo& kernel) {
  return raw.code == "RL0206" &&
         (kernel.name.starts_with("_ZN3cub") || kernel.name.starts_with("_ZN6thrust"));
}

bool is_only_guessed(const RawFinding& raw, const KernelInfo& kernel) {
  if (raw.code != "RL0304") return false;
  const auto guesses = [&](AccessKind kind, std::uint32_t pc, AccessKind other) {
    return kind == AccessKind::load && other == AccessKind::atomic &&
           pc < kernel.instructions.size() && kernel.instructions[pc].meets_atomics;
  };
  return guesses(raw.kind, raw.pc, raw.other_kind) ||
         guesses(raw.other_kind, raw.other_pc, raw.kind);
}

Finding to_finding(const RawFinding& raw, const LoweredKernel& kernel, const DeviceMemory& memory,
                   const Dim3& grid, const Dim3& block, std::uint32_t shared_bytes) {
  const Told& words = told(raw.code);
  const unsigned other_bytes = other_bytes_of(raw, kernel.info);
  const auto site = [&](std::uint32_t pc, std::uint64_t in_block, std::uint16_t warp,
                        std::uint8_t lane, bool knows_thread, std::string action, AccessKind kind) {
    AccessSite at = site_of(kernel.info, pc);
    const std::uint64_t thread = std::uint64_t{warp} * kWarpSize + lane;
    at.block = coordinates(in_block, grid);
    at.knows_thread = knows_thread && thread < block.count();
    at.thread = coordinates(thread, block);
    at.warp = warp;
    at.action = std::move(action);
    at.writes = kind == AccessKind::store;
    return at;
  };
  auto [action, other_action] = actions_of(raw, words.space, other_bytes);
  Place place = place_of(raw, words.space, kernel, memory, block, shared_bytes);
  Finding finding;
  finding.code = raw.code;
  finding.detail = place.detail;
  finding.kernel = kernel.info.name;
  finding.occurrences = raw.occurrences;
  finding.unless_returned = raw.unless_returned;
  finding.where =
      site(raw.pc, raw.block, raw.warp, raw.lane, raw.knows_thread, std::move(action), raw.kind);
  if (raw.has_other) {
    finding.other = site(raw.other_pc, raw.other_block, raw.other_warp, raw.other_lane,
                         raw.other_knows_thread, std::move(other_action), raw.other_kind);
  }
  const bool is_of_memory =
      words.space == Space::global || words.space == Space::shared || words.space == Space::local;
  if (is_of_memory) {
    finding.where.bytes = raw.bytes;
    if (finding.other) finding.other->bytes = other_bytes;
  }
  if (raw.parted_pc != kNoBranch) {
    const AccessSite branch = site_of(kernel.info, raw.parted_pc);
    if (branch.line > 0) {
      finding.also.push_back(
          {branch.file, branch.line, "here it is decided which threads go this way"});
    }
  }
  if (place.array.space != ArraySpace::none) finding.places.push_back(place.array);
  if (raw.code == "RL0202") {
    if (ArrayPlace outside = place_outside(raw, kernel.info); !outside.words.empty()) {
      const bool are_elements = outside.words.starts_with("index ");
      place.words = outside.words + (are_elements ? ", and touches " : ", which is ") + place.words;
      finding.places.push_back(std::move(outside));
    }
  }
  finding.message = words.sentence(raw, place.words);
  finding.object = std::move(place.words);
  finding.name = std::move(place.name);
  return finding;
}

}  // namespace simgpu
