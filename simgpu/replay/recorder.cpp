#include "simgpu/replay/recorder.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/messages.h"
#include "simgpu/exec/thread_block.h"
#include "simgpu/replay/join.h"
#include "simgpu/replay/launch_track.h"
#include "simgpu/replay/trim.h"

namespace simgpu::replay {
namespace {

std::uint64_t index_in(const Dim3& at, const Dim3& shape) {
  return at.x + std::uint64_t{shape.x} * (at.y + std::uint64_t{shape.y} * at.z);
}

bool is_inside(const Dim3& at, const Dim3& shape) {
  return at.x < shape.x && at.y < shape.y && at.z < shape.z;
}

bool is_same_place(const AccessSite& a, const AccessSite& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

bool is_same(const AccessSite& a, const AccessSite& b) {
  return is_same_place(a, b) && a.block == b.block && a.thread == b.thread;
}

bool touches(const WarpAccess& access, std::uint64_t address, std::uint64_t bytes) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((access.mask >> lane & 1U) == 0) continue;
    const std::uint64_t at = (*access.address)[lane];
    if (at < address + bytes && address < at + access.bytes) return true;
  }
  return false;
}

Action action_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return Action::load;
    case AccessKind::store:
      return Action::store;
    case AccessKind::atomic:
      return Action::atomic;
    case AccessKind::copy:
      return Action::copy;
  }
  return Action::load;
}

Space space_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::shared:
      return Space::shared;
    case MemorySpace::global:
      return Space::global;
    case MemorySpace::local:
      return Space::local;
  }
  return Space::shared;
}

}  // namespace

struct Recorder::State {
  Wanted wanted;
  Recorded result;
  const LaunchContext* launch = nullptr;
  std::uint64_t launches = 0;
  std::uint64_t stores = 0;          ///< to the wanted bytes
  std::uint64_t touches = 0;         ///< of the wanted bytes in this launch, by the side that it is
  std::optional<Recording> earlier;  ///< of two launches that race
  std::uint64_t block = 0;           ///< that runs
  std::optional<LaunchTrack> track;
  std::vector<StepMark> marks;
  bool stops = false;  ///< with the step that is under way

  /// One side of the wanted finding in this launch; nothing where it has no such block or warp. Of
  /// two blocks the lane may be a guess.
  std::optional<Side> side(const AccessSite& site) const {
    const LaunchRequest& request = launch->request;
    const bool fits = site.by_thread && is_inside(site.block, request.grid);
    if (!fits || site.warp >= warps_of_block(request)) return std::nullopt;
    const std::uint64_t thread = index_in(site.thread, request.block);
    return Side{.warp = {index_in(site.block, request.grid), site.warp},
                .lane = static_cast<std::uint32_t>(thread % kLanes),
                .site = &site};
  }

  bool is_of_launches() const {
    return wanted.kind == Wanted::Kind::racing_launches ||
           wanted.kind == Wanted::Kind::racing_warps;
  }

  /// The side of a race between launches that the launch which runs is; nullptr: it is none.
  const Wanted::Touch* touch_now() const {
    if (!is_of_launches()) return nullptr;
    if (launches == wanted.later.launch) return &wanted.later;
    return launches == wanted.earlier.launch ? &wanted.earlier : nullptr;
  }

  /// Whether an access may be that of the side: at its line, and a store where it is one.
  bool is_of_side(const WarpAccess& access) const {
    const AccessSite* const site = touch_now() == &wanted.later ? &wanted.where
                                   : wanted.other               ? &*wanted.other
                                                                : nullptr;
    if (site == nullptr || (site->writes && !writes(access.kind))) return false;
    return site->line == 0 || is_same_place(*site, site_of(launch->kernel.info, access.pc));
  }

