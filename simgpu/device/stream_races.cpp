#include "simgpu/device/stream_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/exec/messages.h"
#include "simgpu/exec/places.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostSectors = std::size_t{4} << 20;
constexpr const char* kDefaultStream = "the default stream";

std::size_t extent(const StreamRaces::Work& work) {
  return work.sectors.size() + work.ranges.size();
}

/// A copy as if it were a launch that touched one sector.
TouchedSector sector_of(const StreamRaces::Range& range, std::uint64_t number) {
  const std::uint64_t begin = kDeviceBase + number * kSectorBytes;
  const std::uint64_t first = std::max(range.begin, begin) - begin;
  const std::uint64_t end = std::min(range.end, begin + kSectorBytes) - begin;
  TouchedSector sector{.sector = number};
  (range.writes ? sector.written : sector.read) =
      static_cast<std::uint32_t>((std::uint64_t{1} << end) - (std::uint64_t{1} << first));
  return sector;
}

std::uint64_t number_of(std::uint64_t address) { return (address - kDeviceBase) / kSectorBytes; }

/// Bytes of a sector that both touch and one of them writes.
std::uint32_t shared_bytes(const TouchedSector& a, const TouchedSector& b) {
  return (a.written & (b.read | b.written)) | (a.read & b.written);
}

/// Whether who does not race with work that touches `by` does not race with what touches `sector`.
bool covers(const TouchedSector& by, const TouchedSector& sector) {
  const auto within = [](std::uint32_t bytes, std::uint32_t others) {
    return (bytes & ~others) == 0;
  };
  return by.sector == sector.sector && within(sector.written, by.written) &&
         within(sector.read, by.read | by.written) && within(sector.changed, by.changed);
}

/// Whether later work of the same stream makes it needless to remember `work`: nothing that comes
/// is behind the later one and not behind this.
bool stands_for(const StreamRaces::Work& later, const StreamRaces::Work& work) {
  return later.stamp.stream == work.stamp.stream && later.kernel == work.kernel &&
         later.node.launch == 0 && work.node.launch == 0 && !later.of_caller && !work.of_caller &&
         later.draws == work.draws && std::ranges::equal(later.sectors, work.sectors, covers) &&
         later.ranges == work.ranges;
}

/// Calls pair(a, b) for sectors that both have touched, until it returns true.
template <typename Pair>
bool any_pair(const std::vector<TouchedSector>& first, const std::vector<TouchedSector>& second,
              const Pair& pair) {
  auto a = first.begin();
  auto b = second.begin();
  while (a != first.end() && b != second.end()) {
    if (a->sector < b->sector) {
      ++a;
    } else if (b->sector < a->sector) {
      ++b;
    } else if (pair(*a++, *b++)) {
      return true;
    }
  }
  return false;
}

/// The same for what a range touches of a launch's sectors; `range` comes first.
template <typename Pair>
bool any_pair(const StreamRaces::Range& range, const std::vector<TouchedSector>& sectors,
              const Pair& pair) {
  auto at = std::ranges::lower_bound(sectors, number_of(range.begin), {}, &TouchedSector::sector);
  for (; at != sectors.end() && at->sector <= number_of(range.end - 1); ++at) {
    if (pair(sector_of(range, at->sector), *at)) return true;
  }
  return false;
}

template <typename Pair>
bool any_pair(const StreamRaces::Work& first, const StreamRaces::Work& second, const Pair& pair) {
  if (any_pair(first.sectors, second.sectors, pair)) return true;
  for (const StreamRaces::Range& range : first.ranges) {
    if (any_pair(range, second.sectors, pair)) return true;
    for (const StreamRaces::Range& other : second.ranges) {
      const std::uint64_t begin = std::max(range.begin, other.begin);
      if (begin >= std::min(range.end, other.end)) continue;
      if (pair(sector_of(range, number_of(begin)), sector_of(other, number_of(begin)))) return true;
    }
  }
  const auto swapped = [&](const TouchedSector& b, const TouchedSector& a) { return pair(a, b); };
  return std::ranges::any_of(second.ranges, [&](const StreamRaces::Range& range) {
    return any_pair(range, first.sectors, swapped);
  });
}

/// Bytes that two launches of a kernel, in calls that overlap, both take values from by atomics.
std::uint32_t drawn_bytes(const StreamRaces::Work& earlier, const TouchedSector& a,
                          const StreamRaces::Work& later, const TouchedSector& b) {
  if (earlier.draws.empty() || later.draws.empty() || earlier.kernel != later.kernel) return 0;
  const auto by_atomics = [](const TouchedSector& sector) {
    return sector.read & sector.changed & ~sector.written;
  };
  const bool drawn = earlier.draws.at(a.reader_pc) && later.draws.at(b.reader_pc);
  return drawn ? by_atomics(a) & by_atomics(b) : 0;
}

