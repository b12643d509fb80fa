#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "simgpu/checkers/lane_pattern.h"
#include "simgpu/counters/lines_under_way.h"
#include "simgpu/counters/request_sectors.h"
#include "simgpu/counters/sector_cache.h"
#include "simgpu/counters/traffic.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

constexpr std::uint32_t kL1Ways = 4;
/// The texture units of an SM, each of which fetches or filters for a lane and cycle: 432 of the
/// 108 SMs of an A100, 288 of the 72 of a TU102 (NVIDIA's white papers on these architectures).
constexpr std::uint64_t kTextureUnits = 4;
/// Sectors; of further ones every load is logged.
constexpr std::size_t kMostReadInPart = std::size_t{1} << 20;

/// The words in which at least one byte of `bytes` (one bit per byte of a sector) lies.
std::uint8_t words_of(std::uint32_t bytes) {
  if (bytes == ~std::uint32_t{0}) return 0xff;
  std::uint32_t words = 0;
  for (std::uint32_t word = 0; word < kWordsPerSector; ++word) {
    if ((bytes >> (kWordBytes * word) & 0xfU) != 0) words |= 1U << word;
  }
  return static_cast<std::uint8_t>(words);
}

/// All bytes of `words`: the inverse of words_of where no word is touched in part.
std::uint32_t bytes_of(std::uint8_t words) {
  if (words == 0xff) return ~std::uint32_t{0};
  std::uint32_t bytes = 0;
  for (std::uint32_t word = 0; word < kWordsPerSector; ++word) {
    if ((words >> word & 1U) != 0) bytes |= 0xfU << (kWordBytes * word);
  }
  return bytes;
}

/// Sectors side by side of which the same words are touched.
struct SectorRun {
  std::uint64_t first;
  std::uint8_t count;
  std::uint8_t words;
  std::uint8_t lane;  ///< the first that touches them
  Kind kind;
  bool is_in_lane_order = true;
};

/// Who asks.
struct Requester {
  std::uint32_t pc;
  std::uint16_t warp;
  std::uint8_t bytes;  ///< per lane
};

}  // namespace

struct BlockTraffic::State {
  State(std::uint64_t l1_bytes, std::size_t most)
      : l1(l1_bytes, kL1Ways), most_entries(most), under_way(l1.lines()) {}

  void begin_request(std::uint16_t warp, std::uint64_t slots, std::uint64_t time) {
    run_open = goes_to_l2 = is_beyond_l1 = is_of_recent = false;
    asking = {warp, slots, time, asking.number + 1};
  }
  void look_for(std::uint32_t pc, std::uint64_t line);
  void find(std::uint32_t pc, std::uint64_t line, std::uint32_t sectors);
  void note_beyond_l1(std::uint32_t pc);
  LoadsOfWarp& own(std::uint32_t pc) { return of_warp(pc, asking.warp); }
  LoadsOfWarp& of_warp(std::uint32_t pc, std::size_t warp);
  void add_loads_of_block();
  void append(const WarpAccess& access, const RequestedSector& sector, Kind kind);
  void append_run(const Requester& from, const SectorRun& run);
  void load(const WarpAccess& access, const RequestSectors& request);
  void load_words(const Requester& from, std::uint64_t offset, std::uint64_t bytes,
                  std::uint32_t step);
  bool reads_more(const RequestedSector& sector, std::uint32_t words, std::uint32_t present);

  SectorCache l1;
  const std::size_t most_entries;
  LoadCountsByPc loads;  ///< of finished blocks
  AccessCountsByPc accesses;
  std::vector<LoadsOfWarps> of_block;
  std::vector<std::uint32_t> place_of_pc;  ///< in of_block, plus one; 0: none
  LinesUnderWay under_way;
  LinesUnderWay::Request asking;
  std::uint64_t longest_wait = 0;  ///< of the loads since the last take_wait()
  std::unique_ptr<Log> log = std::make_unique<Log>();
  /// The bytes read of sectors that the block did not read in whole words.
  std::unordered_map<std::uint64_t, std::uint32_t> read_in_part;
  AtomicUses atomics;
  std::size_t expected_entries = 0;
  std::uint64_t next_sector = 0;  // behind the request's newest run, to extend it
  bool run_open = false;
  bool goes_to_l2 = false;    ///< something of the request that is being logged
  bool is_beyond_l1 = false;  ///< that request waits for more than L1
  bool is_of_recent = false;  ///< it asks for a line that its warp may be waiting for
  std::size_t fenced = 0;     ///< entries before the last fence
};