  std::vector<WatchedWarp> watched() const {
    std::vector<WatchedWarp> warps;
    switch (wanted.kind) {
      case Wanted::Kind::first_block:
        if (launches == 1) warps.push_back({0, 0});
        break;
      case Wanted::Kind::finding:
        if (const auto where = side(wanted.where)) {
          // The earlier access of a race comes first.
          const auto other = wanted.other ? side(*wanted.other) : std::nullopt;
          if (other) warps.push_back(other->warp);
          warps.push_back(where->warp);
        }
        break;
      case Wanted::Kind::store:
        if (launches == wanted.launch) warps.push_back({wanted.block, wanted.warp});
        break;
      case Wanted::Kind::racing_warps:
        if (const Wanted::Touch* const touch = touch_now()) {
          warps.push_back({touch->block, touch->warp});
        }
        break;
      case Wanted::Kind::last_store:
      case Wanted::Kind::racing_launches:
        break;
    }
    return warps;
  }

  bool is_wanted(const RawFinding& raw) const {
    const KernelInfo& kernel = launch->kernel.info;
    const auto fits = [&](const AccessSite& site, std::uint32_t pc, std::uint64_t in_block,
                          std::uint32_t warp, std::uint32_t lane) {
      const auto known = side(site);
      return known && known->warp == WatchedWarp{in_block, warp} && known->lane == lane &&
             is_same_place(site, site_of(kernel, pc));
    };
    if (raw.has_other != wanted.other.has_value()) return false;
    return fits(wanted.where, raw.pc, raw.block, raw.warp, raw.lane) &&
           (!raw.has_other ||
            fits(*wanted.other, raw.other_pc, raw.other_block, raw.other_warp, raw.other_lane));
  }

  void add_mark(const std::optional<StepMark>& mark) {
    if (mark) marks.push_back(*mark);
  }

  /// The marks of a finding that the end of the launch alone has shown.
  void mark_at_end() {
    const auto where = side(wanted.where);
    const auto other = wanted.other ? side(*wanted.other) : std::nullopt;
    if (where && other) marks = track->find_pair(*other, *where);
    if (!marks.empty()) return;
    if (other) add_mark(track->find(*other));
    if (where) add_mark(track->find(*where));
  }

  void finish(bool ends_early) {
    Recording recording = track->finish(marks);
    recording.ends_early = ends_early;
    track.reset();
    if (wanted.kind == Wanted::Kind::racing_warps) return finish_side(std::move(recording));
    const bool is_pair = recording.marks.size() > 1;
    result.recording = trimmed(std::move(recording), is_pair ? kMostStepsOfRace : kMostSteps);
  }

  /// Of two launches; one that did not get to its access shows nothing.
  void finish_side(Recording recording) {
    if (recording.marks.empty()) return;
    const bool is_later = launches == wanted.later.launch;
    recording = trimmed(std::move(recording), kMostStepsOfRace / 2);
    if (!is_later && wanted.later.launch != 0) {
      earlier = std::move(recording);
    } else {
      result.recording =
          earlier ? joined(*std::move(earlier), std::move(recording)) : std::move(recording);
    }
  }

  /// Goes on to what is to be asked for next: the last such access of the earlier launch, and the
  /// first one of the later.
  void note_touch(const WarpAccess& access, std::uint64_t number) {
    if (!result.next) {
      result.next = wanted;
      result.next->kind = Wanted::Kind::racing_warps;
    }
    const bool is_later = launches == wanted.later.launch;
    if (is_later && number > 0) return;
    (is_later ? result.next->later : result.next->earlier) = {
        .launch = launches, .block = block, .warp = access.warp, .number = number};
  }

  /// Marks the access to the wanted bytes that is under way.
  void mark_touch(const WarpAccess& access) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto mark =
          track->find({block, access.warp}, access.pc, lane, wanted.address, wanted.bytes);
      if (!mark) continue;
      marks = {*mark};
      stops = true;
      return;
    }
  }
};

Recorder::Recorder(const Wanted& wanted) : state_(std::make_unique<State>()) {
  state_->wanted = wanted;
}

Recorder::~Recorder() = default;