void set_place(Finding& race, const DeviceMemory& memory, std::uint64_t address) {
  Place place = place_in_global(memory, address, kWordBytes);
  race.object = std::move(place.words);
  race.name = std::move(place.name);
}

}  // namespace

std::string stream_in_words(std::uint64_t stream_number) {
  return stream_number == 0 ? "the default stream" : fmt::format("stream {}", stream_number);
}

std::optional<StreamRaces::Conflict> StreamRaces::conflict(const Work& earlier, const Work& later) {
  std::optional<Conflict> found;
  any_pair(earlier, later, [&](const TouchedSector& a, const TouchedSector& b) {
    std::uint32_t bytes = shared_bytes(a, b);
    const bool drawn = bytes == 0;
    if (drawn) bytes = drawn_bytes(earlier, a, later, b);
    if (bytes == 0) return false;
    const auto byte = static_cast<std::uint32_t>(std::countr_zero(bytes));
    const bool a_writes = drawn || (a.written >> byte & 1) != 0;
    const bool b_writes = drawn || (b.written >> byte & 1) != 0;
    found = Conflict{.address = kDeviceBase + a.sector * kSectorBytes + byte,
                     .earlier_writes = a_writes,
                     .later_writes = b_writes,
                     .earlier_pc = !drawn && a_writes ? a.writer_pc : a.reader_pc,
                     .later_pc = !drawn && b_writes ? b.writer_pc : b.reader_pc};
    return true;
  });
  return found;
}

/// Work of the program beside that of its caller: `where` is the program's.
Finding StreamRaces::off_the_callers_stream(const Work& earlier, const Work& later,
                                            const Conflict& conflict, const DeviceMemory& memory) {
  const bool starts_early = earlier.of_caller;
  const Work& work = starts_early ? later : earlier;
  const bool writes = starts_early ? conflict.later_writes : conflict.earlier_writes;
  const char* verb = work.frees ? "frees" : writes ? "writes" : "reads";
  const std::string stream = stream_in_words(work.stream_number);
  const bool gives_stream = (starts_early ? earlier : later).stream_number != 0;
  const char* callers = gives_stream ? "the stream that the function is given" : kDefaultStream;
  Finding race;
  race.code = "RL0325";
  if (work.kernel != nullptr) {
    race.kernel = work.kernel->name;
    race.where = site_of(*work.kernel, starts_early ? conflict.later_pc : conflict.earlier_pc);
  }
  race.where.by_thread = false;
  race.where.called_from = work.called_from;
  race.where.writes = writes && !work.frees;
  race.stream = StreamConflict{.work = work.kind,
                               .on_default_stream = work.stream_number == 0,
                               .callers_is_default = !gives_stream,
                               .starts_early = starts_early};
  race.where.action = fmt::format("{}, on {}, {} it", work.name, stream, verb);
  race.launches = RacingLaunches{.address = conflict.address, .later = work.launch};
  set_place(race, memory, conflict.address);
  race.message = starts_early
                     ? fmt::format(
                           "{} is on {} and does not wait for {}, on which its arguments are "
                           "still being made: it {} {}",
                           work.name, stream, callers, verb, race.object)
                     : fmt::format(
                           "{} is on {}, and {} does not wait for it: what comes behind the "
                           "call may be too early for it. It {} {}",
                           work.name, stream, callers, verb, race.object);
  return race;
}

Finding StreamRaces::finding(const Work& earlier, const Work& later, const Conflict& conflict,
                             const DeviceMemory& memory) {
  if (earlier.of_caller || later.of_caller) {
    return off_the_callers_stream(earlier, later, conflict, memory);
  }
  const bool of_graph = later.node.launch != 0 && later.node.launch == earlier.node.launch;
  const auto verb = [](bool writes) { return writes ? "writes" : "reads"; };
  const auto verb_of = [&](const Work& work, bool writes) {
    return work.frees ? "frees" : verb(writes);
  };
  const auto site = [&](const Work& work, std::uint32_t pc, bool writes) {
    AccessSite at;
    if (work.kernel != nullptr) at = site_of(*work.kernel, pc);
    at.by_thread = false;
    at.called_from = work.called_from;
    at.writes = writes && !work.frees;
    const std::string where =
        of_graph ? "a node of a graph" : "on " + stream_in_words(work.stream_number);
    at.action = fmt::format("{}, {}, {} it", work.name, where, verb_of(work, writes));
    return at;
  };
  Finding race;
  race.code = of_graph ? Code("RL0317") : Code("RL0315");
  if (later.kernel != nullptr) race.kernel = later.kernel->name;
  race.where = site(later, conflict.later_pc, conflict.later_writes);
  race.other = site(earlier, conflict.earlier_pc, conflict.earlier_writes);
  race.launches =
      RacingLaunches{.address = conflict.address, .later = later.launch, .earlier = earlier.launch};
  set_place(race, memory, conflict.address);
  if (of_graph) {
    race.message = fmt::format(
        "Two nodes of a graph that no path of edges connects touch the same memory: {} {} what {} "
        "{}: {}",
        later.name, verb(conflict.later_writes), earlier.name, verb(conflict.earlier_writes),
        race.object);
    return race;
  }
  race.message = fmt::format(
      "{} on {} {} what {} on {} {}, and nothing orders the two: {}", later.name,
      stream_in_words(later.stream_number), verb_of(later, conflict.later_writes), earlier.name,
      stream_in_words(earlier.stream_number), verb(conflict.earlier_writes), race.object);
  return race;
}

