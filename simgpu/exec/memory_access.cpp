#include "simgpu/exec/memory_access.h"

#include "simgpu/counters/bank_conflicts.h"
#include "simgpu/exec/places.h"

namespace simgpu {
namespace {

/// Whether a kernel may access it so: constant loads have an address space of their own.
bool is_within_reach(const Allocation* allocation, AccessKind kind, bool of_constants) {
  if (allocation == nullptr) return false;
  return of_constants ? allocation->read_only : kind == AccessKind::load || !allocation->read_only;
}

template <class Bad>
unsigned first_lane(std::uint32_t mask, Bad bad) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    if (bad(lane)) return lane;
  }
  return static_cast<unsigned>(__builtin_ctz(mask));
}

std::string misaligned_message(unsigned bytes, const char* space, std::uint64_t address) {
  const std::string size = std::to_string(bytes);
  return "An access of " + size + " bytes to " + space + " memory must be at a multiple of " +
         size + ", but this one is " + std::to_string(address % bytes) + " bytes past one";
}

/// How much shared memory there is, and whose number that is.
std::string room_in_shared(const ThreadBlock& block, const Place& place) {
  if (place.array.space != ArraySpace::dynamic_shared) {
    return ", and the block has " + bytes_text(block.memory.shared_bytes());
  }
  std::string room = ", and the launch gives " + bytes_text(place.array.bytes) +
                     " of dynamic shared memory, its third argument";
  if (place.array.bytes == block.launch.request.block.count()) {
    room += ", which is as many as the block has threads";
  }
  return room;
}

}  // namespace

void fail_shared(const Lowered* in, const Warp& warp, AccessKind kind, unsigned bytes,
                 const LaneAddresses& addresses) {
  const ThreadBlock& block = *warp.block;
  const auto outside = [&](unsigned lane) {
    return addresses[lane] + bytes > block.memory.shared_bytes();
  };
  const auto misaligned = [&](unsigned lane) { return addresses[lane] % bytes != 0; };
  const unsigned lane =
      first_lane(warp.mask, [&](unsigned i) { return outside(i) || misaligned(i); });
  Place place = place_in_shared(block.launch.kernel, addresses[lane], block.memory.shared_bytes());
  place.array.touched = bytes;
  const std::string action = describe_access(kind, bytes, "shared memory");
  if (outside(lane)) {
    if (place.array.space == ArraySpace::dynamic_shared) {
      place.detail = FindingDetail::past_dynamic_shared;
    }
    block.failures.fail(in, warp, lane,
                        {.code = "RL0202",
                         .message = "A shared-memory access is out of bounds: it is at " +
                                    place.words + room_in_shared(block, place),
                         .action = action,
                         .place = place});
  }
  block.failures.fail(in, warp, lane,
                      {.code = "RL0204",
                       .message = misaligned_message(bytes, "shared", addresses[lane]),
                       .action = action,
                       .place = place});
}

void fail_local(const Lowered* in, const Warp& warp, AccessKind kind, unsigned bytes, unsigned lane,
                std::uint64_t address) {
  const ThreadBlock& block = *warp.block;
  const std::string action = describe_access(kind, bytes, "local memory");
  Place place{"byte " + std::to_string(address) + " of " +
              std::to_string(block.memory.local_bytes()) + " bytes of local memory"};
  place.array = {.space = ArraySpace::local,
                 .words = place.words,
                 .bytes = block.memory.local_bytes(),
                 .offset = static_cast<std::int64_t>(address),
                 .touched = bytes};
  if (address + bytes > block.memory.local_bytes()) {
    block.failures.fail(
        in, warp, lane,
        {.code = "RL0203",
         .message = "An access to a thread's own array is out of bounds: it is at " + place.words,
         .action = action,
         .place = place});
  }
  block.failures.fail(in, warp, lane,
                      {.code = "RL0204",
                       .message = misaligned_message(bytes, "local", address),
                       .action = action,
                       .place = place});
}

