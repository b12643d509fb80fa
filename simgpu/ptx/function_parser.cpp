#include "simgpu/ptx/function_parser.h"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <limits>
#include <utility>

#include "simgpu/ptx/constant.h"
#include "simgpu/ptx/declaration.h"
#include "simgpu/ptx/label_table.h"
#include "simgpu/ptx/operand_parser.h"
#include "simgpu/ptx/scope_table.h"

namespace simgpu::ptx {
namespace {

constexpr std::uint64_t kMostRegisters = std::numeric_limits<std::uint32_t>::max();
constexpr unsigned kWidestVectorRegister = 4;

class BodyParser {
 public:
  BodyParser(Lexer& lexer, ModuleScope& module_scope, Function& function)
      : lexer_(lexer),
        module_scope_(module_scope),
        function_(function),
        names_(function),
        labels_(lexer, function),
        locations_(function),
        operands_(lexer, module_scope, function, names_, labels_) {
    for (const Variable& value : function.return_values) declare_parameter(value);
    for (const Variable& parameter : function.parameters) declare_parameter(parameter);
  }

  /// Scopes are counted, not recursed into: the text decides how deep they nest.
  std::vector<SourceLocations::PendingName> parse() {
    const Token opening = lexer_.expect('{', "before the body of a function");
    labels_.open();
    std::size_t depth = 1;
    while (depth > 0) {
      const Token& token = lexer_.peek();
      if (token.is('{')) {
        lexer_.next();
        ++depth;
        names_.open();
        labels_.open();
      } else if (token.is('}')) {
        lexer_.next();
        --depth;
        names_.close();
        labels_.close();
      } else if (token.kind == TokenKind::end) {
        lexer_.fail_expected(fmt::format("'}}' to end the body of '{}', which begins in line {}",
                                         function_.name.substr(0, 80), opening.line));
      } else {
        statement();
      }
    }
    return locations_.pending_names();
  }

 private:
  void statement() {
    const Token& token = lexer_.peek();
    if (token.kind == TokenKind::dot_word) {
      directive();
    } else if (token.kind == TokenKind::identifier && lexer_.peek_second().is(':')) {
      label();
    } else if (token.kind == TokenKind::identifier || token.is('@')) {
      instruction();
    } else if (!lexer_.accept(';')) {
      lexer_.fail_expected("an instruction, a directive, a label or '}'");
    }
  }

  void declare_parameter(const Variable& parameter) {
    const std::string_view name = parameter.name;
    if (name == "_") return;
    const bool is_new = parameter.space == Space::reg
                            ? names_.declare_register(name, parameter.type, parameter.vector)
                            : names_.declare_parameter(name, parameter.type, parameter.vector);
    if (!is_new) fail_redeclared(lexer_.peek(), name);
    // The caller passes a .reg parameter in its registers, so they exist even if the body ignores
    // them.
    if (parameter.space == Space::reg) names_.find(name);
  }

  [[noreturn]] void fail_redeclared(const Token& at, std::string_view name) const {
    lexer_.fail_at(at, fmt::format("expected a new name: '{}' is declared in this scope already",
                                   name.substr(0, 80)));
  }

  void directive() {
    const DeclarationHead leading = parse_leading_attributes(lexer_);
    const Token word = lexer_.next();
    if (word.text == "reg") {
      registers();
    } else if (word.text == "loc") {
      location_ = locations_.parse(lexer_);
    } else if (word.text == "pragma") {
      skip_pragma();
    } else if (const auto space = space_named(word.text)) {
      variables(*space, leading);
    } else {
      lexer_.fail_at(word, fmt::format("expected .reg, .loc, .pragma or a state space, found '.{}'",
                                       word.text.substr(0, 40)));
    }
  }

  void skip_pragma() {
    do {
      if (lexer_.peek().kind != TokenKind::string) lexer_.fail_expected("a string after .pragma");
      lexer_.next();
    } while (lexer_.accept(','));
    lexer_.expect(';', "after .pragma");
  }

  /// `.reg .f32 %f<12>, x;`
  void registers() {
    const Variable head =
        parse_declaration_head(lexer_, Space::reg, Variable::Linkage::internal).variable;
    if (head.vector > kWidestVectorRegister) lexer_.fail_expected("at most 4 elements, .v4");
    do {
      const Token name = lexer_.expect_identifier("the name of a register");
      bool is_new = false;
      if (lexer_.accept('<')) {
        // A factor, as a whole expression would take the closing '>' for an operator.
        const Token at = lexer_.peek();
        const Constant count = parse_constant_factor(lexer_);
        if (count.is_float || count.bits > kMostRegisters) {
          lexer_.fail_at(at, "expected a number of registers below 2^32");
        }
        lexer_.expect('>', "after the number of registers");
        is_new = names_.declare_range(name.text, count.bits, head.type, head.vector);
      } else {
        is_new = names_.declare_register(name.text, head.type, head.vector);
      }
      if (!is_new) fail_redeclared(name, name.text);
    } while (lexer_.accept(','));
    lexer_.expect(';', "after the declaration");
  }

