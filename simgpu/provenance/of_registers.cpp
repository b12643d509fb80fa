#include <algorithm>

#include "simgpu/exec/each_lane.h"
#include "simgpu/exec/fragment.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/opcodes/tensor.h"
#include "simgpu/provenance/provenance.h"

/// Provenance of what instructions compute from registers, and of exchanges between lanes.
namespace simgpu {
namespace {

constexpr unsigned kRegisterBytes = 8;

unsigned row_of(unsigned lane) { return lane / kLanesPerRow; }
unsigned column_of(unsigned lane) { return lane % kLanesPerRow; }

/// What a lane holds of a matrix of 8 x 8 halves once it is transposed: the halves of two other
/// lanes, of which each is the lower or the upper one.
struct Half {
  unsigned lane, at;
};
Half transposed_half(unsigned lane, unsigned half) {
  const unsigned row = column_of(lane) * 2 + half, column = row_of(lane);
  return {row * kLanesPerRow + column / 2, column % 2};
}

}  // namespace

void Provenance::set_all(const InstructionOrigins& rule, WarpOrigins& warp, std::uint32_t lanes,
                         ValueOrigins value) {
  for (const std::uint32_t reg : rule.results) {
    each_lane(lanes, [&](unsigned lane) { warp.set(reg, lane, value); });
  }
}

void Provenance::compute(const InstructionOrigins& rule, WarpOrigins& warp, std::uint32_t lanes) {
  const auto is_made_of_something = [&](std::uint32_t reg) { return warp.any(reg); };
  // Of most instructions, which compute addresses and conditions.
  if (std::ranges::none_of(rule.operands, is_made_of_something)) {
    return set_all(rule, warp, lanes, OriginSets::kNone);
  }
  each_lane(lanes, [&](unsigned lane) {
    ValueOrigins value = OriginSets::kNone;
    switch (rule.rule) {
      case OriginRule::halves:
        value = halves_of(rule, warp, lane);
        break;
      case OriginRule::packed:
        value = packed_of(rule, warp, lane);
        break;
      case OriginRule::moved:
        value = moved_of(rule, warp, lane);
        break;
      case OriginRule::chosen:
        value = warp.of(rule.operands[(step_.predicate >> lane & 1U) != 0 ? 0 : 1])[lane];
        break;
      default:
        for (const std::uint32_t reg : rule.operands) {
          value = sets_.unite(value, values_.used(warp.of(reg)[lane]));
        }
    }
    for (const std::uint32_t reg : rule.results) warp.set(reg, lane, value);
  });
}

ValueOrigins Provenance::halves_of(const InstructionOrigins& rule, const WarpOrigins& warp,
                                   unsigned lane) {
  ValueOrigins all = OriginSets::kNone;
  for (const std::uint32_t reg : rule.operands) all = halves_united(all, warp.of(reg)[lane]);
  return all;
}

ValueOrigins Provenance::halves_united(ValueOrigins one, ValueOrigins other) {
  ByteOrigins::Bytes bytes{};
  for (unsigned half = 0; half < 2; ++half) {
    OriginSet set = OriginSets::kNone;
    for (const ValueOrigins value : {one, other}) {
      set = sets_.unite(set, values_.used(values_.part(value, half * kOriginHalf, kOriginHalf)));
    }
    bytes[half * kOriginHalf] = bytes[half * kOriginHalf + 1] = set;
  }
  return values_.value(bytes, kOriginWord);
}

ValueOrigins Provenance::packed_of(const InstructionOrigins& rule, const WarpOrigins& warp,
                                   unsigned lane) {
  const OriginSet high = values_.used(warp.of(rule.operands[0])[lane]);
  const OriginSet low = values_.used(warp.of(rule.operands[1])[lane]);
  return values_.value({low, low, high, high}, kOriginWord);
}

ValueOrigins Provenance::moved_of(const InstructionOrigins& rule, const WarpOrigins& warp,
                                  unsigned lane) {
  if (rule.moves.is_plain_copy) return warp.of(rule.operands[0])[lane];
  const unsigned width =
      launch_->kernel.registers[rule.results[0]].slot.bytes / static_cast<unsigned>(kWarpSize);
  ByteOrigins::Bytes bytes{};
  for (unsigned at = 0; at < width; ++at) {
    const ByteMoves::Byte& move = rule.moves.result[at];
    if (move.is_copy) {
      bytes[at] = values_.byte(warp.of(rule.operands[move.operand])[lane], move.byte);
      continue;
    }
    for (std::uint32_t left = move.depends; left != 0; left &= left - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(left));
      const OriginSet from =
          values_.byte(warp.of(rule.operands[bit / kRegisterBytes])[lane], bit % kRegisterBytes);
      bytes[at] = sets_.unite(bytes[at], sets_.used(from));
    }
  }
  return values_.value(bytes, width);
}

/// Of a shuffle the lanes that are read, of the others the lanes that take part.
void Provenance::look_at_lanes(const Lowered& in, const Warp& warp, std::uint32_t lanes,
                               const InstructionOrigins& rule) {
  if (rule.rule == OriginRule::shuffled) {
    step_.sources = sources_of_shuffle(&in, warp, launch_->kernel.spellings[in.index]);
    return;
  }
  each_lane(lanes,
            [&](unsigned lane) { step_.sources[lane] = slot<std::uint32_t>(warp, in.b)[lane]; });
}