namespace {

/// How far the addresses of the next threads along x and y lie from a lane's, where these threads
/// are in its warp and make the same access.
void note_steps(ArrayPlace& array, const Warp& warp, unsigned lane,
                const LaneAddresses& addresses) {
  const std::uint32_t width = warp.block->launch.request.block.x;
  const auto step_to = [&](std::uint64_t other) -> std::int64_t {
    if (other >= kWarpSize || (warp.mask >> other & 1U) == 0) return 0;
    return static_cast<std::int64_t>(addresses[other] - addresses[lane]);
  };
  const std::uint64_t x = (std::uint64_t{warp.index} * kWarpSize + lane) % width;
  if (x + 1 < width) {
    array.step_x = step_to(lane + 1U);
  } else if (x > 0 && lane > 0) {
    array.step_x = -step_to(lane - 1U);
  }
  array.step_y = step_to(std::uint64_t{lane} + width);
  if (array.step_y == 0 && lane >= width) array.step_y = -step_to(lane - width);
}

}  // namespace

void fail_global(const Lowered* in, const Warp& warp, AccessKind kind, unsigned bytes,
                 const LaneAddresses& addresses, bool of_constants) {
  const ThreadBlock& block = *warp.block;
  const DeviceMemory& memory = block.launch.memory;
  const auto outside = [&](unsigned lane) {
    return !is_within_reach(memory.find(addresses[lane], bytes), kind, of_constants);
  };
  const auto misaligned = [&](unsigned lane) { return addresses[lane] % bytes != 0; };
  const unsigned lane =
      first_lane(warp.mask, [&](unsigned i) { return outside(i) || misaligned(i); });
  const char* space = of_constants ? "constant" : "global";
  Place place = place_in_global(memory, addresses[lane], bytes);
  note_steps(place.array, warp, lane, addresses);
  const std::string action =
      describe_access(kind, bytes, of_constants ? "constant memory" : "global memory");
  if (outside(lane)) {
    block.failures.fail(in, warp, lane,
                        {.code = "RL0201",
                         .message = std::string("A ") + space +
                                    "-memory access is out of bounds: it is at " + place.words,
                         .action = action,
                         .place = place});
  }
  block.failures.fail(in, warp, lane,
                      {.code = "RL0204",
                       .message = misaligned_message(bytes, space, addresses[lane]),
                       .action = action,
                       .place = place});
}

void check_global(const Lowered* in, Warp& warp, SitePattern<std::uint64_t>& site, AccessKind kind,
                  unsigned bytes, const LaneAddresses& addresses, bool of_constants) {
  const DeviceMemory& memory = warp.block->launch.memory;
  const Allocation* last = nullptr;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t address = addresses[lane];
    if (last != nullptr && address >= last->base && address - last->base + bytes <= last->bytes) {
      continue;
    }
    last = memory.find(address, bytes);
    if (!is_within_reach(last, kind, of_constants)) {
      fail_global(in, warp, kind, bytes, addresses, of_constants);
    }
  }
  site.known_low = last->base;
  site.known_high = last->base + last->bytes;
  site.known_writable = !last->read_only;
}

void save_pages(Warp& warp, const SitePattern<std::uint64_t>& site, unsigned bytes,
                const LaneAddresses& addresses) {
  DeviceMemory& memory = warp.block->launch.memory;
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t low = addresses[site.first] + static_cast<std::uint64_t>(site.low);
  const std::uint64_t high = addresses[site.first] + static_cast<std::uint64_t>(site.high) - 1;
  if (high - low < kPage) {
    memory.save_page(low);
    memory.save_page(high);
    return;
  }
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    memory.save_page(addresses[lane]);
    memory.save_page(addresses[lane] + bytes - 1);
  }
}

void note_first(const Lowered* in, Warp& warp, const LaneAddresses& addresses, unsigned bytes,
                bool is_shared) {
  ThreadBlock& block = *warp.block;
  block.sites.note_first(in, {.block = block.position.block(),
                              .warp = warp.index,
                              .mask = warp.mask,
                              .bytes = bytes,
                              .is_shared = is_shared,
                              .address = addresses});
}

void learn_shared(const Lowered* in, Warp& warp, AccessKind kind, const std::uint32_t* base,
                  std::int64_t offset, unsigned bytes) {
  SitePattern<std::uint32_t>& site = warp.block->sites.shared(in);
  site.learn(base, warp.mask, bytes);
  LaneAddresses addresses;
  add_offset(addresses, base, offset);
  if (warp.block->sites.lacks_first(in)) note_first(in, warp, addresses, bytes, true);
  const SharedWavefronts count =
      shared_wavefronts({kind, static_cast<std::uint8_t>(bytes), warp.index, in->index, warp.mask,
                         &addresses, nullptr, false});
  site.wavefronts = count.wavefronts;
  site.ideal = count.ideal;
}

}  // namespace simgpu
