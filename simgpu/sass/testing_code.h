#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "simgpu/sass/kernel_code.h"

/// Machine code for tests, written down instruction by instruction.
namespace simgpu::sass::testing {

inline constexpr Predicate kIfP0{.index = 0, .negated = false};

/// Code to which instructions are appended.
class CodeText {
 public:
  /// An instruction of the PTX line.
  CodeText& add(std::string_view name, InstructionClass cls, std::uint32_t line) {
    append(name, line).cls = cls;
    return *this;
  }
  CodeText& add_if(std::string_view name, InstructionClass cls, std::uint32_t line) {
    add(name, cls, line);
    code_.instructions.back().predicate = kIfP0;
    return *this;
  }
  CodeText& store(std::uint32_t line) {
    add("STG", InstructionClass::global_store, line);
    code_.instructions.back().access_bytes = 4;
    return *this;
  }
  CodeText& load(std::uint32_t line, unsigned bytes = 4) {
    add("LDS", InstructionClass::shared_load, line);
    code_.instructions.back().access_bytes = bytes;
    return *this;
  }
  /// @param to index of an instruction
  CodeText& branch(std::uint64_t to, bool is_conditional, std::uint32_t line = 0) {
    return jump("BRA", Flow::branch, to, is_conditional, line);
  }
  CodeText& call(std::uint64_t to) { return jump("CALL", Flow::call, to, false, 0); }
  CodeText& call_others(std::uint32_t line) {
    append("CALL", line).flow = Flow::external;
    return *this;
  }
  CodeText& lines_elsewhere(std::set<std::uint32_t> lines) {
    code_.lines_elsewhere = std::move(lines);
    return *this;
  }
  CodeText& jump_anywhere(std::uint32_t line) {
    append("BRX", line).flow = Flow::indirect;
    return *this;
  }
  /// @param to indices of instructions
  CodeText& jump_by_table(const std::vector<std::uint64_t>& to, std::uint32_t line = 0) {
    jump_anywhere(line);
    std::vector<std::uint64_t>& table = code_.jump_tables[code_.instructions.back().address];
    for (const std::uint64_t one : to) table.push_back(one * kInstructionBytes);
    return *this;
  }
  CodeText& scope(std::uint64_t to, unsigned barrier) {
    jump("BSSY", Flow::scope, to, false, 0);
    code_.instructions.back().convergence_barrier = barrier;
    return *this;
  }
  CodeText& reconverge(unsigned barrier) {
    leave("BSYNC", Flow::reconverge);
    code_.instructions.back().convergence_barrier = barrier;
    return *this;
  }
  CodeText& ret() { return leave("RET", Flow::ret); }
  CodeText& exit(bool is_conditional = false) {
    leave("EXIT", Flow::exit);
    code_.instructions.back().is_conditional = is_conditional;
    if (is_conditional) code_.instructions.back().predicate = kIfP0;
    return *this;
  }

  const KernelCode& code() const { return code_; }

 private:
  Instruction& append(std::string_view name, std::uint32_t line) {
    Instruction instruction;
    instruction.address = code_.instructions.size() * kInstructionBytes;
    instruction.ptx_line = line;
    instruction.name = name;
    // The number only has to tell names apart.
    instruction.opcode = static_cast<unsigned>(name[0]) * 2U + static_cast<unsigned>(name.size());
    return code_.instructions.emplace_back(instruction);
  }
  CodeText& leave(std::string_view name, Flow flow) {
    append(name, 0).flow = flow;
    return *this;
  }
  CodeText& jump(std::string_view name, Flow flow, std::uint64_t to, bool is_conditional,
                 std::uint32_t line) {
    Instruction& instruction = append(name, line);
    instruction.cls = InstructionClass::control;
    instruction.flow = flow;
    instruction.target = to * kInstructionBytes;
    instruction.is_conditional = is_conditional;
    if (is_conditional) instruction.predicate = kIfP0;
    return *this;
  }

  KernelCode code_;
};

}  // namespace simgpu::sass::testing
