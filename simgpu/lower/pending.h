#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/isa/cost.h"
#include "simgpu/isa/lowered.h"

/// Instructions between PTX and their final form: operands are still virtual registers.
namespace simgpu {

/// A value that an instruction reads or writes.
struct Ref {
  enum class Kind : std::uint8_t { none, reg, constant };
  Kind kind = Kind::none;
  std::uint32_t index = 0;  ///< virtual register, or index into the literals
};

/// What kind of slot a virtual register needs.
enum class SlotKind : std::uint8_t { predicate, word, pair };

/// Bytes of the slot, all lanes together.
constexpr std::uint32_t slot_bytes(SlotKind kind) {
  return kind == SlotKind::predicate ? 4U : kind == SlotKind::word ? 128U : 256U;
}
/// @throws Unsupported for types of more than 64 bits
SlotKind slot_kind(ptx::Type type);

/// `call` goes on at the next instruction, after the callee; `leave` ends an out-of-line function.
enum class Flow : std::uint8_t { next, branch, jump, exit, table, call, leave };

struct Pending {
  Handler handler = nullptr;
  Ref dst, dst2, a, b, c, d;
  std::vector<Ref> outs, ins;  ///< further operands; they follow each other in LoweredKernel::lists
  Ref guard;
  bool guard_negated = false;
  Flow flow = Flow::next;
  std::vector<std::uint32_t> labels;  ///< branch targets
  std::int64_t immediate = 0;
  std::uint32_t option = 0;
  bool is_memory = false;
  bool hidden = false;  ///< made by lowering, no instruction of the program
  Cost cost;
  AsyncStep async_step = AsyncStep::none;  ///< `option` of a wait is the groups it leaves
  unsigned access_bytes = 0;
  std::string spelling;
  std::uint32_t ptx_line = 0, file = 0, line = 0, column = 0, call = 0;
  bool is_volatile = false;
  bool may_wait_for_blocks = false;                        ///< it looks at what another may change
  bool orders_others = false;                              ///< a load that is more than weak
  bool reads_unchanged = false;                            ///< see InstructionInfo
  std::vector<std::uint32_t> reads_passed, writes_passed;  ///< see InstructionInfo
  bool only_stores = false;  ///< `b` and `ins` are stored, nothing is computed from them
};

/// Calls visit(register) for each that an instruction reads, its guard among them.
template <class Visit>
void each_read(const Pending& p, Visit visit) {
  for (const Ref* ref : {&p.a, &p.b, &p.c, &p.d, &p.guard}) {
    if (ref->kind == Ref::Kind::reg) visit(ref->index);
  }
  for (const Ref& ref : p.ins) {
    if (ref.kind == Ref::Kind::reg) visit(ref.index);
  }
}

/// Likewise for each that it writes.
template <class Visit>
void each_write(const Pending& p, Visit visit) {
  for (const Ref* ref : {&p.dst, &p.dst2}) {
    if (ref->kind == Ref::Kind::reg) visit(ref->index);
  }
  for (const Ref& ref : p.outs) {
    if (ref.kind == Ref::Kind::reg) visit(ref.index);
  }
}

}  // namespace simgpu
