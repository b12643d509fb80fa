#include "simgpu/exec/unwritten_registers.h"

#include <algorithm>
#include <limits>

#include "simgpu/exec/result_trials.h"

namespace simgpu {
namespace {

bool is_undefined(const UndefinedValues& values, std::uint32_t reg, unsigned lane) {
  return (values.lanes(reg) >> lane & 1U) != 0;
}

/// Whether a store stores a value that the lane has defined; literals are.
bool has_defined(const UndefinedValues& values, const InstructionInfo& store, unsigned lane) {
  bool has_registers = false;
  for (const std::uint32_t reg : store.reads) {
    if (reg == store.operands[0] || reg == store.guard) continue;
    if (!is_undefined(values, reg, lane)) return true;
    has_registers = true;
  }
  return !has_registers;
}

/// Whether two stores put parts of one statement's value side by side.
bool stores_beside(const InstructionInfo& one, const InstructionInfo& other) {
  return other.only_stores && one.cls == other.cls && one.line == other.line &&
         one.file == other.file && one.call == other.call && one.operands[0] == other.operands[0];
}

}  // namespace

void begin_unwritten(const LoweredKernel& kernel, UndefinedValues& values, std::uint32_t lanes) {
  for (const std::uint32_t reg : kernel.unwritten) {
    values.set(reg, lanes, all_bits(kernel.registers[reg].slot), UndefinedValues::kUnwritten);
  }
}

void forget_dead_registers(const LoweredKernel& kernel, std::uint32_t index,
                           UndefinedValues& values, std::uint32_t lanes) {
  if (index <= values.alive_until()) return;
  std::uint32_t alive_until = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t reg : values.registers()) {
    const std::uint32_t last = kernel.registers[reg].last;
    if (index > last) {
      values.define(reg, lanes);
      // Those of other lanes are forgotten when these come here.
      if (values.lanes(reg) != 0) alive_until = 0;
    } else {
      alive_until = std::min(alive_until, last);
    }
  }
  values.note_alive_until(alive_until);
}

std::vector<StoredValue> stored_values(const LoweredKernel& kernel, const Lowered& in,
                                       const Warp& warp) {
  const std::string& spelling = kernel.spellings[in.index];
  const InstructionInfo& info = kernel.info.instructions[in.index];
  const std::uint32_t count = spelling.find(".v4") != spelling.npos   ? 4
                              : spelling.find(".v2") != spelling.npos ? 2
                                                                      : 1;
  const std::uint32_t bytes = info.access_bytes / count;
  std::vector<StoredValue> stored;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slot = count == 1 ? in.b : warp.lists[in.list + i];
    StoredValue& value = stored.emplace_back();
    value.offset = i * bytes;
    value.bytes = bytes;
    const auto reg = std::ranges::find_if(
        info.reads, [&](std::uint32_t each) { return kernel.registers[each].slot.offset == slot; });
    if (reg != info.reads.end()) value.reg = *reg;
  }
  return stored;
}

bool copies_a_part(const LoweredKernel& kernel, std::uint32_t index, const UndefinedValues& values,
                   const std::vector<StoredValue>& stored, const StoredValue& value,
                   unsigned lane) {
  // A half of two, or a field of bits.
  const std::uint64_t undefined = values.bits(value.reg)[lane] & value.bits();
  if (undefined != value.bits()) return true;
  const bool has_others = std::ranges::any_of(stored, [&](const StoredValue& other) {
    return other.reg == StoredValue::kLiteral || !is_undefined(values, other.reg, lane);
  });
  if (has_others) return true;
  const std::vector<InstructionInfo>& all = kernel.info.instructions;
  std::size_t first = index, last = index;
  while (!all[first].starts_block) --first;
  while (last + 1 < all.size() && !all[last + 1].starts_block) ++last;
  for (std::size_t i = first; i <= last; ++i) {
    if (i != index && stores_beside(all[index], all[i]) && has_defined(values, all[i], lane)) {
      return true;
    }
  }
  return false;
}

}  // namespace simgpu
