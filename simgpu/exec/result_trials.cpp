#include "simgpu/exec/result_trials.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "simgpu/exec/each_lane.h"
#include "simgpu/lower/pending.h"

namespace simgpu {
namespace {

constexpr std::size_t kTrials = 7;
constexpr std::uint64_t kSigns = 0x8000800080008000;

/// What each lane has in a slot.
LaneBits values_of(const Warp& warp, const SlotRange& slot) {
  LaneBits values;
  const std::byte* const at = warp.regs + slot.offset;
  if (slot.bytes == slot_bytes(SlotKind::predicate)) {
    std::uint32_t mask = 0;
    std::memcpy(&mask, at, sizeof(mask));
    for (unsigned lane = 0; lane < kWarpSize; ++lane) values[lane] = mask >> lane & 1U;
  } else if (slot.bytes == slot_bytes(SlotKind::word)) {
    std::array<std::uint32_t, kWarpSize> words;
    std::memcpy(words.data(), at, sizeof(words));
    std::ranges::copy(words, values.begin());
  } else {
    std::memcpy(values.data(), at, sizeof(values));
  }
  return values;
}

void set_values(Warp& warp, const SlotRange& slot, const LaneBits& values) {
  std::byte* const at = warp.regs + slot.offset;
  if (slot.bytes == slot_bytes(SlotKind::predicate)) {
    std::uint32_t mask = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      mask |= static_cast<std::uint32_t>(values[lane] & 1U) << lane;
    }
    std::memcpy(at, &mask, sizeof(mask));
  } else if (slot.bytes == slot_bytes(SlotKind::word)) {
    std::array<std::uint32_t, kWarpSize> words;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      words[lane] = static_cast<std::uint32_t>(values[lane]);
    }
    std::memcpy(at, words.data(), sizeof(words));
  } else {
    std::memcpy(at, values.data(), sizeof(values));
  }
}

/// Some numbers without a pattern.
std::uint64_t scrambled(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}

/// What a type's values are tried with.
enum class Values : std::uint8_t { bits, half, single, twice };

Values values_of(std::string_view spelling) {
  if (spelling.ends_with("f32")) return Values::single;
  if (spelling.ends_with("f64")) return Values::twice;
  if (spelling.ends_with("f16") || spelling.ends_with("f16x2")) return Values::half;
  return Values::bits;
}

/// Clears a bit of each exponent, so that it is not all ones.
std::uint64_t finite(Values kind, std::uint64_t bits) {
  switch (kind) {
    case Values::bits:
      return bits;
    case Values::half:  // of f16 it is bit 10, of bf16 bit 7
      return bits & ~std::uint64_t{0x0480048004800480};
    case Values::single:
      return bits & ~std::uint64_t{0x0080000000800000};
    case Values::twice:
      return bits & ~std::uint64_t{0x0010000000000000};
  }
  return bits;
}

/// @param operand its number among those that are tried
std::uint64_t pattern(Values kind, std::size_t trial, std::size_t operand) {
  // Zero and the largest value of either sign: whatever a value is compared with, one of these
  // comes out differently. What memory holds by chance may be no number: times 0 it is none either.
  constexpr std::array<std::array<std::uint64_t, 4>, 4> kExtremes{{
      {0, 0, 0, 0},
      {~std::uint64_t{0}, 0x7BFF7BFF7BFF7BFF, 0x7F7FFFFF7F7FFFFF, 0x7FEFFFFFFFFFFFFF},
      {0x7F7F7F7F7F7F7F7F, 0xFBFFFBFFFBFFFBFF, 0xFF7FFFFFFF7FFFFF, 0xFFEFFFFFFFFFFFFF},
      {~std::uint64_t{0}, 0x7FFF7FFF7FFF7FFF, 0x7FFFFFFF7FFFFFFF, 0x7FFFFFFFFFFFFFFF},
  }};
  if (trial < kExtremes.size()) return kExtremes[trial][static_cast<std::size_t>(kind)];
  return finite(kind, scrambled(0x9E3779B97F4A7C15 * (trial * 64 + operand + 1)));
}

/// How far a difference reaches: all of a rounded result depends on what changes any of it, and a
/// sum's carries go upwards.
std::uint64_t widened(const InstructionInfo& info, bool moves_bits, std::uint64_t different) {
  if (different == 0) return 0;
  switch (info.cls) {
    case InstructionClass::fp32:
    case InstructionClass::fp64:
    case InstructionClass::special:
      return ~std::uint64_t{0};
    case InstructionClass::fp16:
    case InstructionClass::tensor:
    case InstructionClass::conversion: {
      std::uint64_t halves = 0;
      for (unsigned at = 0; at < 64; at += 16) {
        if ((different >> at & 0xFFFF) != 0) halves |= std::uint64_t{0xFFFF} << at;
      }
      return halves;
    }
    default:
      return moves_bits ? different : ~std::uint64_t{0} << std::countr_zero(different);
  }
}