void BlockTraffic::State::append(const WarpAccess& access, const RequestedSector& sector,
                                 Kind kind) {
  const Requester from{access.pc, access.warp, access.bytes};
  const std::uint8_t words = words_of(sector.bytes);
  const SectorRun run{sector.number, 1, words, sector.lane, kind, sector.is_in_lane_order};
  if (sector.bytes == bytes_of(words)) {
    append_run(from, run);
    return;
  }
  run_open = false;
  append_run(from, run);
  if (!run_open) return;  // only counted
  run_open = false;
  TrafficEntry& narrow = log->entries.emplace_back();
  narrow.set_sector(sector.bytes);
  narrow.kind = Kind::bytes;
}

/// Sectors of which the same words are touched; they lengthen the request's newest entry where they
/// can.
void BlockTraffic::State::append_run(const Requester& from, const SectorRun& run) {
  const bool opens = !goes_to_l2 && is_request(run.kind);
  if (opens) goes_to_l2 = true;
  if (is_load(run.kind)) {
    const auto first = static_cast<std::uint32_t>(run.first % kSectorsPerLine);
    note_beyond_l1(from.pc);
    under_way.fetch(run.first / kSectorsPerLine, bit_range(first, first + run.count - 1), asking);
    longest_wait = std::max(longest_wait, kCyclesBeyondL1);
  }
  std::vector<TrafficEntry>& entries = log->entries;
  if (run_open && !entries.empty()) {
    TrafficEntry& open = entries.back();
    if (run.first == next_sector && open.kind == run.kind && open.words == run.words) {
      const bool follows = run.is_in_lane_order && run.lane == open.lane_of_sector(open.count);
      open.mixes = open.mixes != 0 || !follows;
      open.count = static_cast<std::uint8_t>(open.count + run.count);
      next_sector += run.count;
      return;
    }
  }
  if (entries.size() >= most_entries) {
    const Kind kind = run.kind;
    if (is_load(kind)) log->unlogged_reads += run.count;
    if (kind == Kind::store || kind == Kind::strong_store || kind == Kind::atomic) {
      log->unlogged_writes += run.count;
    }
    run_open = false;
    return;
  }
  TrafficEntry& entry = entries.emplace_back();
  entry.set_sector(run.first);
  entry.pc = from.pc;
  entry.warp = from.warp;
  entry.count = run.count;
  entry.words = run.words;
  entry.kind = run.kind;
  entry.lane = run.lane & 0x1f;
  entry.mixes = !run.is_in_lane_order;
  entry.opens = opens;
  entry.access_bytes = from.bytes;
  next_sector = run.first + run.count;
  run_open = true;
}

void BlockTraffic::State::load(const WarpAccess& access, const RequestSectors& request) {
  for (std::size_t i = 0; i < request.count; ++i) {
    const RequestedSector& sector = request.sectors[i];
    look_for(access.pc, sector.number / kSectorsPerLine);
    if (access.orders_blocks()) {
      append(access, sector, Kind::strong_load);
      continue;
    }
    if (access.bypasses_l1) {
      append(access, sector, Kind::load);
      continue;
    }
    const std::uint64_t line = sector.number / kSectorsPerLine;
    const auto shift =
        static_cast<std::uint32_t>(kWordsPerSector * (sector.number % kSectorsPerLine));
    const std::uint32_t words = words_of(sector.bytes);
    // A sector is in L1 when any of its words is marked; the marks say which were read before, so
    // that a hit is logged only when it touches words or bytes for the first time.
    const std::uint32_t present = l1.touch(line, words << shift, 0).present >> shift & 0xffU;
    const bool more = reads_more(sector, words, present);
    if (present == 0) {
      append(access, sector, Kind::load);
      continue;
    }
    ++log->l1_hit_sectors;
    ++accesses_of(accesses, access.pc).l1_hits;
    find(access.pc, line, 1U << (sector.number % kSectorsPerLine));
    if (more) append(access, sector, Kind::touch);
  }
}

