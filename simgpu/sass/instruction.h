#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/isa/instruction_info.h"
#include "simgpu/isa/issue_control.h"

/// Machine code as ptxas writes it for capabilities 7.5 to 9.0, as plain values.
namespace simgpu::sass {

inline constexpr std::uint64_t kInstructionBytes = 16;

/// The condition under which lanes execute an instruction.
struct Predicate {
  static constexpr unsigned kAlways = 7;  ///< PT

  unsigned index = kAlways;
  bool negated = false;
  bool is_always() const { return index == kAlways && !negated; }
  bool operator==(const Predicate&) const = default;
};

/// How control leaves an instruction.
enum class Flow : std::uint8_t {
  next,
  branch,      ///< to `target`
  call,        ///< to `target`, and later to the next instruction
  ret,         ///< to behind a call
  exit,        ///< ends the thread
  scope,       ///< BSSY: nothing yet; `target` is where a BSYNC of the same barrier leads
  reconverge,  ///< BSYNC: to the target of the BSSY
  collective,  ///< WARPSYNC.COLLECTIVE: some lanes go to `target`, others wait at the next one
  external,    ///< to a function that is not in the kernel, and later to the next instruction
  indirect,    ///< to an address in a register: nobody knows where
};

/// One machine instruction.
struct Instruction {
  static constexpr std::uint8_t kNoRegister = 255;  ///< RZ, too, is nothing to wait for

  std::uint64_t address = 0;   ///< in the kernel's code
  std::uint32_t ptx_line = 0;  ///< of the PTX that was assembled, from 1; 0: unknown
  unsigned opcode = 0;         ///< bits 0 to 11 of the word
  std::string_view name = {};  ///< "FFMA"; empty for an opcode that is not in the table
  InstructionClass cls = InstructionClass::other;  ///< the pipe that it occupies
  Predicate predicate;
  /// First registers of the result and of the operands. A result or operand of 64 bits or more
  /// continues in the registers behind the first.
  std::uint8_t writes = kNoRegister;
  std::array<std::uint8_t, 3> reads{kNoRegister, kNoRegister, kNoRegister};
  unsigned access_bytes = 0;  ///< of each lane, of a load or store; 0: none, or not known
  IssueControl control;
  /// Of DEPBAR.LE: it waits until at most `left` of what the scoreboard counts is under way.
  struct Awaited {
    unsigned scoreboard = 0;
    unsigned left = 0;
    bool operator==(const Awaited&) const = default;
  };
  std::optional<Awaited> awaited = {};
  Flow flow = Flow::next;
  /// Not all lanes that execute it need to leave by `flow`: because of its predicate, of a second
  /// one, or of what other lanes do (BRA.DIV).
  bool is_conditional = false;
  std::optional<std::uint64_t> target = {};  ///< address
  unsigned convergence_barrier = 0;          ///< of BSSY and BSYNC
  bool operator==(const Instruction&) const = default;
};

}  // namespace simgpu::sass
