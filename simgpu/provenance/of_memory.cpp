#include <algorithm>
#include <cstring>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/fragment.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/matrix_tile.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/provenance/provenance.h"

/// Provenance of loads, stores, atomics, and matrices between memory and registers.
namespace simgpu {
namespace {

/// Of an instruction whose addresses take 64 bits.
bool is_wide(OriginSpace space) {
  return space == OriginSpace::global || space == OriginSpace::generic;
}

/// A lane's value in a register's slot, as the access of `bytes` sees it.
std::uint64_t value_in(const Warp& warp, std::uint32_t offset, unsigned lane, unsigned bytes) {
  if (bytes == sizeof(std::uint64_t)) return slot<std::uint64_t>(warp, offset)[lane];
  const std::uint32_t value = slot<std::uint32_t>(warp, offset)[lane];
  return bytes == kOriginHalf ? value & 0xFFFF : value;
}

}  // namespace

Provenance::Place Provenance::place_of(OriginSpace space, std::uint64_t address) {
  if (space != OriginSpace::generic) return {space, address};
  if (address - kSharedWindow < kWindowBytes) return {OriginSpace::shared, address - kSharedWindow};
  if (address - kLocalWindow < kWindowBytes) return {OriginSpace::local, address - kLocalWindow};
  return {OriginSpace::global, address};
}

bool Provenance::is_shared_with_host(std::uint64_t address) const {
  if (memory_ == nullptr || !memory_->shares_memory()) return false;
  const Allocation* const allocation = memory_->find(address);
  return allocation != nullptr && allocation->sharing != Sharing::none;
}

/// Bytes that no kernel has stored to become those of a load.
OriginSet Provenance::outside(Event& event, std::uint64_t address, unsigned bytes) {
  if (!event.number) event.number = sets_.add(event.load);
  if (!event.number) return OriginSets::kUnknown;
  return sets_.raw(
      {*event.number, static_cast<std::uint32_t>(address - event.load.address), bytes});
}

ValueOrigins Provenance::load_global(Event& event, std::uint64_t address, unsigned bytes) {
  if (is_shared_with_host(address)) return OriginSets::kUnknown;
  const ValueOrigins stored = global_.load(values_, address, bytes);
  if (stored == OriginSets::kOutside) return outside(event, address, bytes);
  if (!values_.has(stored, OriginSets::kOutside, bytes)) return stored;
  ByteOrigins::Bytes all{};
  for (unsigned at = 0; at < bytes; ++at) {
    all[at] = values_.byte(stored, at);
    if (all[at] == OriginSets::kOutside) all[at] = outside(event, address + at, 1);
  }
  return values_.value(all, bytes);
}

ValueOrigins Provenance::load(Event& event, BlockOrigins& block, std::uint32_t warp, unsigned lane,
                              const Place& place, unsigned bytes) {
  switch (place.space) {
    case OriginSpace::shared:
      return block.shared.load(values_, place.address, bytes);
    case OriginSpace::local:
      return block.warps[warp].local(lane).load(values_, place.address, bytes);
    case OriginSpace::frame:
      return block.warps[warp].frame(lane).load(values_, place.address, bytes);
    case OriginSpace::parameter:
      return host_knows_ ? OriginSets::kUnknown : OriginSets::kNone;
    default:
      return load_global(event, place.address, bytes);
  }
}

void Provenance::store(const Site& site, BlockOrigins& block, std::uint32_t warp, unsigned lane,
                       const Place& place, unsigned bytes, ValueOrigins value) {
  switch (place.space) {
    case OriginSpace::shared:
      return block.shared.store(values_, place.address, bytes, value);
    case OriginSpace::local:
      return block.warps[warp].local(lane).store(values_, place.address, bytes, value);
    case OriginSpace::frame:
      return block.warps[warp].frame(lane).store(values_, place.address, bytes, value);
    default:
      host_knows_ = host_knows_ || is_shared_with_host(place.address);
      return global_.store(values_, place.address, bytes, value, note_of(site, lane));
  }
}

void Provenance::look_at_addresses(const Lowered& in, const Warp& warp,
                                   const InstructionOrigins& rule) {
  const bool wide = is_wide(rule.space);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    step_.addresses[lane] =
        wide ? slot<std::uint64_t>(warp, in.a)[lane] + static_cast<std::uint64_t>(in.immediate)
             : slot<std::uint32_t>(warp, in.a)[lane] + static_cast<std::uint32_t>(in.immediate);
  }
  if (rule.rule != OriginRule::atomic) return;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    step_.values[lane] = value_in(warp, in.b, lane, rule.bytes);
  }
}

void Provenance::access(const InstructionOrigins& rule, const Site& site, const Warp& warp,
                        std::uint32_t lanes) {
  BlockOrigins& block = block_of(warp);
  WarpOrigins& own = block.warps[warp.index];
  each_lane(lanes, [&](unsigned lane) {
    const Place place = place_of(rule.space, step_.addresses[lane]);
    Event event = event_of(site, lane, place.address);
    for (unsigned i = 0; i < rule.count; ++i) {
      const Place element{place.space, place.address + std::uint64_t{i} * rule.bytes};
      if (rule.rule == OriginRule::loaded) {
        own.set(rule.results[i], lane, load(event, block, warp.index, lane, element, rule.bytes));
      } else {
        store(site, block, warp.index, lane, element, rule.bytes, own.of(rule.operands[i])[lane]);
      }
    }
  });
}

