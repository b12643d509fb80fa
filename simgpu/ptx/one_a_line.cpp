#include "simgpu/ptx/one_a_line.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/ptx/lexer.h"
#include "simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

/// The token as it is written, with what Token::text leaves out.
std::string_view written(std::string_view text, const Token& token) {
  const std::size_t around = token.kind == TokenKind::string     ? 2
                             : token.kind == TokenKind::dot_word ? 1
                                                                 : 0;
  return text.substr(token.offset, token.text.size() + around);
}

/// Puts one token after the other, and knows which instruction each belongs to.
class Printer {
 public:
  Printer(std::string_view text, std::span<const TextRange> instructions)
      : text_(text), instructions_(instructions) {
    printed_.reserve(text.size());
  }

  void print(const Token& token) {
    if (!inside(token)) {
      const bool begins = !instructions_.empty() && token.offset == instructions_.front().begin;
      separate(token, begins && has_instruction_);
      has_instruction_ |= begins;
      if (begins) lines_.push_back(printed_line_);
    } else if (!token.joined) {
      printed_ += ' ';
    }
    printed_ += written(text_, token);
    if (!instructions_.empty() && token.offset + 1 >= instructions_.front().end) {
      instructions_ = instructions_.subspan(1);
    }
  }

  std::string printed() && { return std::move(printed_); }
  /// In which line of what is printed each instruction is, from 1.
  const std::vector<std::uint32_t>& lines() const { return lines_; }

 private:
  bool inside(const Token& token) const {
    return !instructions_.empty() && token.offset > instructions_.front().begin;
  }

  /// Lines that ended within an instruction end behind it.
  void separate(const Token& token, bool needs_line) {
    const std::uint32_t lines = token.line - line_;
    line_ = token.line;
    if (lines > 0 || needs_line) {
      printed_.append(std::max(lines, 1U), '\n');
      printed_line_ += std::max(lines, 1U);
      has_instruction_ = false;
    } else if (!token.joined) {
      printed_ += ' ';
    }
  }

  std::string_view text_;
  std::span<const TextRange> instructions_;  ///< not printed to their ends yet
  std::string printed_;
  std::uint32_t printed_line_ = 1;
  std::vector<std::uint32_t> lines_;
  std::uint32_t line_ = 1;        ///< of the text, of the last token outside of instructions
  bool has_instruction_ = false;  ///< begins in the last line that was printed
};

/// The tokens of a directive .pragma behind its word.
std::vector<Token> pragma(Lexer& lexer) {
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.next());
  } while (tokens.back().kind == TokenKind::string
               ? lexer.peek().text == "," || lexer.peek().text == ";"
               : tokens.back().text == ",");
  return tokens;
}

/// Loops stay as they are written. Whatever else a pragma asks of ptxas, such as to spill registers
/// to shared memory, nothing here counts.
bool is_understood(const std::vector<Token>& pragma) {
  return std::ranges::all_of(pragma, [](const Token& token) {
    return token.kind != TokenKind::string || token.text == "nounroll";
  });
}

}  // namespace

std::string one_instruction_a_line(std::string_view text) { return parse_one_a_line(text).text; }

ModuleOfLines parse_one_a_line(std::string_view text) {
  ParsedText parsed = parse_text(text);
  Printer printer(text, parsed.instructions);
  Lexer lexer(text);
  while (lexer.peek().kind != TokenKind::end) {
    const Token token = lexer.next();
    const bool begins_pragma = token.kind == TokenKind::dot_word && token.text == "pragma";
    const std::vector<Token> rest = begins_pragma ? pragma(lexer) : std::vector<Token>();
    if (!is_understood(rest)) continue;
    printer.print(token);
    for (const Token& further : rest) printer.print(further);
  }
  for (Function& function : parsed.module.functions) {
    for (Instruction& instruction : function.body) {
      instruction.ptx_line = printer.lines().at(instruction.number);
    }
  }
  return {std::move(parsed.module), std::move(printer).printed() + '\n'};
}

}  // namespace simgpu::ptx
