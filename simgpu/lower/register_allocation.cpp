#include "simgpu/lower/register_allocation.h"

#include <algorithm>
#include <array>
#include <queue>
#include <stdexcept>

namespace simgpu {
namespace {

using Bits = std::vector<std::uint64_t>;

bool test(const Bits& bits, std::uint32_t i) { return (bits[i / 64] >> (i % 64)) & 1U; }
void set(Bits& bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }
void clear(Bits& bits, std::uint32_t i) { bits[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

std::vector<std::uint32_t> members(const Bits& bits, std::uint32_t registers) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t r = 0; r < registers; ++r) {
    if (test(bits, r)) found.push_back(r);
  }
  return found;
}

/// Registers alive at the start and the end of each block.
struct Liveness {
  std::vector<Bits> in, out;
};

/// One instruction backwards. A guarded write leaves the old value in some lanes, so it does not
/// end a life.
void step_back(const Pending& p, Bits& live) {
  if (p.guard.kind == Ref::Kind::none) each_write(p, [&](std::uint32_t r) { clear(live, r); });
  each_read(p, [&](std::uint32_t r) { set(live, r); });
}

[[noreturn]] void refuse_analysis() {
  throw std::runtime_error("the kernel has too many branches and registers to be analysed");
}

std::vector<std::vector<std::uint32_t>> predecessors_of(const ControlFlow& flow) {
  std::vector<std::vector<std::uint32_t>> predecessors(flow.blocks());
  for (std::uint32_t block = 0; block < flow.blocks(); ++block) {
    for (const std::uint32_t next : flow.successors[block]) {
      if (next != flow.blocks()) predecessors[next].push_back(block);
    }
  }
  return predecessors;
}

Liveness find_liveness(const std::vector<Pending>& code, const ControlFlow& flow,
                       std::uint32_t registers) {
  // What compilers write takes a few turns over a few megabytes. Jumps in all directions can take
  // as many turns as there are blocks.
  constexpr std::uint64_t kMostBits = std::uint64_t{1} << 30;
  constexpr std::uint64_t kMostWords = std::uint64_t{1} << 29;
  if (std::uint64_t{flow.blocks()} * registers > kMostBits) refuse_analysis();
  const std::size_t words = registers / 64 + 1;
  Liveness result{std::vector<Bits>(flow.blocks(), Bits(words)),
                  std::vector<Bits>(flow.blocks(), Bits(words))};
  const auto predecessors = predecessors_of(flow);
  std::vector<char> is_due(flow.blocks(), 1);  // a block behind it has changed
  std::uint64_t words_seen = 0;
  Bits live(words);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t block = flow.blocks(); block-- > 0;) {
      if (is_due[block] == 0) continue;
      is_due[block] = 0;
      words_seen += words * (flow.successors[block].size() + 3);
      if (words_seen > kMostWords) refuse_analysis();
      std::fill(live.begin(), live.end(), 0);
      for (const std::uint32_t next : flow.successors[block]) {
        if (next == flow.blocks()) continue;  // the exit: nothing is alive there
        for (std::size_t i = 0; i < words; ++i) live[i] |= result.in[next][i];
      }
      result.out[block] = live;
      for (std::uint32_t i = flow.first[block + 1]; i-- > flow.first[block];) {
        step_back(code[i], live);
      }
      if (live != result.in[block]) {
        result.in[block] = live;
        changed = true;
        for (const std::uint32_t before : predecessors[block]) is_due[before] = 1;
      }
    }
  }
  return result;
}

std::uint32_t words_of(SlotKind kind) {
  return kind == SlotKind::pair ? 2 : kind == SlotKind::word ? 1 : 0;
}

std::uint32_t find_peak(const std::vector<Pending>& code, const ControlFlow& flow,
                        const Liveness& liveness, const std::vector<SlotKind>& kinds) {
  std::uint32_t peak = 0;
  for (std::uint32_t block = 0; block < flow.blocks(); ++block) {
    Bits live = liveness.out[block];
    std::uint32_t now = 0;
    for (std::uint32_t r = 0; r < kinds.size(); ++r) {
      if (test(live, r)) now += words_of(kinds[r]);
    }
    peak = std::max(peak, now);
    for (std::uint32_t i = flow.first[block + 1]; i-- > flow.first[block];) {
      if (code[i].guard.kind == Ref::Kind::none) {
        each_write(code[i], [&](std::uint32_t r) {
          if (test(live, r)) now -= words_of(kinds[r]);
          clear(live, r);
        });
      }
      each_read(code[i], [&](std::uint32_t r) {
        if (!test(live, r)) now += words_of(kinds[r]);
        set(live, r);
      });
      peak = std::max(peak, now);
    }
  }
  return peak;
}