bool StreamRaces::is_before(const StreamOrder::Stamp& earlier, const Node& earlier_node,
                            std::uint64_t stream, const Node& node, const StreamOrder& order) {
  if (node.launch != 0 && earlier_node.launch == node.launch) {
    return node.order->is_before(earlier_node.node, node.node);
  }
  return order.is_before(earlier, stream);
}

std::vector<Finding> StreamRaces::add(Work work, const StreamOrder& order,
                                      const DeviceMemory& memory, Against against) {
  std::vector<Finding> findings;
  const bool is_held_against_all = against == Against::all || work.of_caller;
  if (is_held_against_all && forgotten_.may_race(work, order)) ++unjudged_;
  for (const Work& earlier : outstanding_) {
    const bool has_callers = earlier.of_caller || work.of_caller;
    if (against == Against::callers && !has_callers) continue;
    const bool ordered =
        is_before(earlier.stamp, earlier.node, work.stamp.stream, work.node, order);
    if (ordered || (earlier.of_caller && work.of_caller)) continue;
    if (const auto found = conflict(earlier, work)) {
      findings.push_back(finding(earlier, work, *found, memory));
    }
  }
  // Who touches it behind this touches freed memory, or what a pool has handed out in order.
  if (work.frees) return findings;
  kept_sectors_ += extent(work);
  outstanding_.push_back(std::move(work));
  const auto fits = [this](std::size_t part, std::size_t of) {
    return outstanding_.size() <= kMostWork / of * part &&
           kept_sectors_ <= kMostSectors / of * part;
  };
  if (fits(1, 1)) return findings;
  drop_repeated();
  while (!fits(3, 4) && forget_oldest()) continue;
  return findings;
}

/// Whether this may race with what is forgotten.
bool StreamRaces::Forgotten::may_race(const Work& work, const StreamOrder& order) const {
  const bool within_graph = work.node.launch != 0 && work.node.launch == graph_launch;
  if (within_graph && std::ranges::any_of(nodes, [&](std::uint32_t node) {
        return !work.node.order->is_before(node, work.node.node);
      })) {
    return true;
  }
  return std::ranges::any_of(latest, [&](const auto& one) {
    return !order.is_before({one.first, one.second}, work.stamp.stream);
  });
}

void StreamRaces::Forgotten::add(const Work& work) {
  std::uint64_t& number = latest[work.stamp.stream];
  number = std::max(number, work.stamp.number);
  if (work.node.launch == 0) return;
  if (work.node.launch != graph_launch) nodes.clear();
  graph_launch = work.node.launch;
  nodes.push_back(work.node.node);
}

/// Of work that is done over and over, the last is enough.
void StreamRaces::drop_repeated() {
  std::deque<Work> kept;
  for (auto work = outstanding_.rbegin(); work != outstanding_.rend(); ++work) {
    if (std::ranges::any_of(kept, [&](const Work& later) { return stands_for(later, *work); })) {
      kept_sectors_ -= extent(*work);
    } else {
      kept.push_front(std::move(*work));
    }
  }
  outstanding_ = std::move(kept);
}

/// The caller's stays: it is the first, and all that the function does is held against it.
bool StreamRaces::forget_oldest() {
  const auto oldest =
      std::ranges::find_if(outstanding_, [](const Work& kept) { return !kept.of_caller; });
  if (oldest == outstanding_.end()) return false;
  kept_sectors_ -= extent(*oldest);
  forgotten_.add(*oldest);
  outstanding_.erase(oldest);
  return true;
}

void StreamRaces::drop_done(const StreamOrder& order) {
  std::erase_if(outstanding_, [&](const Work& work) {
    if (!order.is_done(work.stamp)) return false;
    kept_sectors_ -= extent(work);
    return true;
  });
  std::erase_if(forgotten_.latest, [&](const auto& one) {
    return order.is_done({one.first, one.second});
  });
}

}  // namespace simgpu
