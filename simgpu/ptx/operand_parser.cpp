#include "simgpu/ptx/operand_parser.h"

#include <fmt/format.h>

#include <string>

#include "simgpu/ptx/constant.h"

namespace simgpu::ptx {
namespace {

constexpr std::int8_t kSeveralParts = 127;
constexpr std::size_t kMostParts = 4;

/// x, y, z, w or r, g, b, a as 0 to 3; -1 for another word.
int vector_element(std::string_view word) {
  if (word.size() != 1) return -1;
  const std::size_t position = std::string_view("xyzwrgba").find(word.front());
  return position == std::string_view::npos ? -1 : static_cast<int>(position % 4);
}

/// b0–b3 and h0, h1 as the contract numbers them; -1 for a word that selects nothing.
std::int8_t part_selector(std::string_view word) {
  if (word.size() < 2 || (word.front() != 'b' && word.front() != 'h')) return -1;
  if (word.find_first_not_of("01234567", 1) != std::string_view::npos) return -1;
  if (word.size() > 2) return kSeveralParts;
  const int digit = word[1] - '0';
  if (word.front() == 'b' && digit < 4) return static_cast<std::int8_t>(digit);
  if (word.front() == 'h' && digit < 2) return static_cast<std::int8_t>(4 + digit);
  return kSeveralParts;
}

/// Instructions for which `array[1]` is the address itself and not what it holds.
bool takes_address(const Instruction& instruction) {
  return instruction.opcode == "mov" || instruction.opcode == "cvta";
}

}  // namespace

void OperandParser::parse_into(Instruction& instruction) {
  place_ = {};
  place_.owner = static_cast<std::uint32_t>(function_.body.size());
  place_.operand = static_cast<std::uint32_t>(instruction.operands.size());
  place_.required = instruction.opcode == "bra";
  instruction.operands.push_back(parse_operand(instruction));
  // ld's suffix after the address: [a].unified
  while (lexer_.peek().kind == TokenKind::dot_word) {
    instruction.modifiers.emplace_back(lexer_.next().text);
  }
}

Operand OperandParser::parse_operand(const Instruction& instruction) {
  const Token& token = lexer_.peek();
  if (token.is('{')) return parse_vector();
  if (token.is('[')) return parse_address();
  if (token.is('(') && instruction.opcode == "call") return parse_list();
  const bool name_follows =
      lexer_.peek_second().kind == TokenKind::identifier && lexer_.peek_second().text != "WARP_SZ";
  if ((token.is('!') || token.is('-')) && name_follows) return parse_negated(instruction);
  if (token.kind == TokenKind::identifier && token.text != "WARP_SZ") {
    return parse_named(instruction);
  }
  if (!at_constant(lexer_) && !token.is('!')) lexer_.fail_expected("an operand");
  Operand operand;
  operand.elements.push_back(parse_literal());
  return operand;
}

Scalar OperandParser::parse_literal() {
  const Constant constant = parse_constant(lexer_);
  if (constant.is_float) return FloatLiteral{constant.real};
  return IntegerLiteral{constant.integer()};
}

Operand OperandParser::parse_vector() {
  Operand operand;
  operand.kind = Operand::Kind::vector;
  lexer_.next();
  do {
    append_scalar(operand);
  } while (lexer_.accept(','));
  lexer_.expect('}', "after the elements of a vector");
  if (lexer_.peek().is('|')) parse_pair(operand);
  return operand;
}

Operand OperandParser::parse_list() {
  Operand operand;
  operand.kind = Operand::Kind::list;
  lexer_.next();
  if (lexer_.accept(')')) return operand;
  do {
    append_scalar(operand);
  } while (lexer_.accept(','));
  lexer_.expect(')', "after the arguments of a call");
  return operand;
}

/// [base+offset], [address], and the forms with coordinates: [texture, {x, y}].
Operand OperandParser::parse_address() {
  Operand operand;
  operand.kind = Operand::Kind::address;
  lexer_.next();
  append_scalar(operand);
  parse_address_rest(operand);
  while (lexer_.accept(',')) {
    if (!lexer_.accept('{')) {
      append_scalar(operand);
      continue;
    }
    do {
      append_scalar(operand);
    } while (lexer_.accept(','));
    lexer_.expect('}', "after the coordinates");
  }
  lexer_.expect(']', "after an address");
  return operand;
}

/// What is added to the base. A symbol's own offset moves into the address.
void OperandParser::parse_address_rest(Operand& operand) {
  operand.offset = parse_offset();
  if (auto* symbol = std::get_if<Symbol>(&operand.elements.front())) {
    operand.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.offset) +
                                               static_cast<std::uint64_t>(symbol->offset));
    symbol->offset = 0;
  }
}

/// `+4*3-8`: a constant expression that begins with its sign.
std::int64_t OperandParser::parse_offset() {
  if (!lexer_.peek().is('+') && !lexer_.peek().is('-')) return 0;
  return parse_integer(lexer_, "a whole number after the sign");
}

Operand OperandParser::parse_negated(const Instruction& instruction) {
  lexer_.next();
  Operand operand = parse_named(instruction);
  operand.negated = true;
  return operand;
}

