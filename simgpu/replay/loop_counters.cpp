#include "simgpu/replay/loop_counters.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace simgpu::replay {
namespace {

bool is_wide_counter(const CountedLoop& loop) {
  return loop.type == "long" || loop.type == "size_t";
}

bool counter_fits(ValueType type, const CountedLoop& loop) {
  if (is_wide_counter(loop)) return type == ValueType::s64 || type == ValueType::u64;
  return type == ValueType::s32 || type == ValueType::u32;
}

ValueType counter_type(const CountedLoop& loop) {
  if (loop.type == "int") return ValueType::s32;
  if (loop.type == "unsigned") return ValueType::u32;
  return loop.type == "long" ? ValueType::s64 : ValueType::u64;
}

}  // namespace

void LoopCounters::add_loops(std::uint32_t file, std::vector<CountedLoop> loops) {
  loops_[file] = std::move(loops);
}

const CountedLoop* LoopCounters::loop_of_header(std::uint32_t place) const {
  if (place == kNone) return nullptr;
  const auto file = loops_.find(recording_.places[place].file);
  if (file == loops_.end()) return nullptr;
  const auto loop =
      std::ranges::find(file->second, recording_.places[place].line, &CountedLoop::first_line);
  return loop == file->second.end() ? nullptr : &*loop;
}

/// Whether a register has what the loop's counter has after as many iterations, in all lanes;
/// nothing where nobody knows what that would be.
/// @param place of the header
std::optional<bool> LoopCounters::holds(std::uint32_t warp, std::uint32_t place,
                                        const CountedLoop& loop,
                                        const RegisterValues& written) const {
  if (!counter_fits(written.type, loop)) return false;
  const auto is_same = [&](std::int64_t a, std::uint64_t b) {
    const auto bits = static_cast<std::uint64_t>(a);
    return is_wide_counter(loop)
               ? bits == b
               : static_cast<std::uint32_t>(bits) == static_cast<std::uint32_t>(b);
  };
  std::size_t next = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((written.lanes >> lane & 1U) == 0) continue;
    const std::size_t at = next++;
    const auto names = [&](const std::string& name) { return names_(warp, lane, place, name); };
    const std::uint32_t updates = written.updates.empty() ? 0 : written.updates.at(at);
    const std::uint64_t first = written.first.empty() ? written.values.at(at) : written.first[at];
    const auto start = counter_after(loop, 0, names);
    const auto expected = counter_after(loop, updates, names);
    if (!start || !expected) return std::nullopt;
    if (!is_same(*start, first) || !is_same(*expected, written.values.at(at))) return false;
  }
  return true;
}

void LoopCounters::weigh(std::uint32_t warp, const RegisterValues& written) {
  const CountedLoop* const loop = loop_of_header(written.place);
  if (loop == nullptr || written.updates.empty() || written.name != kNone) return;
  const Register reg{recording_.launch_of_warp(warp), written.reg};
  const std::optional<bool> is_counter = holds(warp, written.place, *loop, written);
  if (!is_counter) return;
  if (!*is_counter) {
    refuted_.insert(reg);
    return;
  }
  const bool has_run = std::ranges::all_of(written.updates, [](auto times) { return times > 0; });
  if (!has_run) return;
  const auto [known, is_new] = proved_.try_emplace(reg, written.place);
  if (!is_new && known->second != written.place) refuted_.insert(reg);
}

void LoopCounters::conclude(const std::function<std::uint32_t(const std::string&)>& new_name) {
  counters_.clear();
  held_.clear();
  std::map<std::uint32_t, std::uint32_t> name_of_loop;  // by the header's place
  for (const auto& [reg, place] : proved_) {
    if (refuted_.contains(reg)) continue;
    const CountedLoop* const loop = loop_of_header(place);
    // Two registers that count alike have the same values: one is enough.
    if (name_of_loop.contains(place)) continue;
    name_of_loop[place] = new_name(loop->counter);
    counters_[reg] = {.reg = reg.second, .place = place, .loop = loop, .name = name_of_loop[place]};
  }
}

/// Whether a place is within the loop, in the same call of the loop's function or in what that
/// calls.
bool LoopCounters::is_inside(const Counter& counter, std::uint32_t place) const {
  const Place& at = recording_.places[place];
  const Place& header = recording_.places[counter.place];
  if (at.inlined_at.size() < header.inlined_at.size()) return false;
  const std::size_t deeper = at.inlined_at.size() - header.inlined_at.size();
  const bool is_same_call = std::equal(header.inlined_at.begin(), header.inlined_at.end(),
                                       at.inlined_at.begin() + static_cast<long>(deeper));
  if (!is_same_call) return false;
  const std::string& file =
      deeper == 0 ? recording_.files[at.file] : at.inlined_at[deeper - 1].file;
  const std::uint32_t line = deeper == 0 ? at.line : at.inlined_at[deeper - 1].line;
  return file == recording_.files[header.file] && line >= counter.loop->first_line &&
         line <= counter.loop->last_line;
}

