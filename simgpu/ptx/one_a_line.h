#pragma once

#include <string>
#include <string_view>

#include "simgpu/ptx/ast.h"

namespace simgpu::ptx {

/// The same module, each instruction in a line that no other instruction begins or ends in, so that
/// a line of a table of lines is one instruction, whoever wrote the text. Other lines stay what
/// they are, by their numbers too unless one above them held several instructions. Comments, and
/// lines that begin with #, are left out: ptxas counts lines by what `# 700 "x"` says. So are
/// pragmas other than "nounroll".
/// @throws ParseError when the text does not parse.
std::string one_instruction_a_line(std::string_view text);

/// That text, and the module with its lines.
struct ModuleOfLines {
  Module module;
  std::string text;
};
ModuleOfLines parse_one_a_line(std::string_view text);

}  // namespace simgpu::ptx