/// First and last moment of a register's life; instruction i reads at 2i and writes at 2i + 1.
struct Interval {
  std::uint64_t start = ~std::uint64_t{0};
  std::uint64_t end = 0;
  void cover(std::uint64_t moment) {
    start = std::min(start, moment);
    end = std::max(end, moment);
  }
};

std::vector<Interval> find_intervals(const std::vector<Pending>& code, const ControlFlow& flow,
                                     const Liveness& liveness, std::uint32_t registers) {
  std::vector<Interval> intervals(registers);
  for (std::uint32_t block = 0; block < flow.blocks(); ++block) {
    const std::uint64_t begin = std::uint64_t{2} * flow.first[block];
    const std::uint64_t end = std::uint64_t{2} * flow.first[block + 1] - 1;
    for (std::uint32_t word = 0; word * 64 < registers; ++word) {
      for (std::uint64_t bits = liveness.in[block][word]; bits != 0; bits &= bits - 1) {
        intervals[word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits))].cover(begin);
      }
      for (std::uint64_t bits = liveness.out[block][word]; bits != 0; bits &= bits - 1) {
        intervals[word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits))].cover(end);
      }
    }
    for (std::uint32_t i = flow.first[block]; i < flow.first[block + 1]; ++i) {
      each_read(code[i], [&](std::uint32_t r) { intervals[r].cover(std::uint64_t{2} * i); });
      each_write(code[i], [&](std::uint32_t r) { intervals[r].cover(std::uint64_t{2} * i + 1); });
    }
  }
  return intervals;
}

}  // namespace

Allocation32 allocate_registers(const std::vector<Pending>& code, const ControlFlow& flow,
                                const std::vector<SlotKind>& kinds) {
  const auto registers = static_cast<std::uint32_t>(kinds.size());
  const Liveness liveness = find_liveness(code, flow, registers);
  const std::vector<Interval> intervals = find_intervals(code, flow, liveness, registers);

  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < registers; ++r) {
    if (intervals[r].start <= intervals[r].end) order.push_back(r);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
    return std::pair{intervals[x].start, x} < std::pair{intervals[y].start, y};
  });

  // Slot numbers per kind first; offsets once the number of slots of each kind is known.
  std::vector<std::uint32_t> slot(registers, 0);
  std::array<std::vector<std::uint32_t>, 3> free;
  std::array<std::uint32_t, 3> used{};
  using Ending = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  for (const std::uint32_t r : order) {
    while (!alive.empty() && alive.top().first < intervals[r].start) {
      const std::uint32_t ended = alive.top().second;
      free[static_cast<std::size_t>(kinds[ended])].push_back(slot[ended]);
      alive.pop();
    }
    const auto kind = static_cast<std::size_t>(kinds[r]);
    if (free[kind].empty()) {
      slot[r] = used[kind]++;
    } else {
      slot[r] = free[kind].back();
      free[kind].pop_back();
    }
    alive.emplace(intervals[r].end, r);
  }

  constexpr std::uint32_t kWordSlot = 128;
  constexpr std::uint32_t kAlignment = 64;
  Allocation32 result;
  const std::uint32_t words_at = (used[0] * 4 + kAlignment - 1) / kAlignment * kAlignment;
  const std::uint32_t pairs_at = words_at + used[1] * kWordSlot;
  result.bytes = pairs_at + used[2] * 2 * kWordSlot;
  result.offset.resize(registers, 0);
  result.lives.resize(registers, {1, 0});
  for (const std::uint32_t r : order) {
    result.lives[r] = {static_cast<std::uint32_t>(intervals[r].start / 2),
                       static_cast<std::uint32_t>(intervals[r].end / 2)};
  }
  for (const std::uint32_t r : order) {
    switch (kinds[r]) {
      case SlotKind::predicate:
        result.offset[r] = slot[r] * 4;
        break;
      case SlotKind::word:
        result.offset[r] = words_at + slot[r] * kWordSlot;
        break;
      case SlotKind::pair:
        result.offset[r] = pairs_at + slot[r] * 2 * kWordSlot;
        break;
    }
  }
  if (flow.blocks() > 0) result.live_at_entry = members(liveness.in[0], registers);
  for (const std::uint32_t block : flow.starts) {
    result.live_at_start.push_back(members(liveness.in[block], registers));
  }
  for (std::uint32_t block = 0; block < flow.blocks(); ++block) {
    if (code[flow.first[block + 1] - 1].flow != Flow::call) continue;
    result.live_after_call[block] = members(liveness.out[block], registers);
  }
  result.peak_words = find_peak(code, flow, liveness, kinds);
  return result;
}

}  // namespace simgpu