  void variables(Space space, const DeclarationHead& leading) {
    const DeclarationHead head =
        parse_declaration_head(lexer_, space, Variable::Linkage::internal, leading);
    parse_variables(lexer_, head, module_scope_.initial_bytes_left,
                    [this, space](const Token& token, Variable variable) {
                      const std::string_view name = lasting_name(token, variable.name);
                      const bool outlives_call = space == Space::global || space == Space::constant;
                      const bool is_new = outlives_call
                                              ? declare_static(name, std::move(variable))
                                              : names_.declare_variable(name, std::move(variable));
                      if (!is_new) fail_redeclared(token, name);
                    });
  }

  /// The names of a range, `x<3>`, do not stand in the text: they are kept here.
  std::string_view lasting_name(const Token& token, const std::string& name) {
    return name == token.text ? token.text : range_names_.emplace_back(name);
  }

  /// A .global or .const variable in a body belongs to the module, under a name of its own.
  bool declare_static(std::string_view name, Variable variable) {
    std::vector<Variable>& all = module_scope_.module.variables;
    variable.name = fmt::format("{}@{}", name, all.size());
    all.push_back(variable);
    return names_.declare_module_variable(name, variable.name, variable.type, variable.vector);
  }

  void label() {
    const Token name = lexer_.next();
    lexer_.next();
    const Token& word = lexer_.peek();
    if (word.is_dot_word("branchtargets")) {
      branch_targets(name);
    } else if (word.is_dot_word("calltargets")) {
      call_targets(name);
    } else if (word.is_dot_word("callprototype")) {
      call_prototype(name);
    } else {
      labels_.define(name);
    }
  }

  std::string declare_table(const Token& name) {
    lexer_.next();
    auto spelling = names_.declare_table(name.text);
    if (!spelling) fail_redeclared(name, name.text);
    return *std::move(spelling);
  }

  void branch_targets(const Token& name) {
    const auto owner = static_cast<std::uint32_t>(function_.branch_targets.size());
    function_.branch_targets.emplace_back(declare_table(name), std::vector<std::uint32_t>());
    std::vector<std::uint32_t>& targets = function_.branch_targets.back().second;
    do {
      LabelUse use;
      use.in_table = true;
      use.required = true;
      use.owner = owner;
      use.element = static_cast<std::uint32_t>(targets.size());
      use.token = lexer_.expect_identifier("a label in .branchtargets");
      labels_.use(use);
      targets.push_back(0);
    } while (lexer_.accept(','));
    lexer_.expect(';', "after .branchtargets");
  }

  void call_targets(const Token& name) {
    function_.call_targets.emplace_back(declare_table(name), std::vector<std::string>());
    std::vector<std::string>& targets = function_.call_targets.back().second;
    do {
      targets.emplace_back(lexer_.expect_identifier("a function in .calltargets").text);
    } while (lexer_.accept(','));
    lexer_.expect(';', "after .calltargets");
  }

  /// `.callprototype (results) _ (parameters) .noreturn;`
  void call_prototype(const Token& name) {
    function_.call_prototypes.emplace_back(declare_table(name), Prototype());
    Prototype& prototype = function_.call_prototypes.back().second;
    if (lexer_.peek().is('(')) prototype.return_values = parse_parameters(lexer_);
    lexer_.expect_identifier("'_' in .callprototype");
    if (lexer_.peek().is('(')) prototype.parameters = parse_parameters(lexer_);
    while (lexer_.peek().kind == TokenKind::dot_word) {
      lexer_.next();
      while (at_constant(lexer_)) parse_constant(lexer_);
    }
    lexer_.expect(';', "after .callprototype");
  }

  void instruction() {
    Instruction instruction;
    instruction.location = location_;
    const std::size_t begin = lexer_.peek().offset;
    if (lexer_.peek().is('@')) instruction.guard = guard();
    const Token opcode = lexer_.expect_identifier("an instruction");
    instruction.opcode = opcode.text;
    instruction.ptx_line = opcode.line;
    while (lexer_.peek().kind == TokenKind::dot_word) {
      instruction.modifiers.emplace_back(lexer_.next().text);
    }
    if (!lexer_.peek().is(';')) {
      do {
        operands_.parse_into(instruction);
      } while (lexer_.accept(','));
      if (!lexer_.peek().is(';')) lexer_.fail_expected("',' or ';' after an operand");
    }
    instruction.number = static_cast<std::uint32_t>(module_scope_.instructions.size());
    module_scope_.instructions.push_back({begin, lexer_.next().offset + 1});
    function_.body.push_back(std::move(instruction));
  }

  Guard guard() {
    lexer_.next();
    Guard guard;
    guard.negated = lexer_.accept('!');
    const Token name = lexer_.expect_identifier("a predicate register after '@'");
    const auto meaning = names_.find(name.text);
    if (!meaning || meaning->kind != Meaning::Kind::registers || meaning->type != Type::pred) {
      lexer_.fail_at(name, fmt::format("expected a predicate register after '@', found '{}'",
                                       name.text.substr(0, 80)));
    }
    guard.reg = meaning->first_register;
    return guard;
  }

  Lexer& lexer_;
  ModuleScope& module_scope_;
  Function& function_;
  std::deque<std::string> range_names_;
  ScopeTable names_;
  LabelTable labels_;
  SourceLocations locations_;
  OperandParser operands_;
  std::uint32_t location_ = 0;
};

}  // namespace

std::vector<SourceLocations::PendingName> parse_body(Lexer& lexer, ModuleScope& module_scope,
                                                     Function& function) {
  return BodyParser(lexer, module_scope, function).parse();
}

}  // namespace simgpu::ptx