const Recorded& Recorder::result() const { return state_->result; }

void Recorder::begin_launch(const LaunchContext& launch) {
  State& state = *state_;
  ++state.launches;
  if (state.result.recording) return;
  state.launch = &launch;
  state.marks.clear();
  state.stops = false;
  state.touches = 0;
  const std::vector<WatchedWarp> warps = state.watched();
  if (!warps.empty()) state.track.emplace(launch, warps);
}

void Recorder::begin_block(std::uint64_t block) { state_->block = block; }

void Recorder::before(const Lowered& in, const Warp& warp, std::uint32_t /*lanes*/) {
  State& state = *state_;
  state.block = warp.block->position.block();
  if (!state.track) return;
  const bool is_full =
      state.wanted.kind == Wanted::Kind::first_block && state.track->steps() > kMostSteps;
  if ((state.stops || is_full) && !state.track->continues(in, warp)) return state.finish(true);
  state.track->before(in, warp);
}

void Recorder::after(const Lowered& in, const Warp& warp, std::uint32_t lanes) {
  if (state_->track) state_->track->after(in, warp, lanes);
}

void Recorder::end_launch(const LaunchResult& result) {
  State& state = *state_;
  if (!state.track) return;
  if (state.marks.empty() && state.wanted.kind == Wanted::Kind::finding) {
    const bool is_there = std::ranges::any_of(result.findings, [&](const Finding& finding) {
      const bool both = finding.other.has_value() && state.wanted.other.has_value();
      return is_same(finding.where, state.wanted.where) &&
             (!both || is_same(*finding.other, *state.wanted.other));
    });
    if (!is_there) return state.track.reset();
    state.mark_at_end();
  }
  state.finish(false);
}

void Recorder::accessed(MemorySpace space, const WarpAccess& access) {
  State& state = *state_;
  if (state.track) state.track->accessed(space_of(space), action_of(access.kind), access);
  if (space != MemorySpace::global || !touches(access, state.wanted.address, state.wanted.bytes)) {
    return;
  }
  if (const Wanted::Touch* const touch = state.touch_now()) {
    if (!state.is_of_side(access)) return;
    const std::uint64_t number = state.touches++;
    if (state.wanted.kind == Wanted::Kind::racing_launches) return state.note_touch(access, number);
    if (number == touch->number && state.track) state.mark_touch(access);
    return;
  }
  const bool counts =
      state.wanted.kind == Wanted::Kind::last_store || state.wanted.kind == Wanted::Kind::store;
  if (!counts || !writes(access.kind)) return;
  const std::uint64_t number = state.stores++;
  if (state.wanted.kind == Wanted::Kind::last_store) {
    Wanted next = state.wanted;
    next.kind = Wanted::Kind::store;
    next.launch = state.launches;
    next.block = state.block;
    next.warp = access.warp;
    next.number = number;
    state.result.next = next;
    return;
  }
  if (number == state.wanted.number && state.track) state.mark_touch(access);
}

void Recorder::copy_arrived(const WarpAccess& copy) {
  if (state_->track) state_->track->accessed(Space::shared, Action::arrival, copy);
}

void Recorder::found(const RawFinding& finding) {
  State& state = *state_;
  if (!state.track || state.stops || state.wanted.kind != Wanted::Kind::finding) return;
  if (!state.is_wanted(finding)) return;
  if (finding.has_other) {
    state.add_mark(state.track->find({finding.other_block, finding.other_warp}, finding.other_pc,
                                     finding.other_lane, finding.address, finding.bytes));
  }
  auto mark = state.track->find({finding.block, finding.warp}, finding.pc, finding.lane,
                                finding.address, finding.bytes);
  if (!mark) mark = state.track->find(*state.side(state.wanted.where));
  state.add_mark(mark);
  state.stops = true;
}

void Recorder::passed_barrier() {
  if (state_->track) state_->track->passed_barrier();
}

}  // namespace simgpu::replay
