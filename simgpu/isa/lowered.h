#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/isa/cost.h"
#include "simgpu/isa/kernel_info.h"
#include "simgpu/warp_size.h"

/// What lowering makes of a kernel: a flat vector of instructions that the engine runs without
/// looking at PTX.
namespace simgpu {

struct Warp;
struct Lowered;

/// Executes one instruction for the lanes in Warp::mask and returns the next one, or nullptr when
/// the warp has to stop for now (barrier, end, used-up quantum); Warp::resume then says where it
/// goes on.
using Handler = const Lowered* (*)(const Lowered*, Warp&);

/// "No such instruction": a branch whose sides only meet at the end of the kernel.
inline constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;

/// When a result is used, as far as a warp's clock asks (Warp::time): a warp does not wait for a
/// load, but for the value that an instruction reads.
enum class ResultUse : std::uint8_t {
  soon,   ///< what certainly follows reads it; also of what is no load
  later,  ///< elsewhere, or in some lanes or turns alone
  never,  ///< nothing comes of it: the assembler leaves the instruction out
};

/// One executable instruction. Operands are byte offsets into the warp's register file: values of
/// up to 32 bits take 32 lanes x 4 bytes, 64-bit values 32 lanes x 8 bytes, predicates one 32-bit
/// mask. Literals have slots of their own, so a handler does not tell them from registers.
struct Lowered {
  Handler run = nullptr;
  std::uint32_t dst = 0, dst2 = 0;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  std::int64_t immediate = 0;  ///< byte offset of an address, or what the handler defines
  std::uint32_t list = 0;      ///< first of further operands in LoweredKernel::lists
  std::uint32_t index = 0;     ///< of this instruction in the kernel
  std::uint32_t target = 0;    ///< of a branch
  std::uint32_t reconvergence = kNowhere;  ///< where the sides of a divergent branch meet again
  std::uint32_t guard = 0;                 ///< predicate of a guarded instruction
  std::uint32_t guard_flip = 0;            ///< all ones for @!p
  Handler guarded = nullptr;       ///< what runs under the guard; nullptr when there is none
  std::uint32_t block_length = 0;  ///< instructions from here to the end of the basic block
  std::uint32_t option = 0;        ///< what the handler defines
  std::uint32_t site = 0;          ///< memory instructions: index of the access-pattern memory
  std::uint32_t block_slots = 0;   ///< issue slots of the machine, over the same as block_length
  std::uint32_t basic_block = 0;   ///< that it is in, counting from 0
  ResultUse result_use = ResultUse::soon;
};

/// Slots of the register file.
struct SlotRange {
  std::uint32_t offset = 0, bytes = 0;
};

/// A device function with a body of its own, because it calls itself or is called through its
/// address. Other functions are inlined.
struct OutOfLineFunction {
  std::string name;               ///< mangled
  std::uint32_t entry = 0;        ///< instruction
  std::uint32_t signature = 0;    ///< functions and calls of the same number fit together
  std::uint32_t local_bytes = 0;  ///< of its .local variables, in each activation
  /// What an activation takes of its thread's stack: local variables, saved registers and the
  /// return address, or parameters, whichever are more.
  std::uint32_t frame_bytes = 0;
  std::vector<SlotRange> zeroed;  ///< registers that may be read before they are written
};

/// Where what a call passes lies in a thread's .param memory, on both sides of the call.
struct PassedValue {
  std::uint32_t caller = 0;  ///< offset of the caller's variable
  bool in_frame = false;     ///< it counts from the caller's stack pointer
  std::uint32_t callee = 0;  ///< offset in the callee's frame
  std::uint32_t bytes = 0;
};

/// A call of an out-of-line function.
struct CallSite {
  static constexpr std::uint32_t kIndirect = 0xFFFFFFFFU;
  std::uint32_t function = kIndirect;  ///< index in LoweredKernel::functions
  std::uint32_t signature = 0;
  std::uint32_t caller_frame_bytes = 0;  ///< 0 in the kernel itself, which has no frame
  std::vector<PassedValue> results, arguments;
  std::vector<SlotRange> saved;  ///< registers of the caller that it reads after the call
};
inline constexpr std::uint32_t kFrameAlignment = 16;

/// Registers that decide where threads go and what they touch, and when each may be alive.
struct ControlState {
  struct Register {
    SlotRange slot;
    std::uint32_t first = 0, last = 0;  ///< instructions
  };
  std::vector<Register> registers;
  bool needs_memory = true;  ///< so does what memory holds
};

/// A register of the program, as InstructionInfo numbers them.
struct VirtualRegister {
  SlotRange slot;
  std::uint32_t last = 0;  ///< instruction; behind it the register is not read before it is written
};

/// A kernel ready to run.
struct LoweredKernel {
  KernelInfo info;
  std::vector<Lowered> code;
  std::vector<std::uint32_t> lists;    ///< operands and branch tables that do not fit in Lowered
  std::vector<FloatKind> float_kinds;  ///< by instruction
  std::vector<std::string> spellings;  ///< by instruction, "ld.shared.f32", for messages
  std::uint32_t basic_blocks = 0;
  std::vector<char> hidden;          ///< by instruction: made by lowering, counts nowhere
  std::uint32_t register_bytes = 0;  ///< of one warp's register file
  struct Constant {
    std::uint32_t offset = 0;
    std::uint8_t bytes = 4;
    std::uint64_t bits = 0;
    std::uint32_t array = 0;  ///< whose address it is: KernelInfo::shared_arrays, plus one
  };
  std::vector<Constant> constants;  ///< literals to be spread over their slots before the launch
  std::vector<SlotRange> zeroed;    ///< registers that may be read before they are written
  std::vector<std::uint32_t> unwritten;     ///< the same registers, by number
  std::vector<VirtualRegister> registers;   ///< by number
  ControlState control;                     ///< whose repetition proves that a loop has no end
  std::vector<std::uint32_t> memory_sites;  ///< the memory instructions: Lowered::site counts them
  SlotRange reserved_shared;  ///< the driver's part of shared memory, which starts as zeros
  std::uint32_t frame_bytes_per_thread = 0;  ///< .param space of inlined calls

  // Calls that are not inlined; all empty for most kernels. Frames lie in local memory and in
  // .param memory behind what is declared above, at the offset that the stack pointer holds.
  std::vector<OutOfLineFunction> functions;
  std::vector<CallSite> call_sites;
  struct Target {
    std::string name;                              ///< mangled
    std::uint32_t function = CallSite::kIndirect;  ///< kIndirect: no call of this kernel fits it
  };
  std::map<std::uint64_t, Target> targets;  ///< what function pointers can point to, by address
  bool uses_stack = false;                  ///< alloca
  std::uint32_t stack_pointer = 0;          ///< slot; bytes of the frames below the current one
  std::vector<std::string> refusals;        ///< what only stops a launch when it is reached
};

/// A PTX module made executable: its module-scope variables are placed in device memory by whoever
/// lowers it.
class Program {
 public:
  std::map<std::string, LoweredKernel> kernels;
};

/// The module's kernel of that (mangled) name; nullptr when there is none.
const KernelInfo* find_kernel(const Program& program, const std::string& name);
std::vector<std::string> kernel_names(const Program& program);

}  // namespace simgpu