/// Lanes one after the other, as they are executed. What `exch` and `cas` put in place of the old
/// value is the new one alone.
void Provenance::update(const InstructionOrigins& rule, const Lowered& in, const Site& site,
                        const Warp& warp, std::uint32_t lanes) {
  const std::string_view spelling = launch_->kernel.spellings[in.index];
  const bool exchanges = spelling.find(".exch.") != spelling.npos;
  const bool compares = spelling.find(".cas.") != spelling.npos;
  const bool in_halves = spelling.ends_with("f16x2");
  BlockOrigins& block = block_of(warp);
  WarpOrigins& own = block.warps[warp.index];
  each_lane(lanes, [&](unsigned lane) {
    const Place place = place_of(rule.space, step_.addresses[lane]);
    Event event = event_of(site, lane, place.address);
    const ValueOrigins old = load(event, block, warp.index, lane, place, rule.bytes);
    const ValueOrigins given = own.of(rule.operands[compares ? 1 : 0])[lane];
    ValueOrigins now = given;
    if (compares) {
      const bool swaps = value_in(warp, in.dst, lane, rule.bytes) == step_.values[lane];
      if (!swaps) now = old;
    } else if (in_halves) {
      now = halves_united(old, given);
    } else if (!exchanges) {
      now = sets_.unite(values_.used(old), values_.used(given));
    }
    store(site, block, warp.index, lane, place, rule.bytes, now);
    for (const std::uint32_t reg : rule.results) own.set(reg, lane, old);
  });
}

/// ldmatrix and stmatrix: of `count` matrices, lane 8i+r names the 16 bytes of row r of matrix i.
void Provenance::move_matrices(const InstructionOrigins& rule, const Lowered& in, const Site& site,
                               const Warp& warp) {
  const bool transposes = launch_->kernel.spellings[in.index].find(".trans") != std::string::npos;
  BlockOrigins& block = block_of(warp);
  WarpOrigins& own = block.warps[warp.index];
  Event event = event_of(site, 0, 0);
  for (unsigned i = 0; i < rule.count; ++i) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      ByteOrigins::Bytes halves{};
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned t = lane % kLanesPerRow * 2 + half, g = lane / kLanesPerRow;
        const unsigned row = transposes ? t : g, column = transposes ? g : t;
        const Place of_row = place_of(rule.space, step_.addresses[i * kBlockRows + row]);
        const Place at{of_row.space, of_row.address + std::uint64_t{column} * kOriginHalf};
        if (rule.rule == OriginRule::matrices_stored) {
          const ValueOrigins value =
              values_.part(own.of(rule.operands[i])[lane], half * kOriginHalf, kOriginHalf);
          store(site, block, warp.index, lane, at, kOriginHalf, value);
          continue;
        }
        const ValueOrigins value = load(event, block, warp.index, lane, at, kOriginHalf);
        for (unsigned k = 0; k < kOriginHalf; ++k) {
          halves[half * kOriginHalf + k] = values_.byte(value, k);
        }
      }
      if (rule.rule == OriginRule::matrices_loaded) {
        own.set(rule.results[i], lane, values_.value(halves, kOriginWord));
      }
    }
  }
}

/// wmma.load and wmma.store, element by element.
void Provenance::move_tile(const InstructionOrigins& rule, const Lowered& in, const Site& site,
                           const Warp& warp) {
  const MatrixTile tile = MatrixTile::decode(in.option);
  const bool loads = rule.rule == OriginRule::tile_loaded;
  const std::vector<std::uint32_t>& registers = loads ? rule.results : rule.operands;
  const OriginSpace space = tile.space == TileSpace::shared   ? OriginSpace::shared
                            : tile.space == TileSpace::global ? OriginSpace::global
                                                              : OriginSpace::generic;
  const std::uint64_t stride = std::uint64_t{step_.sources[0]} * bits_of(tile.type) / 8;
  // Elements of less than a byte are moved by bytes, and lie as they do in the fragment.
  const unsigned size = std::max(bits_of(tile.type) / 8, 1U);
  const unsigned lane_bytes = size == 8 ? 8 : kOriginWord;
  const unsigned row_bytes =
      (tile.is_turned() ? tile.lines() : tile.line_elements()) * bits_of(tile.type) / 8;
  BlockOrigins& block = block_of(warp);
  WarpOrigins& own = block.warps[warp.index];
  std::vector<ByteOrigins::Bytes> made(loads ? registers.size() * kWarpSize : 0);
  each_stretch(tile, [&](unsigned matrix, unsigned reg, unsigned in_slot, unsigned bytes) {
    for (unsigned at = 0; at < bytes; at += size) {
      const unsigned row = (matrix + at) / row_bytes, column = (matrix + at) % row_bytes / size;
      const std::uint64_t line = tile.is_turned() ? column : row;
      const std::uint64_t within = tile.is_turned() ? row : column;
      const Place place = place_of(space, step_.addresses[0] + line * stride + within * size);
      const unsigned lane = (in_slot + at) / lane_bytes, first = (in_slot + at) % lane_bytes;
      if (!loads) {
        store(site, block, warp.index, lane, place, size,
              values_.part(own.of(registers[reg])[lane], first, size));
        continue;
      }
      Event event = event_of(site, lane, place.address);
      const ValueOrigins value = load(event, block, warp.index, lane, place, size);
      for (unsigned k = 0; k < size; ++k) {
        made[reg * kWarpSize + lane][first + k] = values_.byte(value, k);
      }
    }
  });
  for (std::size_t i = 0; i < made.size(); ++i) {
    own.set(registers[i / kWarpSize], i % kWarpSize, values_.value(made[i], lane_bytes));
  }
}

}  // namespace simgpu