/// Notes where the warp may be waiting for the data of a load already.
void BlockTraffic::State::look_for(std::uint32_t pc, std::uint64_t line) {
  if (is_of_recent || !under_way.has_asked(line, asking)) return;
  is_of_recent = true;
  ++own(pc).of_recent;
}

/// L1 has these sectors of a line, or will have them when what this warp or another has asked for
/// is there. What its own warp asked for is of_recent data.
void BlockTraffic::State::find(std::uint32_t pc, std::uint64_t line, std::uint32_t sectors) {
  const std::uint64_t wait = under_way.wait_for(line, sectors, asking);
  longest_wait = std::max({longest_wait, wait, kCyclesOfL1});
  if (wait <= kCyclesBeyondL1 / 2 || under_way.has_asked(line, asking)) return;
  note_beyond_l1(pc);
  under_way.ask(line, asking);
}

/// What a warp has loaded by an instruction.
LoadsOfWarp& BlockTraffic::State::of_warp(std::uint32_t pc, std::size_t warp) {
  if (pc >= place_of_pc.size()) place_of_pc.resize(pc + 1);
  std::uint32_t& place = place_of_pc[pc];
  if (place == 0) {
    of_block.push_back({.pc = pc});
    place = static_cast<std::uint32_t>(of_block.size());
  }
  return of_block[place - 1].by_warp[warp];
}

void BlockTraffic::State::add_loads_of_block() {
  for (const LoadsOfWarps& of : of_block) {
    LoadCounts& sum = counts_of(loads, of.pc);
    for (const LoadsOfWarp& warp : of.by_warp) {
      sum.requests += warp.requests;
      sum.beyond_l1 += warp.beyond_l1;
      sum.of_recent += warp.of_recent;
      sum.at_mbarriers.add_times(warp.at_mbarriers, 1);
    }
  }
}

void BlockTraffic::State::note_beyond_l1(std::uint32_t pc) {
  if (!std::exchange(is_beyond_l1, true)) ++own(pc).beyond_l1;
}

/// As load() does it, but a line at a time.
void BlockTraffic::State::load_words(const Requester& from, std::uint64_t offset,
                                     std::uint64_t bytes, std::uint32_t step) {
  const std::uint64_t end = offset + bytes;
  const std::uint64_t sectors = (end - 1) / kSectorBytes - offset / kSectorBytes + 1;
  ++log->load_requests;
  ++own(from.pc).requests;
  log->load_sectors += sectors;
  AccessCounts& counts = accesses_of(accesses, from.pc);
  ++counts.requests;
  counts.sectors += sectors;
  counts.lines += (end - 1) / kLineBytes - offset / kLineBytes + 1;
  counts.bytes += std::uint64_t{from.bytes} * kWarpSize;
  for (std::uint64_t line_begin = offset / kLineBytes * kLineBytes; line_begin < end;
       line_begin += kLineBytes) {
    const std::uint64_t begin = std::max(offset, line_begin) - line_begin;
    const std::uint64_t last = std::min(end - line_begin, kLineBytes) - 1;
    const std::uint32_t words = bit_range(static_cast<std::uint32_t>(begin / kWordBytes),
                                          static_cast<std::uint32_t>(last / kWordBytes));
    look_for(from.pc, line_begin / kLineBytes);
    const std::uint32_t present = l1.touch(line_begin / kLineBytes, words, 0).present;
    ++log->tag_lookups;
    const std::uint64_t sector = line_begin / kSectorBytes;
    const auto first_sector = static_cast<std::uint32_t>(begin / kSectorBytes);
    const auto last_sector = static_cast<std::uint32_t>(last / kSectorBytes);
    if ((words & ~present) == 0) {  // all was read before
      log->l1_hit_sectors += last_sector - first_sector + 1;
      counts.l1_hits += last_sector - first_sector + 1;
      find(from.pc, line_begin / kLineBytes, bit_range(first_sector, last_sector));
      continue;
    }
    if (present == 0 && words == ~std::uint32_t{0}) {
      const std::uint64_t reached = line_begin > offset ? line_begin - offset : 0;
      const auto lane = static_cast<std::uint8_t>(step == 0 ? 0 : reached / step);
      append_run(from, {sector, kSectorsPerLine, 0xff, lane, Kind::load});
      continue;
    }
    for (std::uint32_t i = first_sector; i <= last_sector; ++i) {
      const auto wanted = static_cast<std::uint8_t>(words >> (kWordsPerSector * i));
      const auto here = static_cast<std::uint8_t>(present >> (kWordsPerSector * i));
      if (here != 0) {
        ++log->l1_hit_sectors;
        ++counts.l1_hits;
        find(from.pc, line_begin / kLineBytes, 1U << i);
      }
      if ((wanted & ~here) == 0) continue;
      const std::uint64_t at = line_begin + i * kSectorBytes;
      const std::uint64_t reached = at > offset ? at - offset : 0;
      const auto lane = static_cast<std::uint8_t>(step == 0 ? 0 : reached / step);
      append_run(from, {sector + i, 1, wanted, lane, here == 0 ? Kind::load : Kind::touch});
    }
  }
}

