#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/lexer.h"

namespace simgpu::ptx {

/// A place in a Function that names what may be a label further down.
struct LabelUse {
  bool in_table = false;      ///< a .branchtargets entry, else an operand
  bool required = false;      ///< can be nothing but a label: `bra`, .branchtargets
  std::uint32_t owner = 0;    ///< index of the instruction or of the table
  std::uint32_t operand = 0;  ///< of the instruction
  std::uint32_t element = 0;  ///< of the operand or table
  Token token;
};

/// Labels of one function. A label is visible in the scope that holds it and in the scopes inside,
/// before and after its place: uses wait until their scope closes and then move outwards.
class LabelTable {
 public:
  LabelTable(const Lexer& lexer, Function& function) : lexer_(lexer), function_(function) {}

  void open() { scopes_.emplace_back(); }
  /// Points this scope's uses at its labels. @throws ParseError for a required label that the
  /// outermost scope lacks.
  void close();
  /// A label before the next instruction. @throws ParseError if the scope has one of that name.
  void define(const Token& name);
  void use(const LabelUse& use) { scopes_.back().uses[use.token.text].push_back(use); }

 private:
  struct Scope {
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<LabelUse>> uses;
  };

  void resolve(const LabelUse& use, std::uint32_t target);
  static void move_outwards(Scope& inner, Scope& outer);

  const Lexer& lexer_;
  Function& function_;
  std::vector<Scope> scopes_;
};

}  // namespace simgpu::ptx
