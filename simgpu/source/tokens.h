#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

/// A word, number, string or sign of CUDA C++.
struct Token {
  enum class Kind : std::uint8_t { word, literal, sign };
  Kind kind = Kind::sign;
  std::string text;
  std::uint32_t line = 0;
  std::size_t offset = 0;  ///< of its first byte in the text
};

/// A macro of the file, whose body may hide what its name does not say.
struct Macro {
  std::vector<std::string> parameters;
  std::vector<Token> body;
};

/// A source file without comments, its directives apart.
struct SourceTokens {
  std::vector<Token> tokens;
  std::map<std::string, Macro> macros;
  std::vector<std::string> includes;  ///< those in quotation marks
  bool renumbers_lines = false;       ///< by a line directive: numbers are not those of this text
};

SourceTokens tokens_of(std::string_view text);

/// Behind the bracket that closes the one at `open`; tokens.size() where none does.
std::size_t behind_closing(const std::vector<Token>& tokens, std::size_t open);

}  // namespace simgpu
