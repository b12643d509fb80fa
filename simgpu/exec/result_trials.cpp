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

constexpr std::size_t kTrials = 6;
constexpr std::uint64_t kSigns = 0x8000800080008000;

std::uint64_t value_of(const Warp& warp, const SlotRange& slot, unsigned lane) {
  const std::byte* const at = warp.regs + slot.offset;
  if (slot.bytes == slot_bytes(SlotKind::predicate)) {
    std::uint32_t mask = 0;
    std::memcpy(&mask, at, sizeof(mask));
    return mask >> lane & 1U;
  }
  const std::size_t size = slot.bytes / kWarpSize;
  std::uint64_t value = 0;
  std::memcpy(&value, at + lane * size, size);
  return value;
}

void set_value(Warp& warp, const SlotRange& slot, unsigned lane, std::uint64_t value) {
  std::byte* const at = warp.regs + slot.offset;
  if (slot.bytes == slot_bytes(SlotKind::predicate)) {
    std::uint32_t mask = 0;
    std::memcpy(&mask, at, sizeof(mask));
    mask = (mask & ~(1U << lane)) | (static_cast<std::uint32_t>(value & 1U) << lane);
    std::memcpy(at, &mask, sizeof(mask));
    return;
  }
  const std::size_t size = slot.bytes / kWarpSize;
  std::memcpy(at + lane * size, &value, size);
}

/// Some numbers without a pattern.
std::uint64_t scrambled(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}

/// What a type's values are tried with; floats are finite, so that a product with 0 is 0.
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
  // comes out differently.
  constexpr std::array<std::array<std::uint64_t, 4>, 3> kExtremes{{
      {0, 0, 0, 0},
      {~std::uint64_t{0}, 0x7BFF7BFF7BFF7BFF, 0x7F7FFFFF7F7FFFFF, 0x7FEFFFFFFFFFFFFF},
      {0x7F7F7F7F7F7F7F7F, 0xFBFFFBFFFBFFFBFF, 0xFF7FFFFFFF7FFFFF, 0xFFEFFFFFFFFFFFFF},
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
    const std::byte* const first = warp_.regs + slot.offset;
    kept_.emplace_back(slot, std::vector<std::byte>(first, first + slot.bytes));
  }
  void restore() const {
    for (const auto& [slot, bytes] : kept_) {
      std::memcpy(warp_.regs + slot.offset, bytes.data(), bytes.size());
    }
  }

 private:
  Warp& warp_;
  std::uint32_t mask_;
  std::vector<std::pair<SlotRange, std::vector<std::byte>>> kept_;
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
  for (const std::uint32_t reg : operands) kept.keep(slot_of(reg));
  for (const std::uint32_t reg : info.writes) kept.keep(slot_of(reg));
  warp.mask = lanes;
  const Handler handler = in->guarded != nullptr ? in->guarded : in->run;
  std::vector<LaneBits> first(info.writes.size()), different(info.writes.size());
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const SlotRange slot = slot_of(operands[i]);
      const LaneBits& bits = values_.bits(operands[i]);
      each_lane(values_.lanes(operands[i]), [&](unsigned lane) {
        const std::uint64_t value = value_of(warp, slot, lane) & ~bits[lane];
        set_value(warp, slot, lane, value | (pattern(kind, trial, i) & bits[lane]));
      });
    }
    handler(in, warp);
    for (std::size_t i = 0; i < info.writes.size(); ++i) {
      const SlotRange slot = slot_of(info.writes[i]);
      each_lane(lanes, [&](unsigned lane) {
        const std::uint64_t value = value_of(warp, slot, lane);
        if (trial == 0) first[i][lane] = value;
        const bool both_zero = kind != Values::bits && ((value | first[i][lane]) & ~kSigns) == 0;
        if (!both_zero) different[i][lane] |= value ^ first[i][lane];
      });
    }
    kept.restore();
  }
  for (std::size_t i = 0; i < different.size(); ++i) {
    const std::uint64_t all = all_bits(slot_of(info.writes[i]));
    for (std::uint64_t& bits : different[i]) {
      bits = widened(info, moves_bits(info, spelling), bits) & all;
    }
  }
  return different;
}

}  // namespace simgpu