/// Whether a load reads bytes that its block has not read. L1's marks tell which words were read,
/// in whole or in part; those read in part are looked up.
bool BlockTraffic::State::reads_more(const RequestedSector& sector, std::uint32_t words,
                                     std::uint32_t present) {
  const bool new_words = (words & ~present) != 0;
  const bool whole = sector.bytes == bytes_of(static_cast<std::uint8_t>(words));
  if (whole && read_in_part.empty()) return new_words;
  const auto known = read_in_part.find(sector.number);
  if (known == read_in_part.end()) {
    if (read_in_part.size() >= kMostReadInPart) return true;
    if (whole || !new_words) return new_words;
  }
  const std::uint32_t before = known == read_in_part.end() ? 0 : known->second;
  const std::uint32_t in_part = bytes_of(words_of(before));
  const std::uint32_t in_new_words = bytes_of(static_cast<std::uint8_t>(words & ~present));
  const std::uint32_t more = sector.bytes & ~before & (in_part | in_new_words);
  if (more != 0) read_in_part[sector.number] = before | more;
  return new_words || more != 0;
}

BlockTraffic::BlockTraffic(std::uint64_t l1_bytes, std::size_t most_entries)
    : state_(std::make_unique<State>(l1_bytes, most_entries)) {}
BlockTraffic::~BlockTraffic() = default;
BlockTraffic::BlockTraffic(BlockTraffic&&) noexcept = default;
BlockTraffic& BlockTraffic::operator=(BlockTraffic&&) noexcept = default;

void BlockTraffic::begin_block(std::uint64_t block) {
  state_->l1.clear();
  for (LoadsOfWarps& of : state_->of_block) of.by_warp.fill({});
  state_->under_way.begin_block();
  state_->read_in_part.clear();
  state_->atomics.take();
  *state_->log = Log{};
  state_->log->block = block;
  state_->log->entries.reserve(state_->expected_entries);
  state_->fenced = 0;
}

void BlockTraffic::wait_at_mbarrier(std::uint32_t pc, std::size_t warp, std::uint32_t groups_left) {
  CopyWaits<std::uint32_t>& waits = state_->of_warp(pc, warp).at_mbarriers;
  ++waits.waits;
  waits.groups_left += groups_left;
}

std::uint64_t BlockTraffic::store_requests() const { return state_->log->store_requests; }

std::uint64_t BlockTraffic::requested_sectors() const {
  const Log& log = *state_->log;
  return log.load_sectors + log.store_sectors + log.atomic_sectors;
}

const LoadCountsByPc& BlockTraffic::loads() const { return state_->loads; }

std::span<const LoadsOfWarps> BlockTraffic::loads_of_block() const { return state_->of_block; }

