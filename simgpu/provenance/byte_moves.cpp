#include "simgpu/provenance/byte_moves.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

#include "simgpu/warp_size.h"

namespace simgpu {
namespace {

using Lanes = std::array<std::uint64_t, kWarpSize>;

/// Numbers without a pattern, the same every time.
class Numbers {
 public:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t number = state_;
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
    return number ^ (number >> 31);
  }

 private:
  std::uint64_t state_ = 1;
};

/// Registers of a warp that nobody else sees.
class Trial {
 public:
  Trial(const LoweredKernel& kernel, const Lowered& in, const Warp& warp)
      : handler_(in.guarded != nullptr ? in.guarded : in.run),
        in_(in),
        registers_(kernel.register_bytes + kAlignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(registers_.data());
    warp_.regs = registers_.data() + (kAlignment - address % kAlignment) % kAlignment;
    warp_.mask = warp_.active = warp_.existed = ~0U;
    warp_.code = warp.code;
    warp_.lists = warp.lists;
    warp_.block = warp.block;
    warp_.index = warp.index;
    for (const LoweredKernel::Constant& constant : kernel.constants) {
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        std::memcpy(warp_.regs + constant.offset + lane * constant.bytes, &constant.bits,
                    constant.bytes);
      }
    }
  }

  Lanes run(std::span<const SlotRange> operands, std::span<const Lanes> values,
            const SlotRange& result) {
    std::memset(warp_.regs + result.offset, 0, result.bytes);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t bytes = operands[i].bytes / kWarpSize;
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        std::memcpy(warp_.regs + operands[i].offset + lane * bytes, &values[i][lane], bytes);
      }
    }
    handler_(&in_, warp_);
    Lanes results{};
    const std::size_t bytes = result.bytes / kWarpSize;
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      std::memcpy(&results[lane], warp_.regs + result.offset + lane * bytes, bytes);
    }
    return results;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  Handler handler_;
  const Lowered& in_;
  std::vector<std::byte> registers_;
  Warp warp_;
};

std::uint8_t byte_of(std::uint64_t value, unsigned at) {
  return static_cast<std::uint8_t>(value >> (8 * at));
}

/// In some lanes an operand is small, as distances and places are.
Lanes values_for(std::size_t operand, Numbers& numbers) {
  Lanes values;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint64_t number = numbers.next();
    values[lane] = (lane >> operand & 1U) != 0 ? number % 64 : number;
  }
  return values;
}

}  // namespace

ByteMoves find_byte_moves(const LoweredKernel& kernel, const Lowered& in, const Warp& warp,
                          std::span<const std::uint32_t> operands, std::uint32_t result) {
  constexpr int kRounds = 3;
  std::vector<SlotRange> slots;
  for (const std::uint32_t reg : operands) slots.push_back(kernel.registers[reg].slot);
  const SlotRange to = kernel.registers[result].slot;
  const unsigned width = to.bytes / kWarpSize;
  Trial trial(kernel, in, warp);
  Numbers numbers;
  ByteMoves moves;
  // By byte of the result: the bytes of operands that it was equal to in all lanes so far.
  std::array<std::uint32_t, ByteMoves::kMostBytes> equal;
  equal.fill(~0U);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Lanes> values;
    for (std::size_t i = 0; i < slots.size(); ++i) values.push_back(values_for(i, numbers));
    const Lanes base = trial.run(slots, values, to);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      for (unsigned byte = 0; byte < slots[i].bytes / kWarpSize; ++byte) {
        const std::uint32_t bit = 1U << (8 * i + byte);
        std::vector<Lanes> changed = values;
        for (std::uint64_t& value : changed[i]) value ^= (numbers.next() % 255 + 1) << (8 * byte);
        const Lanes after = trial.run(slots, changed, to);
        for (unsigned at = 0; at < width; ++at) {
          for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
            if (byte_of(base[lane], at) != byte_of(after[lane], at)) {
              moves.result[at].depends |= bit;
            }
            if (byte_of(base[lane], at) != byte_of(values[i][lane], byte)) equal[at] &= ~bit;
          }
        }
      }
    }
  }
  moves.is_plain_copy = slots.size() == 1 && slots[0].bytes == to.bytes;
  for (unsigned at = 0; at < width; ++at) {
    ByteMoves::Byte& byte = moves.result[at];
    const auto source = static_cast<unsigned>(std::countr_zero(byte.depends | 1U << 31));
    byte.is_copy = byte.depends == 1U << source && (equal[at] >> source & 1U) != 0;
    byte.operand = static_cast<std::uint8_t>(source / 8);
    byte.byte = static_cast<std::uint8_t>(source % 8);
    moves.is_plain_copy = moves.is_plain_copy && byte.is_copy && byte.byte == at;
  }
  return moves;
}

}  // namespace simgpu