/// A register, symbol or label, with what may follow a name: .x, .b0, |q, +4, [2].
Operand OperandParser::parse_named(const Instruction& instruction) {
  const Token name = lexer_.peek();
  Operand operand;
  append_name(operand);
  if (operand.elements.size() > 1) operand.kind = Operand::Kind::vector;
  if (const Token& part = lexer_.peek(); part.kind == TokenKind::dot_word && part.joined) {
    operand.selector = part_selector(part.text);
    if (operand.selector < 0) {
      lexer_.fail_at(part, fmt::format("expected a part such as .x, .b0 or .h1 of '{}'",
                                       name.text.substr(0, 80)));
    }
    if (operand.selector == kSeveralParts) {
      for (const char digit : part.text.substr(1, kMostParts)) {
        operand.parts = operand.parts << 4 | static_cast<std::uint32_t>(digit - '0');
        ++operand.part_count;
      }
    }
    lexer_.next();
  }
  if (lexer_.peek().is('|')) parse_pair(operand);
  // As for the assembler, a register may have a literal added to it, but not subtracted from it.
  const bool is_register = operand.kind == Operand::Kind::scalar &&
                           std::holds_alternative<RegisterRef>(operand.elements.front());
  if (is_register && lexer_.peek().is('+')) operand.offset = parse_offset();
  if (auto* symbol = std::get_if<Symbol>(&operand.elements.front())) {
    symbol->offset = parse_offset();
    if (lexer_.peek().is('[')) return parse_element_of(name, instruction, std::move(operand));
  }
  return operand;
}

/// array[index] and array[register+offset]: the element's address, or the element where an address
/// is read or written.
Operand OperandParser::parse_element_of(const Token& name, const Instruction& instruction,
                                        Operand operand) {
  lexer_.next();
  const std::uint64_t scale = element_size(name);
  const bool is_address = !takes_address(instruction);
  if (is_address) operand.kind = Operand::Kind::address;
  if (!at_constant(lexer_)) {
    if (!is_address) operand.kind = Operand::Kind::element;
    operand.scale = static_cast<std::uint32_t>(scale);
    parse_index_register(operand);
  } else {
    const auto index = static_cast<std::uint64_t>(parse_integer(lexer_, "an index"));
    const auto bytes = static_cast<std::int64_t>(index * scale);
    (is_address ? operand.offset : std::get<Symbol>(operand.elements.front()).offset) = bytes;
  }
  lexer_.expect(']', "after an index");
  return operand;
}

void OperandParser::parse_index_register(Operand& operand) {
  const Token at = lexer_.expect_identifier("a register or a number as the index");
  const auto meaning = names_.find(at.text);
  if (!meaning || meaning->kind != Meaning::Kind::registers || meaning->width != 1) {
    lexer_.fail_at(at, fmt::format("expected a register or a number as the index, found '{}'",
                                   at.text.substr(0, 80)));
  }
  append_registers(operand, *meaning);
  operand.offset = parse_offset();
}

/// Bytes that an index counts: as for the assembler, those of a scalar in an array of vectors too.
std::uint64_t OperandParser::element_size(const Token& name) {
  if (const auto meaning = names_.find(name.text); meaning && meaning->type != Type::none) {
    return size_of(meaning->type);
  }
  const auto found = module_scope_.variables.find(std::string(name.text));
  if (found == module_scope_.variables.end()) {
    lexer_.fail_at(name, fmt::format("expected a declared array before '[', found '{}'",
                                     name.text.substr(0, 80)));
  }
  return size_of(module_scope_.module.variables[found->second].type);
}

void OperandParser::parse_pair(Operand& operand) {
  lexer_.next();
  operand.kind = Operand::Kind::pair;
  const std::size_t before = operand.elements.size();
  append_scalar(operand);
  if (operand.elements.size() != before + 1) lexer_.fail_expected("a predicate after '|'");
}

void OperandParser::append_scalar(Operand& operand) {
  if (lexer_.peek().kind == TokenKind::identifier && !lexer_.peek().is_identifier("WARP_SZ")) {
    append_name(operand);
  } else if (at_constant(lexer_)) {
    operand.elements.push_back(parse_literal());
  } else {
    lexer_.fail_expected("a register, symbol or number");
  }
}

/// Appends what the name stands for: one element, or several for a whole vector register.
void OperandParser::append_name(Operand& operand) {
  const Token name = lexer_.next();
  if (name.text == "_") {
    operand.elements.emplace_back(Sink{});
    return;
  }
  const auto meaning = names_.find(name.text);
  if (meaning && meaning->kind == Meaning::Kind::registers) {
    append_registers(operand, *meaning);
  } else if (meaning) {
    append_symbol(operand, name, meaning->symbol, true);
  } else if (name.text.front() == '%') {
    SpecialRegister special{std::string(name.text)};
    const Token& element = lexer_.peek();
    if (element.joined && element.kind == TokenKind::dot_word &&
        vector_element(element.text) >= 0) {
      special.name.append(".").append(lexer_.next().text);
    }
    operand.elements.emplace_back(std::move(special));
  } else {
    append_symbol(operand, name, name.text, false);
  }
}

void OperandParser::append_registers(Operand& operand, const Meaning& meaning) {
  const Token& element = lexer_.peek();
  if (meaning.width > 1 && element.joined && element.kind == TokenKind::dot_word) {
    const int index = vector_element(element.text);
    if (index < 0 || index >= static_cast<int>(meaning.width)) {
      lexer_.fail_expected("an element of the vector, such as .x");
    }
    lexer_.next();
    operand.elements.emplace_back(
        RegisterRef{meaning.first_register + static_cast<std::uint32_t>(index)});
    return;
  }
  for (unsigned index = 0; index < meaning.width; ++index) {
    operand.elements.emplace_back(RegisterRef{meaning.first_register + index});
  }
}

void OperandParser::append_symbol(Operand& operand, const Token& name, std::string_view symbol,
                                  bool is_declared) {
  if (!is_declared) {
    place_.element = static_cast<std::uint32_t>(operand.elements.size());
    place_.token = name;
    labels_.use(place_);
  }
  operand.elements.emplace_back(Symbol{std::string(symbol)});
}

}  // namespace simgpu::ptx