const AccessCountsByPc& BlockTraffic::accesses() const { return state_->accesses; }

void BlockTraffic::clear_loads() {
  state_->loads.clear();
  state_->accesses.clear();
}

std::uint64_t BlockTraffic::take_wait() { return std::exchange(state_->longest_wait, 0); }

void BlockTraffic::fence() { state_->fenced = state_->log->entries.size(); }

void BlockTraffic::global(const WarpAccess& access) {
  if (access.mask == 0) return;
  const bool is_plain = !access.orders_blocks() && !access.bypasses_l1 && access.texture_lanes == 0;
  if (access.kind == AccessKind::load && is_plain &&
      load({access.bytes, access.warp, access.pc, shape_of(access), access.mask,
            (*access.address)[0], access.slots, access.time})) {
    return;
  }
  state_->begin_request(access.warp, access.slots, access.time);
  const RequestSectors request = coalesce(access);
  Log& log = *state_->log;
  const std::uint64_t turns = (access.texture_lanes + kTextureUnits - 1) / kTextureUnits;
  const std::uint64_t lines = std::max(lines_of(request), turns);
  log.tag_lookups += lines;
  const std::uint64_t bytes = std::uint64_t{access.bytes} * std::popcount(access.mask);
  if (access.kind != AccessKind::copy) {
    AccessCounts& counts = accesses_of(state_->accesses, access.pc);
    ++counts.requests;
    counts.sectors += request.count;
    counts.lines += lines;
    counts.bytes += bytes;
  }
  const bool strong = access.kind == AccessKind::atomic || access.orders_blocks();
  if (strong && access.kind != AccessKind::load) {
    // A release that others can see is a fence and the store after it.
    if ((access.order & (kReleases | kOrdersBlock)) == kReleases) fence();
    log.released = state_->fenced;
  }
  switch (access.kind) {
    case AccessKind::load:
      ++log.load_requests;
      ++state_->own(access.pc).requests;
      log.load_sectors += request.count;
      log.load_bytes += bytes;
      state_->load(access, request);
      break;
    case AccessKind::store:
      ++log.store_requests;
      log.store_sectors += request.count;
      log.store_bytes += bytes;
      for (std::size_t i = 0; i < request.count; ++i) {
        state_->append(access, request.sectors[i],
                       access.orders_blocks() ? Kind::strong_store : Kind::store);
      }
      break;
    case AccessKind::copy:
      break;  // only shared memory has these: the engine tells of the global side as a load
    case AccessKind::atomic:
      ++log.atomic_requests;
      log.atomic_bytes += bytes;
      state_->atomics.add(access);
      log.atomic_sectors += request.count;
      for (std::size_t i = 0; i < request.count; ++i) {
        state_->append(access, request.sectors[i], Kind::atomic);
      }
      break;
  }
  if (strong) log.acquired = std::min(log.acquired, log.entries.size());
}

bool BlockTraffic::load(const LaneRange& range) {
  const std::uint64_t offset = range.address - kDeviceBase;
  const bool is_row = range.shape == Shape::consecutive;
  const bool is_range = is_row || range.shape == Shape::uniform;
  if (!is_range || range.mask != 0xffffffffU || (offset | range.bytes) % kWordBytes != 0 ||
      !state_->read_in_part.empty()) {
    return false;
  }
  state_->begin_request(range.warp, range.slots, range.time);
  state_->log->load_bytes += std::uint64_t{range.bytes} * kWarpSize;
  state_->load_words({range.pc, range.warp, range.bytes}, offset,
                     is_row ? std::uint64_t{range.bytes} * kWarpSize : range.bytes,
                     is_row ? range.bytes : 0);
  return true;
}

std::unique_ptr<BlockTraffic::Log> BlockTraffic::take() {
  // Blocks of one launch are alike: the next log will be about as long.
  state_->expected_entries = state_->log->entries.size();
  state_->log->atomics = state_->atomics.take();
  state_->add_loads_of_block();
  return std::exchange(state_->log, std::make_unique<Log>());
}

}  // namespace simgpu
