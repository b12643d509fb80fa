#pragma once

#include <cstdint>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/lexer.h"

namespace simgpu::ptx {

/// Parses the value after `=` into variable.initial_bytes and .relocations, and gives an array
/// without a first dimension its length. The bytes may end before the variable does; the rest is
/// zero. Takes the bytes it adds from `bytes_left`. @throws ParseError if that does not suffice.
void parse_initialiser(Lexer& lexer, Variable& variable, std::uint64_t& bytes_left);

}  // namespace simgpu::ptx
