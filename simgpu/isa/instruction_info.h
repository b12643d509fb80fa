#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/isa/machine_sequence.h"
#include "simgpu/ptx/ast.h"

/// What the counters, checkers and time model need to know of a lowered instruction. The engine
/// fills one per instruction; nothing here is needed to execute it.
namespace simgpu {

/// Which hardware unit an instruction keeps busy. One warp instruction counts in exactly one class.
enum class InstructionClass : std::uint8_t {
  fp32,
  fp64,
  fp16,  ///< on CUDA cores, packed halves included
  integer,
  conversion,
  special,  ///< sin, ex2, rcp … on the SFUs
  tensor,
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic,
  local_load,
  local_store,
  constant_load,
  async_copy,  ///< from global to shared memory
  generic_access,
  control,
  barrier,
  warp_exchange,
  move,
  other,
};
inline constexpr int kInstructionClasses = static_cast<int>(InstructionClass::other) + 1;
const char* name_of(InstructionClass cls);

/// Whether instructions of the class make results of their operands, and do nothing else.
constexpr bool only_computes(InstructionClass cls) {
  switch (cls) {
    case InstructionClass::fp32:
    case InstructionClass::fp64:
    case InstructionClass::fp16:
    case InstructionClass::integer:
    case InstructionClass::conversion:
    case InstructionClass::special:
    case InstructionClass::tensor:
    case InstructionClass::move:
      return true;
    default:
      return false;
  }
}

/// As far as its class tells: generic addresses may point there.
constexpr bool loads_from_global(InstructionClass cls) {
  return cls == InstructionClass::global_load || cls == InstructionClass::async_copy ||
         cls == InstructionClass::generic_access;
}

constexpr bool is_atomic(InstructionClass cls) {
  return cls == InstructionClass::global_atomic || cls == InstructionClass::shared_atomic;
}

/// What an instruction does to the asynchronous copies of its thread.
enum class AsyncStep : std::uint8_t {
  none,
  copy,
  commit,      ///< closes a group of copies, be it by letting them arrive at an mbarrier
  wait,        ///< until only InstructionInfo::groups_under_way groups are not done
  wait_all,    ///< until nothing is under way, committed or not
  wait_phase,  ///< for an mbarrier: LoadCounts::at_mbarriers says which groups it leaves
};

struct InstructionInfo {
  InstructionClass cls = InstructionClass::other;
  /// Type of its floating-point operations, none for others
  ptx::Type flop_type = ptx::Type::none;
  std::uint32_t flops_per_thread = 0;  ///< 2 for an fma, 4 for an fma on f16x2 …
  std::uint32_t flops_per_warp = 0;    ///< tensor instructions: of the whole warp
  std::vector<std::uint32_t> writes;   ///< lowered register slots, for the dependence chain
  std::vector<std::uint32_t> reads;
  /// Those of `reads` that are an instruction's first operands, and its guard; kNoRegister for
  /// literals and where there is none.
  static constexpr std::uint32_t kNoRegister = ~0U;
  std::array<std::uint32_t, 4> operands{kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  std::uint32_t guard = kNoRegister;
  /// Of a load or store: what it adds to the first of `operands`, or the address where that is
  /// kNoRegister.
  std::int64_t address_offset = 0;
  /// Words of .param variables, in which values come to functions and back: which of them are read
  /// and written.
  std::vector<std::uint32_t> reads_passed, writes_passed;
  AsyncStep async_step = AsyncStep::none;
  std::uint32_t groups_under_way = 0;
  bool starts_block = false;  ///< first of a basic block
  /// Of the first of a basic block: the first instructions of those that may follow it. One past
  /// the last instruction stands for the end.
  std::vector<std::uint32_t> leads_to;
  unsigned access_bytes = 0;  ///< bytes per lane of a memory access
  bool only_stores = false;   ///< what it reads behind its address is stored as it is
  /// False for what the machine's assembler drops or folds (mov of an immediate, cvta, a ld.param
  /// that becomes a constant operand): it is executed here, but takes no issue slot in the model.
  bool issues = true;
  MachineSequence sequence;  ///< empty: it is one instruction of the machine too
  /// That it takes of its scheduler.
  unsigned issue_slots() const {
    if (!issues) return 0;
    return sequence.empty() ? 1 : sequence.instructions();
  }
  /// A fence between blocks: what follows waits until all that its warp has under way is done.
  bool fences = false;
  std::uint32_t ptx_line = 0;  ///< in the module's PTX, from 1
  std::uint32_t file = 0;      ///< in KernelInfo::files; 0: unknown
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t call = 0;  ///< in KernelInfo::calls, plus one; 0: the place is in the kernel itself
  /// Of a load: from which of the bytes that it accesses something is computed. Others are only
  /// stored again, or dropped, as when a struct is copied: they may be its padding, and unwritten.
  std::uint16_t used_bytes = 0xFFFF;
  bool meets_atomics = false;  ///< see AccessFacts
  /// A load that takes global memory to be the same throughout the launch: .nc, ldu, textures.
  bool reads_unchanged = false;
  std::uint32_t shared_array = 0;  ///< whose address the access is computed from:
                                   ///< KernelInfo::shared_arrays, plus one; 0: none or unknown
};

/// How often one instruction was executed.
struct ExecutionCount {
  std::uint64_t warps = 0;
  std::uint64_t threads = 0;
  bool operator==(const ExecutionCount&) const = default;
};

}  // namespace simgpu
