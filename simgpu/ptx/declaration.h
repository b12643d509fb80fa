#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/lexer.h"

namespace simgpu::ptx {

/// The state space that PTX declares variables in as `.name`: "shared" is Space::shared.
std::optional<Space> space_named(std::string_view name);

/// What comes before the name in a declaration: `.align 8 .v2 .f32` and the like.
struct DeclarationHead {
  Variable variable;       ///< all but name, dimensions and initial value
  bool is_opaque = false;  ///< .texref, .samplerref or .surfref
  unsigned alignment = 0;  ///< as written; 0 where it is not
};

/// Parses the .align and .attribute that may stand before the state space, if there are any.
DeclarationHead parse_leading_attributes(Lexer& lexer);

/// Parses the attributes, alignment, vector length and type after a state space. `leading` is what
/// stood before it. @throws ParseError if there is no type.
DeclarationHead parse_declaration_head(Lexer& lexer, Space space, Variable::Linkage linkage,
                                       DeclarationHead leading = {});

/// Parses `[4][]…` into variable.dimensions. An empty one is 0 and may only be the first.
void parse_dimensions(Lexer& lexer, Variable& variable);

/// Parses a comma-separated list of parameters in parentheses, for .entry, .func and
/// .callprototype.
std::vector<Variable> parse_parameters(Lexer& lexer);

/// Parses `name[dimensions] = initial value, stem<count>, …;` after the head and hands over each
/// variable with the token of its name or stem. `initial_bytes_left` bounds the memory that a short
/// text can ask for by sparse initialisers and by ranges of variables.
void parse_variables(Lexer& lexer, const DeclarationHead& head, std::uint64_t& initial_bytes_left,
                     const std::function<void(const Token& name, Variable)>& add);

}  // namespace simgpu::ptx
