#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/lower/builder.h"

/// What files of opcodes share. Each NAME.cpp beside this header defines `OpcodeFile
/// NAME_opcodes()`: the build finds it by its name.
namespace simgpu {

/// What atom and red do, type included: "add.u32", "add.noftz.f16x2".
std::vector<std::string> atomic_operations();

/// By lane: the lane that it reads from in a shuffle, itself where that lies outside of its
/// segment.
std::array<std::uint32_t, kWarpSize> sources_of_shuffle(const Lowered* in, const Warp& warp,
                                                        std::string_view spelling);

/// Handlers that lowering itself needs.
namespace hidden {
extern const Handler kJump;          ///< falls into the next basic block: target
extern const Handler kBranch;        ///< conditional branch on Lowered::guard
extern const Handler kBranchAlways;  ///< jump that the program has
extern const Handler kExit;          ///< ends the lanes of the mask
extern const Handler kGuarded;       ///< runs Lowered::guarded for the lanes of the guard
extern const Handler kSaturate;      ///< 64-bit address to 32 bits, too large ones to all ones
extern const Handler kWiden;         ///< 32-bit to 64-bit, zero-extended
extern const Handler kNotPredicate;  ///< dst = !a
extern const Handler kFrameAddress32, kFrameAddress64;  ///< dst = a + immediate, zero-extended
extern const Handler kElementAddress;  ///< dst = a + 32 bits of (b + c) * d; a and dst have 64
extern const Handler kPartByTarget;    ///< before a kCall: lanes of different targets in a part
extern const Handler kCall;            ///< calls an out-of-line function: option is the CallSite
extern const Handler kLeave;           ///< returns from it
extern const Handler kPoll;            ///< after a load that may wait for others: see poll()
extern const Handler kAsk;             ///< after an atomic that returns what was there: see ask()
extern const Handler kRefuse;          ///< ends the launch: option is the index of the refusal
/// A load from .param memory, or a store to it; nullptr for sizes that it does not have.
Handler frame_access(bool stores, unsigned bytes);
Handler special_register(std::string_view name, std::uint32_t& option);  ///< nullptr when unknown
/// " (grid synchronisation)": what an unknown register is for; nothing when that is unknown too.
std::string purpose_of_register(std::string_view name);
}  // namespace hidden

/// The instructions of this engine.
const InstructionSet& instruction_set();

}  // namespace simgpu
