#include "simgpu/exec/block_classes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "simgpu/exec/secret_choice.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

/// Places after which loops that were unrolled, or tiles of different sizes, come round again.
constexpr std::array<std::uint64_t, 6> kSteps{1, 2, 4, 8, 16, 32};
/// A track of fewer places tells nothing that its places would not.
constexpr std::uint64_t kLeastPlaces = 4;
/// Where fewer blocks share a place, at most so many places may be like no other.
constexpr std::uint64_t kManyAlike = 8, kMostSingles = 48;
/// Warp instructions spent at most to see how requests move along the other axes.
constexpr std::uint64_t kMoveInstructions = 60'000'000;
/// Blocks that are run to check what was predicted: at least and at most these, and not many more
/// warp instructions.
constexpr std::uint64_t kLeastClassProbes = 8, kMostClassProbes = 1024;
constexpr std::uint64_t kClassProbeInstructions = 30'000'000;

WorkCounts difference(WorkCounts a, const WorkCounts& b) {
  add_times(a, b, -1);
  return a;
}

bool is_single(const Track& track) { return track.places == 1; }

}  // namespace

WorkCounts Track::at(std::uint64_t index) const {
  WorkCounts counts = at_first;
  if (index > 0) add_times(counts, growth, static_cast<std::int64_t>(index));
  return counts;
}

BlockClasses::BlockClasses(const Dim3& grid, BlockSampler& sampler)
    : sampler_(sampler), blocks_(grid.count()), classes_(find_classes(grid, sampler)) {
  follow_places();
  measure_moves();
  check_everywhere();
}

const BlockProfile& BlockClasses::at(std::uint64_t order) {
  return sampler_.profile(classes_.block_at(order));
}

/// Divides the places, from that with the least work on, into tracks.
void BlockClasses::follow_places() {
  const std::uint64_t places = classes_.places.size;
  const bool many_alike = blocks_ / places >= kManyAlike;
  std::uint64_t singles = 0;
  track_of_.reserve(places);
  while (track_of_.size() < places) {
    const std::uint64_t next = track_of_.size();
    const bool found =
        std::ranges::any_of(kSteps, [&](std::uint64_t step) { return add_tracks(next, step); });
    if (found) continue;
    if (++singles > kMostSingles && !many_alike) throw NotSampled{};
    tracks_.push_back({next, 1, 1, work_counts(at(next)), {}, LogPattern(*at(next).log)});
    track_of_.push_back(static_cast<std::uint32_t>(tracks_.size() - 1));
  }
}

/// Whether the `index`th place of a track has the work that its first two tell.
bool BlockClasses::grows(std::uint64_t first, std::uint64_t step, std::uint64_t index) {
  WorkCounts told = work_counts(at(first));
  const WorkCounts growth = difference(work_counts(at(first + step)), told);
  add_times(told, growth, static_cast<std::int64_t>(index));
  return told == work_counts(at(first + index * step));
}

/// The last index up to which work grows as it does at the first places.
std::uint64_t BlockClasses::grows_until(std::uint64_t first, std::uint64_t step) {
  std::uint64_t last = (classes_.places.size - 1 - first) / step;
  // Mostly it is the last place, or, where that is ragged, the one before it.
  if (grows(first, step, last)) return last;
  --last;
  if (grows(first, step, last)) return last;
  std::uint64_t still = 2;
  while (last - still > 1) {
    const std::uint64_t middle = still + (last - still) / 2;
    (grows(first, step, middle) ? still : last) = middle;
  }
  return still;
}

/// Adds tracks that lie side by side from place `first` on; false when work does not grow so.
bool BlockClasses::add_tracks(std::uint64_t first, std::uint64_t step) {
  const std::uint64_t least = first + kLeastPlaces * step;
  if (least > classes_.places.size || !grows(first, step, 2)) return false;
  if (!LogPattern::fit(*at(first).log, *at(first + step).log, *at(first + 2 * step).log, 2)) {
    return false;
  }
  std::uint64_t end = std::min(first + (grows_until(first, step) + 1) * step, classes_.places.size);
  std::vector<Track> tracks;
  for (std::uint64_t begin = first; begin < first + step;) {
    if (end < least) return false;
    const std::uint64_t places = (end - begin + step - 1) / step;
    if (!grows(begin, step, 2) || !grows(begin, step, places - 1)) {
      // The ragged last place is on this track.
      end = begin + (places - 1) * step;
      begin = first;
      tracks.clear();
      continue;
    }
    const std::uint64_t last = begin + (places - 1) * step;
    auto pattern = LogPattern::fit(*at(begin).log, *at(last - step).log, *at(last).log, places - 1);
    if (!pattern) return false;
    WorkCounts growth = difference(work_counts(at(begin + step)), work_counts(at(begin)));
    tracks.push_back(
        {begin, step, places, work_counts(at(begin)), std::move(growth), std::move(*pattern)});
    ++begin;
  }
  const std::size_t before = tracks_.size();
  for (Track& track : tracks) tracks_.push_back(std::move(track));
  for (std::uint64_t place = first; place < end; ++place) {
    track_of_.push_back(static_cast<std::uint32_t>(before + (place - first) % step));
  }
  return true;
}

