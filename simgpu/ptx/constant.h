#pragma once

#include <cstdint>

#include "simgpu/ptx/lexer.h"

namespace simgpu::ptx {

/// The value of a constant expression ("Constants", PTX ISA): 64-bit integers or doubles.
struct Constant {
  bool is_float = false;
  bool is_unsigned = false;  ///< .u64 rather than .s64
  bool is_single = false;    ///< a 0f literal by itself
  std::uint64_t bits = 0;    ///< of an integer, or the 32 of a 0f literal
  double real = 0;           ///< of a float; 0f literals are widened exactly

  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
  double as_double() const;
};

/// Whether the next token can begin a constant expression.
bool at_constant(const Lexer& lexer);

/// Parses a whole constant expression, with the operators, precedence and signedness of C.
/// @throws ParseError when it is malformed, divides by zero or nests deeper than 100 levels.
Constant parse_constant(Lexer& lexer);

/// Parses one factor: a literal, a signed or inverted factor, a cast, or a parenthesised
/// expression.
Constant parse_constant_factor(Lexer& lexer);

/// parse_constant for places where only an integer has a meaning. @throws ParseError on a float.
std::int64_t parse_integer(Lexer& lexer, std::string_view what);

/// The same, from 0 to `limit`.
std::uint64_t parse_count(Lexer& lexer, std::string_view what, std::uint64_t limit);

}  // namespace simgpu::ptx
