#include "simgpu/exec/log_pattern.h"

#include <algorithm>

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;
using Entries = std::vector<TrafficEntry>;

std::int64_t step_of(const TrafficEntry& from, const TrafficEntry& to) {
  // A mask of bytes lies where other entries have their sector.
  if (to.kind == Kind::bytes) return 0;
  return static_cast<std::int64_t>(to.sector()) - static_cast<std::int64_t>(from.sector());
}

/// Steps from `from` to `to`, as far as they ask for the same; entries count from where `first`
/// says, the log's beginning or end.
template <typename First>
std::vector<std::int64_t> steps_between(const Entries& from, const Entries& to, First first) {
  std::vector<std::int64_t> steps;
  auto a = first(from);
  auto b = first(to);
  const std::size_t length = std::min(from.size(), to.size());
  for (; steps.size() < length && same_kind(*a, *b); ++a, ++b) steps.push_back(step_of(*a, *b));
  return steps;
}

/// How many entries of `from` are `places` steps before those of `to`.
template <typename First>
std::size_t length_told(const Entries& from, const Entries& to,
                        const std::vector<std::int64_t>& steps, std::int64_t places, First first) {
  auto a = first(from);
  auto b = first(to);
  std::size_t told = 0;
  const std::size_t length = std::min(from.size(), steps.size());
  for (; told < length && same_kind(*a, *b); ++a, ++b, ++told) {
    if (step_of(*a, *b) != places * steps[told]) break;
  }
  return told;
}

constexpr auto kFromBeginning = [](const Entries& entries) { return entries.begin(); };
constexpr auto kFromEnd = [](const Entries& entries) { return entries.rbegin(); };

}  // namespace

bool same_kind(const TrafficEntry& a, const TrafficEntry& b) {
  return a.kind == b.kind && a.count == b.count && a.words == b.words && a.pc == b.pc &&
         (a.kind != Kind::bytes || a.byte_mask() == b.byte_mask());
}

LogPattern::LogPattern(const TrafficLog& only) : entries_(only.entries) {
  for (const TrafficEntry& entry : entries_) {
    if (entry.kind == Kind::bytes) continue;
    const auto at = std::ranges::lower_bound(instructions_, entry.pc);
    if (at == instructions_.end() || *at != entry.pc) instructions_.insert(at, entry.pc);
  }
  instruction_of_.reserve(entries_.size());
  for (const TrafficEntry& entry : entries_) {
    const auto at = std::ranges::lower_bound(instructions_, entry.pc);
    instruction_of_.push_back(static_cast<std::uint16_t>(at - instructions_.begin()));
  }
}

std::optional<LogPattern> LogPattern::fit(const TrafficLog& first, const TrafficLog& last_but_one,
                                          const TrafficLog& last, std::uint64_t places) {
  const Entries& a = first.entries;
  const Entries& b = last_but_one.entries;
  const Entries& c = last.entries;
  const auto distance = static_cast<std::int64_t>(places);
  LogPattern pattern(last);
  pattern.growth_ = static_cast<std::int64_t>(c.size()) - static_cast<std::int64_t>(b.size());
  if (static_cast<std::int64_t>(a.size()) + distance * pattern.growth_ !=
          static_cast<std::int64_t>(c.size()) ||
      pattern.growth_ < 0) {
    return std::nullopt;
  }
  pattern.head_steps_ = steps_between(b, c, kFromBeginning);
  pattern.tail_steps_ = steps_between(b, c, kFromEnd);
  const std::size_t head = length_told(a, c, pattern.head_steps_, distance, kFromBeginning);
  pattern.tail_ = a.size() - head;
  if (length_told(a, c, pattern.tail_steps_, distance, kFromEnd) < pattern.tail_ ||
      b.size() - pattern.tail_ > pattern.head_steps_.size()) {
    return std::nullopt;
  }
  return pattern;
}

std::array<LogPattern::Stretch, 2> LogPattern::stretches(std::uint64_t before_last) const {
  const auto left_out = static_cast<std::size_t>(static_cast<std::int64_t>(before_last) * growth_);
  const std::size_t size = entries_.size() - left_out;
  return {Stretch{0, size - tail_, false}, Stretch{entries_.size() - tail_, entries_.size(), true}};
}

void LogPattern::log_of(std::uint64_t before_last, std::span<const std::int64_t> moves,
                        TrafficLog& log) const {
  const auto places = static_cast<std::int64_t>(before_last);
  log.entries.clear();
  log.entries.reserve(entries_.size() - static_cast<std::size_t>(places * growth_));
  for (const Stretch& stretch : stretches(before_last)) {
    for (std::size_t i = stretch.first; i < stretch.last; ++i) {
      log.entries.push_back(moved(i, stretch.from_end, places, moves));
    }
  }
}

void LogPattern::log_of(std::uint64_t before_last, std::span<const std::int64_t> moves,
                        const std::vector<std::uint32_t>& only, TrafficLog& log) const {
  const auto places = static_cast<std::int64_t>(before_last);
  log.entries.clear();
  for (const Stretch& stretch : stretches(before_last)) {
    for (auto at = std::ranges::lower_bound(only, stretch.first);
         at != only.end() && *at < stretch.last; ++at) {
      log.entries.push_back(moved(*at, stretch.from_end, places, moves));
    }
  }
}

std::vector<std::uint32_t> LogPattern::entries_with(KindFilter wanted) const {
  std::vector<std::uint32_t> found;
  bool is_wanted = false;  // what an entry of bytes narrows
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].kind != Kind::bytes) is_wanted = wanted(entries_[i].kind);
    if (is_wanted) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

/// The entry is within what the steps know unless nothing moves.
TrafficEntry LogPattern::moved(std::size_t entry, bool from_end, std::int64_t places,
                               std::span<const std::int64_t> moves) const {
  TrafficEntry result = entries_[entry];
  if (result.kind == Kind::bytes) return result;
  const std::int64_t step = places == 0 ? 0
                            : from_end  ? tail_steps_[entries_.size() - 1 - entry]
                                        : head_steps_[entry];
  const std::int64_t move = moves.empty() ? 0 : moves[instruction_of_[entry]];
  result.set_sector(result.sector() + static_cast<std::uint64_t>(move - places * step));
  return result;
}

}  // namespace simgpu