/// Of the places that have run, the one with the least work that executes all instructions.
const BlockProfile& BlockClasses::reference(std::uint64_t& block) {
  for (const Track& track : tracks_) {
    std::vector<std::uint32_t> all;
    std::ranges::set_union(instructions_, track.pattern.instructions(), std::back_inserter(all));
    instructions_ = std::move(all);
  }
  const BlockProfile* best = nullptr;
  for (std::uint64_t order = 0; order < classes_.places.size; ++order) {
    const auto known = sampler_.profiles().find(classes_.block_at(order));
    if (known == sampler_.profiles().end()) continue;
    const BlockProfile& profile = known->second;
    if (best != nullptr && best->slots <= profile.slots) continue;
    if (LogPattern(*profile.log).instructions() != instructions_) continue;
    best = &profile;
    block = known->first;
  }
  if (best == nullptr) throw NotSampled{};
  return *best;
}

/// How far every instruction's requests move along the axes on which blocks are alike.
void BlockClasses::measure_moves() {
  std::uint64_t block = 0;
  const BlockProfile& from = reference(block);
  const WorkCounts counts = work_counts(from);
  std::uint64_t others = 0;
  for (const LaunchClasses::Axis& axis : classes_.alike) others += axis.size - 1;
  if (others * from.slots > kMoveInstructions) throw NotSampled{};
  for (const LaunchClasses::Axis& axis : classes_.alike) {
    std::vector<Moves>& moves = moves_.emplace_back();
    moves.emplace_back(instructions_.size());
    for (std::uint64_t position = 1; position < axis.size; ++position) {
      const BlockProfile& to = sampler_.profile(block + position * axis.stride);
      if (work_counts(to) != counts) throw NotSampled{};
      moves.push_back(moves_between(*from.log, *to.log));
    }
  }
}

BlockClasses::Moves BlockClasses::moves_between(const TrafficLog& from,
                                                const TrafficLog& to) const {
  Moves moves(instructions_.size());
  std::vector<char> known(instructions_.size());
  for (std::size_t i = 0; i < from.entries.size(); ++i) {
    const TrafficEntry& a = from.entries[i];
    const TrafficEntry& b = to.entries[i];
    if (!same_kind(a, b)) throw NotSampled{};
    if (a.kind == Kind::bytes) continue;
    const std::size_t instruction = index_of(a.pc);
    const std::int64_t move =
        static_cast<std::int64_t>(b.sector()) - static_cast<std::int64_t>(a.sector());
    if (known[instruction] != 0 && moves[instruction] != move) throw NotSampled{};
    known[instruction] = 1;
    moves[instruction] = move;
  }
  return moves;
}

std::size_t BlockClasses::index_of(std::uint32_t instruction) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(instructions_, instruction) -
                                  instructions_.begin());
}

WorkCounts BlockClasses::total() const {
  WorkCounts sum;
  const auto alike = static_cast<std::int64_t>(blocks_ / classes_.places.size);
  for (const Track& track : tracks_) {
    const auto places = static_cast<std::int64_t>(track.places);
    add_times(sum, track.at_first, alike * places);
    if (!is_single(track)) add_times(sum, track.growth, alike * places * (places - 1) / 2);
  }
  return sum;
}

BlockWeights BlockClasses::weights() {
  BlockWeights all;
  const std::uint64_t alike = blocks_ / classes_.places.size;
  for (const Track& track : tracks_) {
    // What grows linearly is in the mean what the first and the last place do.
    const std::uint64_t last = track.first + (track.places - 1) * track.step;
    all.add_times(at(track.first).sums.weights, alike * track.places);
    all.add_times(at(last).sums.weights, alike * track.places);
  }
  return all;
}

LoadCountsByPc BlockClasses::loads() {
  LoadCountsByPc all;
  const std::uint64_t alike = blocks_ / classes_.places.size;
  for (const Track& track : tracks_) {
    const std::uint64_t last = track.first + (track.places - 1) * track.step;
    add_loads(all, at(track.first).sums.loads, alike * track.places);
    add_loads(all, at(last).sums.loads, alike * track.places);
  }
  return all;
}

