#include "simgpu/checkers/kept_races.h"

#include <array>
#include <bit>
#include <utility>

#include "simgpu/checkers/memory_races.h"

namespace simgpu {
namespace {

using Run = KeptRaces::Run;
using Slot = KeptRaces::Slot;

/// How many units each lane may have, in the runs that are told apart.
constexpr std::array<std::uint8_t, 4> kLaneUnits{0, 1, 2, 4};

bool of_one_run(const Run& a, const Run& b) {
  return a.time == b.time && a.pc == b.pc && a.warp == b.warp && a.kind == b.kind &&
         a.meets_atomics == b.meets_atomics;
}

/// Puts uses together that come unit by unit.
class Runs {
 public:
  Runs(std::vector<Run>& runs, Slot slot) : runs_(runs), slot_(slot) {}

  void add(Run use, std::size_t unit) {
    use.slot = slot_;
    use.first = static_cast<std::uint16_t>(unit);
    use.count = 1;
    if (!open_ || !extends(use)) {
      runs_.push_back(use);
      open_ = true;
      fits_ = kAny;
    }
  }
  void end() { open_ = false; }

 private:
  bool extends(const Run& use) {
    Run& last = runs_.back();
    if (!of_one_run(last, use)) return false;
    std::uint32_t fits = 0;
    for (std::size_t i = 0; i < kLaneUnits.size(); ++i) {
      Run with = last;
      with.lane_units = kLaneUnits[i];
      if ((fits_ >> i & 1U) != 0 && with.lane_of(use.first) == use.lane) fits |= 1U << i;
    }
    if (fits == 0) return false;
    fits_ = fits;
    last.lane_units = kLaneUnits[static_cast<std::size_t>(std::countr_zero(fits))];
    ++last.count;
    return true;
  }

  static constexpr std::uint32_t kAny = (1U << kLaneUnits.size()) - 1;
  std::vector<Run>& runs_;
  Slot slot_;
  bool open_ = false;
  std::uint32_t fits_ = 0;  ///< which of kLaneUnits the open run may have, a bit each
};

}  // namespace

KeptRaces MemoryRaces::keep_since(Time interval) const {
  KeptRaces kept;
  kept.unit_bytes = unit_bytes_;
  const auto add_all = [&](Slot slot, auto use_of) {
    Runs runs(kept.runs, slot);
    for (std::size_t unit = 0; unit < write_time_.size(); ++unit) {
      const Use use = use_of(unit);
      if (use.time < interval) {
        runs.end();
        continue;
      }
      const Site& by = use.site;
      runs.add({.kind = by.kind,
                .warp = by.warp,
                .lane = by.lane,
                .meets_atomics = by.meets_atomics,
                .pc = by.pc,
                .time = use.time},
               unit);
      if (slot == Slot::writer) kept.values.push_back(value_[unit]);
    }
  };
  add_all(Slot::writer, [&](std::size_t unit) { return Use{write_time_[unit], writer_[unit]}; });
  add_all(Slot::reader, [&](std::size_t unit) { return reader_[unit]; });
  add_all(Slot::other_reader, [&](std::size_t unit) { return other_reader_[unit]; });
  if (updates_.empty()) return kept;
  add_all(Slot::first_update, [&](std::size_t unit) { return updates_[unit].first; });
  add_all(Slot::second_update, [&](std::size_t unit) { return updates_[unit].second; });
  return kept;
}

void MemoryRaces::restore(const KeptRaces& kept) {
  if (kept.unit_bytes < unit_bytes_) refine(kept.unit_bytes);
  const std::size_t parts = kept.unit_bytes / unit_bytes_;
  const std::uint32_t mask = unit_bytes_ == 4 ? ~0U : (1U << 8 * unit_bytes_) - 1;
  auto value = kept.values.begin();
  for (const KeptRaces::Run& run : kept.runs) {
    for (std::size_t at = run.first; at < std::size_t{run.first} + run.count; ++at) {
      const Use use{run.time, {run.pc, run.warp, run.lane_of(at), run.kind, run.meets_atomics}};
      const std::uint32_t stored = run.slot == Slot::writer ? *value++ : 0;
      for (std::size_t part = 0; part < parts; ++part) {
        const std::uint32_t own = stored >> (8 * unit_bytes_ * part) & mask;
        restore_use(run.slot, at * parts + part, use, own);
      }
    }
  }
}

void MemoryRaces::restore_use(KeptRaces::Slot slot, std::size_t unit, const Use& use,
                              std::uint32_t value) {
  const bool is_update = slot == Slot::first_update || slot == Slot::second_update;
  if (is_update && updates_.empty()) updates_.resize(write_time_.size());
  switch (slot) {
    case Slot::writer:
      write_time_[unit] = use.time;
      writer_[unit] = use.site;
      value_[unit] = value;
      return;
    case Slot::reader:
      reader_[unit] = use;
      return;
    case Slot::other_reader:
      other_reader_[unit] = use;
      return;
    case Slot::first_update:
      updates_[unit].first = use;
      return;
    case Slot::second_update:
      updates_[unit].second = use;
      return;
  }
}

}  // namespace simgpu