/// Registers as they were, whatever ends the trials.
class KeptSlots {
 public:
  explicit KeptSlots(Warp& warp) : warp_(warp), mask_(warp.mask) {}
  ~KeptSlots() {
    restore();
    warp_.mask = mask_;
  }
  KeptSlots(const KeptSlots&) = delete;
  KeptSlots& operator=(const KeptSlots&) = delete;

  void keep(const SlotRange& slot) {
    Kept& kept = kept_.emplace_back();
    kept.slot = slot;
    std::memcpy(kept.bytes.data(), warp_.regs + slot.offset, slot.bytes);
  }
  void restore() const {
    for (const Kept& kept : kept_) {
      std::memcpy(warp_.regs + kept.slot.offset, kept.bytes.data(), kept.slot.bytes);
    }
  }

 private:
  struct Kept {
    SlotRange slot;
    std::array<std::byte, slot_bytes(SlotKind::pair)> bytes;
  };
  Warp& warp_;
  std::uint32_t mask_;
  std::vector<Kept> kept_;
};

/// A register with undefined bits, to be given other values in these.
struct Operand {
  SlotRange slot;
  LaneBits defined{}, undefined{};

  /// @param lanes in which these bits are undefined
  Operand(const Warp& warp, const SlotRange& of, std::uint32_t lanes, const LaneBits& bits)
      : slot(of), defined(values_of(warp, of)) {
    each_lane(lanes, [&](unsigned lane) {
      undefined[lane] = bits[lane];
      defined[lane] &= ~bits[lane];
    });
  }
  void set(Warp& warp, std::uint64_t values) const {
    LaneBits now;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      now[lane] = defined[lane] | (values & undefined[lane]);
    }
    set_values(warp, slot, now);
  }
};

/// What a result was in the first trial, and which bits were ever different.
struct Result {
  SlotRange slot;
  LaneBits first{}, different{};

  /// @param zeros_are_alike whatever their signs
  void compare(const LaneBits& now, bool zeros_are_alike) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const bool both_zero = zeros_are_alike && ((now[lane] | first[lane]) & ~kSigns) == 0;
      different[lane] |= both_zero ? 0 : now[lane] ^ first[lane];
    }
  }
};

}  // namespace

bool moves_bits(const InstructionInfo& info, std::string_view spelling) {
  constexpr std::array<std::string_view, 11> kMoves{"selp.", "and.", "or.",  "xor.", "not.", "shl.",
                                                    "shr.",  "bfe.", "bfi.", "prmt", "shf."};
  if (info.cls == InstructionClass::move) return true;
  if (spelling.starts_with("cvt.")) return info.cls == InstructionClass::integer;
  return std::ranges::any_of(kMoves, [&](auto name) { return spelling.starts_with(name); });
}

bool only_computes(const InstructionInfo& info) {
  return !info.writes.empty() && info.access_bytes == 0 && only_computes(info.cls);
}

std::uint64_t all_bits(const SlotRange& slot) {
  if (slot.bytes == slot_bytes(SlotKind::predicate)) return 1;
  return slot.bytes == slot_bytes(SlotKind::word) ? 0xFFFFFFFF : ~std::uint64_t{0};
}

std::vector<LaneBits> ResultTrials::run(const Lowered* in, Warp& warp, std::uint32_t lanes,
                                        std::span<const std::uint32_t> operands) const {
  const InstructionInfo& info = kernel_.info.instructions[in->index];
  const std::string_view spelling = kernel_.spellings[in->index];
  const Values kind = values_of(spelling);
  const auto slot_of = [&](std::uint32_t reg) { return kernel_.registers[reg].slot; };

  KeptSlots kept(warp);
  std::vector<Operand> tried;
  for (const std::uint32_t reg : operands) {
    tried.emplace_back(warp, slot_of(reg), values_.lanes(reg), values_.bits(reg));
  }
  std::vector<Result> results;
  for (const std::uint32_t reg : info.writes) results.push_back({.slot = slot_of(reg)});
  for (const Operand& one : tried) kept.keep(one.slot);
  for (const Result& result : results) kept.keep(result.slot);
  warp.mask = lanes;
  const Handler handler = in->guarded != nullptr ? in->guarded : in->run;
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    for (std::size_t i = 0; i < tried.size(); ++i) tried[i].set(warp, pattern(kind, trial, i));
    handler(in, warp);
    for (Result& result : results) {
      const LaneBits now = values_of(warp, result.slot);
      if (trial == 0) result.first = now;
      result.compare(now, kind != Values::bits);
    }
    kept.restore();
  }
  const bool moves = moves_bits(info, spelling);
  std::vector<LaneBits> different(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::uint64_t all = all_bits(results[i].slot);
    each_lane(lanes, [&](unsigned lane) {
      different[i][lane] = widened(info, moves, results[i].different[lane]) & all;
    });
  }
  return different;
}

}  // namespace simgpu
