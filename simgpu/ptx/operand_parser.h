#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/function_parser.h"
#include "simgpu/ptx/label_table.h"
#include "simgpu/ptx/lexer.h"
#include "simgpu/ptx/scope_table.h"

namespace simgpu::ptx {

/// Parses the operands of one function's instructions ("Instruction Operands", PTX ISA).
class OperandParser {
 public:
  OperandParser(Lexer& lexer, const ModuleScope& module_scope, Function& function,
                ScopeTable& names, LabelTable& labels)
      : lexer_(lexer),
        module_scope_(module_scope),
        function_(function),
        names_(names),
        labels_(labels) {}

  /// Parses the next operand of the instruction and appends it. The instruction is about to become
  /// the last of the function's body. @throws ParseError
  void parse_into(Instruction& instruction);

 private:
  Operand parse_operand(const Instruction& instruction);
  Operand parse_vector();
  Operand parse_address();
  Operand parse_list();
  Operand parse_negated(const Instruction& instruction);
  Operand parse_named(const Instruction& instruction);
  Operand parse_element_of(const Token& name, const Instruction& instruction, Operand operand);
  void parse_index_register(Operand& operand);
  void parse_address_rest(Operand& operand);
  void parse_pair(Operand& operand);
  void append_scalar(Operand& operand);
  void append_name(Operand& operand);
  void append_registers(Operand& operand, const Meaning& meaning);
  void append_symbol(Operand& operand, const Token& name, std::string_view symbol,
                     bool is_declared);
  Scalar parse_literal();
  std::int64_t parse_offset();
  std::uint64_t element_size(const Token& name);

  Lexer& lexer_;
  const ModuleScope& module_scope_;
  Function& function_;
  ScopeTable& names_;
  LabelTable& labels_;
  LabelUse place_;  ///< of the operand being parsed
};

}  // namespace simgpu::ptx