const LoopCounters::Counter* LoopCounters::find(std::uint32_t warp, std::uint32_t place,
                                                const std::string& name) const {
  const Counter* found = nullptr;
  for (const auto& [reg, counter] : counters_) {
    if (reg.first != recording_.launch_of_warp(warp)) continue;
    if (counter.loop->counter != name || !is_inside(counter, place)) continue;
    const bool is_inner = found == nullptr || counter.loop->first_line > found->loop->first_line;
    if (is_inner) found = &counter;
  }
  return found;
}

/// Takes over what was written. @return the lanes in which it is the counter's value
std::uint32_t LoopCounters::take(std::uint32_t warp, const Counter& counter,
                                 const RegisterValues& written) {
  Held& held = this->held(warp, counter);
  const bool is_counter = holds(warp, counter.place, *counter.loop, written).value_or(false) &&
                          (written.updates.empty() || written.place == counter.place);
  std::size_t next = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t bit = 1U << lane;
    if ((written.lanes & bit) == 0) continue;
    const std::size_t at = next++;
    held.values[lane].reset();
    held.fresh &= ~bit;
    if (!is_counter) continue;
    held.values[lane] = written.values[at];
    if (written.updates.empty() || written.updates[at] == 0) held.fresh |= bit;
  }
  return is_counter ? written.lanes : 0;
}

/// The counter with its values in those of the lanes in which they are known.
RegisterValues LoopCounters::named(const Counter& counter, const Held& held,
                                   std::uint32_t lanes) const {
  RegisterValues result{.reg = counter.reg,
                        .type = counter_type(*counter.loop),
                        .name = counter.name,
                        .place = counter.place};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1U) == 0 || !held.values[lane]) continue;
    result.lanes |= 1U << lane;
    result.values.push_back(*held.values[lane]);
  }
  return result;
}

void LoopCounters::hide(const Counter& counter, Held& held, Change& change) {
  if (std::exchange(held.is_shown, false)) change.unknown.push_back(counter.name);
}

LoopCounters::Change LoopCounters::skip(std::uint32_t warp,
                                        const std::vector<RegisterValues>& written,
                                        const std::vector<LeftOut>& left_out) {
  Change change;
  for (const auto& [reg, counter] : counters_) {
    if (reg.first != recording_.launch_of_warp(warp)) continue;
    Held& held = this->held(warp, counter);
    std::optional<std::uint64_t> last_outside;
    for (const LeftOut& one : left_out) {
      if (one.place == kNone || is_inside(counter, one.place)) continue;
      last_outside = std::max(last_outside.value_or(0), one.number);
    }
    if (last_outside) held.is_inside = false;
    std::uint32_t lanes = 0;
    for (const RegisterValues& one : written) {
      if (one.reg != counter.reg || one.name != kNone) continue;
      lanes = take(warp, counter, one);
      const bool is_update = one.place == counter.place;
      held.is_inside = is_update && (!last_outside || one.number > *last_outside);
    }
    if (!held.is_inside) {
      hide(counter, held, change);
    } else if (lanes != 0) {
      held.is_shown = true;
      change.named.push_back(named(counter, held, lanes));
    }
  }
  return change;
}

LoopCounters::Change LoopCounters::step(const Step& step) {
  Change change;
  for (const auto& [reg, counter] : counters_) {
    if (reg.first != recording_.launch_of_warp(step.warp)) continue;
    Held& held = this->held(step.warp, counter);
    bool is_written = false, is_counter = true;
    std::uint32_t lanes = 0;
    for (const RegisterValues& one : step.registers) {
      if (one.reg != counter.reg || one.name != kNone) continue;
      is_written = true;
      lanes = take(step.warp, counter, one);
      is_counter = lanes != 0;
    }
    if (step.place == kNone) {
      if (is_written) hide(counter, held, change);
      continue;
    }
    const bool was_inside = std::exchange(held.is_inside, is_inside(counter, step.place));
    if (!held.is_inside || !is_counter) {
      hide(counter, held, change);
      continue;
    }
    // Whoever comes in finds what the loop starts with: any other value is an earlier run's.
    if (!was_inside) lanes |= held.fresh & step.active;
    const RegisterValues values = named(counter, held, lanes);
    if (values.lanes == 0) continue;
    held.is_shown = true;
    change.named.push_back(values);
  }
  return change;
}

}  // namespace simgpu::replay
