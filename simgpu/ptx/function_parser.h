#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/lexer.h"
#include "simgpu/ptx/parser.h"
#include "simgpu/ptx/source_locations.h"

namespace simgpu::ptx {

/// What a function's body may refer to outside of itself, and add to.
struct ModuleScope {
  Module& module;
  std::unordered_map<std::string, std::uint32_t> variables;  ///< name to index
  std::uint64_t initial_bytes_left = 0;                      ///< see parse_variables
  std::vector<TextRange> instructions = {};                  ///< that were parsed
};

/// Parses a body from its '{' to its '}' into the function, whose name and parameters are known.
/// @return the inlined functions' names that wait for .debug_str.
std::vector<SourceLocations::PendingName> parse_body(Lexer& lexer, ModuleScope& module_scope,
                                                     Function& function);

}  // namespace simgpu::ptx