void Provenance::shuffle(const InstructionOrigins& rule, WarpOrigins& own, std::uint32_t lanes,
                         const Warp& warp) {
  const Lanes from = own.of(rule.operands[0]);
  each_lane(lanes, [&](unsigned lane) {
    const std::uint32_t source = step_.sources[lane];
    // Lanes elsewhere give what they have there.
    const bool is_here = ((lanes | warp.dead) >> source & 1U) != 0;
    if (!rule.results.empty()) {
      own.set(rule.results[0], lane, is_here ? from[source] : OriginSets::kUnknown);
    }
    for (std::size_t i = 1; i < rule.results.size(); ++i) {
      own.set(rule.results[i], lane, OriginSets::kNone);  // whether the source was in range
    }
  });
}

void Provenance::unite_lanes(const InstructionOrigins& rule, WarpOrigins& own, std::uint32_t lanes,
                             const Warp& warp) {
  const Lanes from = own.of(rule.operands[0]);
  std::uint32_t last = 0;
  OriginSet all = OriginSets::kNone;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint32_t named = step_.sources[lane] & ~warp.dead;
    if (named != last || named == 0) {
      all = (named & ~lanes) != 0 ? OriginSets::kUnknown : OriginSets::kNone;
      each_lane(named & lanes,
                [&](unsigned other) { all = sets_.unite(all, values_.used(from[other])); });
      last = named;
    }
    for (const std::uint32_t reg : rule.results) own.set(reg, lane, all);
  });
}

void Provenance::transpose(const InstructionOrigins& rule, WarpOrigins& own) {
  const Lanes from = own.of(rule.operands[0]);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    ByteOrigins::Bytes bytes{};
    for (unsigned half = 0; half < 2; ++half) {
      const Half source = transposed_half(lane, half);
      for (unsigned i = 0; i < kOriginHalf; ++i) {
        bytes[half * kOriginHalf + i] =
            values_.byte(from[source.lane], source.at * kOriginHalf + i);
      }
    }
    own.set(rule.results[0], lane, values_.value(bytes, kOriginWord));
  }
}

/// An element of D has its row of A, its column of B and its element of C. A register of A or B
/// belongs to one row, or column, in each lane.
void Provenance::multiply(const InstructionOrigins& rule, const Lowered& in, WarpOrigins& own) {
  const TensorProduct product = TensorProduct::decode(in.immediate);
  const InputFragment a = product.fragment_a(), b = product.fragment_b();
  const std::uint32_t* const of_a = rule.operands.data();
  const std::uint32_t* const of_b = of_a + product.input_registers(a);
  const std::uint32_t* const of_c = of_b + product.input_registers(b);
  const auto lines_of = [&](const InputFragment& fragment, const std::uint32_t* registers) {
    std::vector<OriginSet> lines(fragment.rows);
    for (unsigned i = 0; i < fragment.rows; ++i) {
      for (unsigned j = 0; j < fragment.column_blocks(); ++j) {
        const Lanes& lanes = own.of(registers[fragment.register_of(i / kBlockRows, j)]);
        for (unsigned t = 0; t < kLanesPerRow; ++t) {
          const unsigned lane = i % kBlockRows * kLanesPerRow + t;
          lines[i] = sets_.unite(lines[i], values_.used(lanes[lane]));
        }
      }
    }
    return lines;
  };
  const std::vector<OriginSet> rows = lines_of(a, of_a), columns = lines_of(b, of_b);
  const SumFragment c = product.fragment_c(), d = product.fragment_d();
  // An element's register, lane and half of it.
  const auto sum_at = [](const SumFragment& fragment, unsigned row, unsigned column) {
    const bool is_half = fragment.per_block() == 1;
    const unsigned first = fragment.register_of(row / kBlockRows, column / kBlockRows);
    const unsigned lane = row % kBlockRows * kLanesPerRow + column % kBlockRows / 2;
    return std::array{first + (is_half ? 0 : column % 2), lane, column % 2};
  };
  std::vector<OriginSet> sums(std::size_t{product.shape.m} * product.shape.n);
  for (unsigned row = 0; row < product.shape.m; ++row) {
    for (unsigned column = 0; column < product.shape.n; ++column) {
      const auto [reg, lane, half] = sum_at(c, row, column);
      ValueOrigins value = own.of(of_c[reg])[lane];
      if (c.per_block() == 1) value = values_.part(value, half * kOriginHalf, kOriginHalf);
      sums[row * product.shape.n + column] =
          sets_.unite(values_.used(value), sets_.unite(rows[row], columns[column]));
    }
  }
  for (unsigned row = 0; row < product.shape.m; ++row) {
    for (unsigned column = 0; column < product.shape.n; column += d.per_block() == 1 ? 2 : 1) {
      const auto [reg, lane, half] = sum_at(d, row, column);
      const OriginSet* const sum = &sums[row * product.shape.n + column];
      const ValueOrigins value =
          d.per_block() == 1 ? values_.value({sum[0], sum[0], sum[1], sum[1]}, kOriginWord) : *sum;
      own.set(rule.results[reg], lane, value);
    }
  }
}

}  // namespace simgpu
