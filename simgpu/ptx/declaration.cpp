#include "simgpu/ptx/declaration.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>

#include "simgpu/ptx/constant.h"
#include "simgpu/ptx/initialiser.h"
#include "simgpu/ptx/types.h"

namespace simgpu::ptx {
namespace {

constexpr std::uint64_t kLargestAlignment = 1U << 20;
constexpr std::uint64_t kLargestDimension = std::numeric_limits<std::int64_t>::max();

unsigned parse_alignment(Lexer& lexer) {
  const Token at = lexer.peek();
  const std::uint64_t alignment = parse_count(lexer, "an alignment", kLargestAlignment);
  if (!std::has_single_bit(alignment)) {
    lexer.fail_at(at,
                  fmt::format("expected an alignment that is a power of two, found {}", alignment));
  }
  return static_cast<unsigned>(alignment);
}

unsigned vector_length(std::string_view word) {
  if (word == "v2") return 2;
  if (word == "v4") return 4;
  if (word == "v8") return 8;
  return 0;
}

/// `(.managed, .unified(uuid1, uuid2))` after .attribute.
bool parse_attributes(Lexer& lexer) {
  bool managed = false;
  lexer.expect('(', "after .attribute");
  do {
    if (lexer.peek().kind != TokenKind::dot_word) lexer.fail_expected("an attribute");
    managed |= lexer.next().text == "managed";
    if (!lexer.accept('(')) continue;
    do {
      parse_integer(lexer, "an integer of the attribute");
    } while (lexer.accept(','));
    lexer.expect(')', "after an attribute's values");
  } while (lexer.accept(','));
  lexer.expect(')', "after the attributes");
  return managed;
}

/// `{ width = 4, … }` of a texture reference: the hardware's business alone.
void skip_braces(Lexer& lexer) {
  lexer.expect('{', "before the fields of a texture, sampler or surface");
  while (!lexer.peek().is('}')) {
    if (lexer.peek().kind == TokenKind::end) lexer.fail_expected("'}'");
    lexer.next();
  }
  lexer.next();
}

/// `<3>` after a stem: stem0, stem1 and stem2.
void parse_range(Lexer& lexer, const Token& stem, Variable variable, std::uint64_t& bytes_left,
                 const std::function<void(const Token& name, Variable)>& add) {
  lexer.next();
  const Token at = lexer.peek();
  // A factor, as a whole expression would take the closing '>' for an operator.
  const Constant count = parse_constant_factor(lexer);
  const std::uint64_t bytes_each = sizeof(Variable) + stem.text.size();
  if (count.is_float || count.bits > bytes_left / bytes_each) {
    lexer.fail_at(at, "expected a small number of variables");
  }
  bytes_left -= count.bits * bytes_each;
  for (std::uint64_t number = 0; number < count.bits; ++number) {
    variable.name = fmt::format("{}{}", stem.text, number);
    add(stem, variable);
  }
  lexer.expect('>', "after the number of variables");
}

Variable parse_parameter(Lexer& lexer) {
  const Token& space = lexer.peek();
  if (!space.is_dot_word("param") && !space.is_dot_word("reg")) {
    lexer.fail_expected(".param or .reg before a parameter");
  }
  const bool is_register = lexer.next().text == "reg";
  Variable parameter = parse_declaration_head(lexer, is_register ? Space::reg : Space::param,
                                              Variable::Linkage::internal)
                           .variable;
  parameter.name = lexer.expect_identifier("the name of a parameter").text;
  parse_dimensions(lexer, parameter);
  return parameter;
}

}  // namespace

std::optional<Space> space_named(std::string_view name) {
  if (name == "global") return Space::global;
  if (name == "shared") return Space::shared;
  if (name == "local") return Space::local;
  if (name == "const") return Space::constant;
  if (name == "param") return Space::param;
  return std::nullopt;
}

DeclarationHead parse_leading_attributes(Lexer& lexer) {
  DeclarationHead head;
  while (true) {
    if (lexer.accept_dot_word("align")) {
      head.alignment = parse_alignment(lexer);
    } else if (lexer.accept_dot_word("attribute")) {
      head.variable.managed |= parse_attributes(lexer);
    } else {
      return head;
    }
  }
}

DeclarationHead parse_declaration_head(Lexer& lexer, Space space, Variable::Linkage linkage,
                                       DeclarationHead leading) {
  DeclarationHead head = std::move(leading);
  head.variable.space = space;
  head.variable.linkage = linkage;
  head.variable.type = Type::none;
  bool describes_pointee = false;  // after .ptr, .align is that of the memory pointed to
  if (space == Space::constant && lexer.accept('[')) {  // a constant bank, of early PTX
    parse_count(lexer, "a constant bank", 10);
    lexer.expect(']', "after the constant bank");
  }
  while (lexer.peek().kind == TokenKind::dot_word) {
    const Token word = lexer.next();
    if (word.text == "align") {
      const unsigned bytes = parse_alignment(lexer);
      if (!describes_pointee) head.alignment = bytes;
    } else if (word.text == "ptr") {
      describes_pointee = true;
    } else if (word.text == "attribute") {
      head.variable.managed |= parse_attributes(lexer);
    } else if (const unsigned length = vector_length(word.text); length != 0) {
      head.variable.vector = length;
    } else if (const auto type = type_named(word.text)) {
      head.variable.type = *type;
    } else if (word.text == "texref" || word.text == "samplerref" || word.text == "surfref") {
      head.variable.type = Type::u64;
      head.is_opaque = true;
    } else if (!describes_pointee || !space_named(word.text)) {
      lexer.fail_at(word, fmt::format("expected a type, found '.{}'", word.text.substr(0, 40)));
    }
  }
  if (head.variable.type == Type::none) lexer.fail_expected("a type");
  const unsigned natural = size_of(head.variable.type) * head.variable.vector;
  head.variable.alignment = head.alignment != 0 ? head.alignment : natural;
  return head;
}

void parse_dimensions(Lexer& lexer, Variable& variable) {
  while (lexer.accept('[')) {
    if (lexer.peek().is(']') && variable.dimensions.empty()) {
      variable.dimensions.push_back(0);
    } else {
      variable.dimensions.push_back(parse_count(lexer, "an array's length", kLargestDimension));
    }
    lexer.expect(']', "after an array's length");
  }
}

std::vector<Variable> parse_parameters(Lexer& lexer) {
  std::vector<Variable> parameters;
  lexer.expect('(', "before the parameters");
  if (lexer.accept(')')) return parameters;
  do {
    parameters.push_back(parse_parameter(lexer));
  } while (lexer.accept(','));
  lexer.expect(')', "after the parameters");
  return parameters;
}

void parse_variables(Lexer& lexer, const DeclarationHead& head, std::uint64_t& initial_bytes_left,
                     const std::function<void(const Token& name, Variable)>& add) {
  do {
    const Token name = lexer.expect_identifier("the name of a variable");
    Variable variable = head.variable;
    variable.name = name.text;
    if (lexer.peek().is('<')) {
      parse_range(lexer, name, variable, initial_bytes_left, add);
      continue;
    }
    parse_dimensions(lexer, variable);
    if (lexer.accept('=')) {
      if (head.is_opaque) {
        skip_braces(lexer);
      } else {
        parse_initialiser(lexer, variable, initial_bytes_left);
      }
    }
    add(name, std::move(variable));
  } while (lexer.accept(','));
  lexer.expect(';', "after the declaration");
}

}  // namespace simgpu::ptx