BlockWeights::Weight BlockClasses::weight_of(std::uint64_t block) {
  using Weight = BlockWeights::Weight;
  const std::uint64_t order = classes_.order_of(block);
  const Track& track = tracks_[track_of_[order]];
  const std::uint64_t last = track.first + (track.places - 1) * track.step;
  const Weight& from = at(track.first).sums.weights.all;
  const Weight& to = at(last).sums.weights.all;
  const double part = is_single(track) ? 0
                                       : static_cast<double>(order - track.first) /
                                             static_cast<double>(last - track.first);
  const auto between = [part](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(
        std::lerp(static_cast<double>(a), static_cast<double>(b), part));
  };
  Weight weight;
  for (const auto field :
       {&Weight::slots, &Weight::sectors, &Weight::wavefronts, &Weight::longest_way,
        &Weight::longest_time, &Weight::busiest_scheduler}) {
    weight.*field = between(from.*field, to.*field);
  }
  for (std::size_t i = 0; i < weight.pipes.size(); ++i) {
    weight.pipes[i] = between(from.pipes[i], to.pipes[i]);
  }
  return weight;
}

void BlockClasses::add_touched(KindFilter wanted, ByteSet& touched) const {
  for (const auto& [block, profile] : sampler_.profiles()) {
    if (profile.log->unlogged_reads + profile.log->unlogged_writes != 0) touched.give_up();
  }
  std::vector<std::vector<std::uint32_t>> entries;
  for (const Track& track : tracks_) entries.push_back(track.pattern.entries_with(wanted));
  TrafficLog log;
  for (std::uint64_t block = 0; block < blocks_; ++block) {
    const std::uint64_t order = classes_.order_of(block);
    const Track& track = tracks_[track_of_[order]];
    const std::uint64_t index = (order - track.first) / track.step;
    track.pattern.log_of(track.places - 1 - index, moves_of(block, track),
                         entries[track_of_[order]], log);
    touched.add(log, wanted);
  }
}

/// How far the requests of the track's instructions are moved for a block.
BlockClasses::Moves BlockClasses::moves_of(std::uint64_t block, const Track& track) const {
  const std::vector<std::uint32_t>& instructions = track.pattern.instructions();
  Moves moves(instructions.size());
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::size_t instruction = index_of(instructions[i]);
    for (std::size_t axis = 0; axis < moves_.size(); ++axis) {
      moves[i] += moves_[axis][classes_.alike[axis].position(block)][instruction];
    }
  }
  return moves;
}

void BlockClasses::log_of(std::uint64_t block, TrafficLog& log) const {
  const std::uint64_t order = classes_.order_of(block);
  const Track& track = tracks_[track_of_[order]];
  const std::uint64_t index = (order - track.first) / track.step;
  track.pattern.log_of(track.places - 1 - index, moves_of(block, track), log);
}

/// @throws NotSampled when the block does something else than was predicted
void BlockClasses::check(std::uint64_t block) {
  const BlockProfile& profile = sampler_.profile(block);
  const std::uint64_t order = classes_.order_of(block);
  const Track& track = tracks_[track_of_[order]];
  TrafficLog log;
  log_of(block, log);
  const auto same = [](const TrafficEntry& a, const TrafficEntry& b) {
    return same_kind(a, b) && (a.kind == Kind::bytes || a.sector() == b.sector());
  };
  if (track.at((order - track.first) / track.step) != work_counts(profile) ||
      !std::ranges::equal(log.entries, profile.log->entries, same) ||
      !same_pace(weight_of(block), profile.sums.weights.all)) {
    throw NotSampled{};
  }
}

void BlockClasses::check_everywhere() {
  std::uint64_t probes = 0;
  for (const Track& track : tracks_) {
    if (is_single(track)) continue;
    check(somewhere(track.first + track.places / 2 * track.step, ++probes));
  }
  check(blocks_ - 1);
  const std::uint64_t begin = sampler_.instructions();
  const std::uint64_t most = std::min(kMostClassProbes, blocks_ / 4);
  while (++probes < most) {
    if (probes > kLeastClassProbes && sampler_.instructions() - begin > kClassProbeInstructions)
      break;
    check(spread_place(sampler_.secret(), probes, blocks_));
  }
}

/// A block at a place, somewhere along the other axes.
std::uint64_t BlockClasses::somewhere(std::uint64_t order, std::uint64_t seed) const {
  std::uint64_t block = classes_.block_at(order);
  for (const LaunchClasses::Axis& axis : classes_.alike) {
    block += spread_place(sampler_.secret(), seed, axis.size) * axis.stride;
  }
  return block;
}

}  // namespace simgpu
