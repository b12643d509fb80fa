#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/ptx/ast.h"

namespace simgpu::ptx {

/// PTX that does not parse: `what()` is "line:column: expected …, found …" with the offending line
/// and a caret.
class ParseError : public std::runtime_error {
 public:
  ParseError(std::uint32_t line, std::uint32_t column, const std::string& message);
  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }

 private:
  std::uint32_t line_;
  std::uint32_t column_;
};

/// Parses one PTX module. The text is untrusted: any input either parses or throws ParseError, in
/// time and memory linear in its length. Opcodes are not judged here; unknown ones are refused when
/// a kernel that contains them is launched.
Module parse(std::string_view text);

/// Bytes of a text, counted from its start.
struct TextRange {
  std::size_t begin = 0, end = 0;
};

/// The same, and where the instructions of the text stand, in order (Instruction::number), each
/// from its guard or opcode to its semicolon.
struct ParsedText {
  Module module;
  std::vector<TextRange> instructions;
};
ParsedText parse_text(std::string_view text);

}  // namespace simgpu::ptx
