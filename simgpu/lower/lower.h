#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/lower/symbol_table.h"
#include "simgpu/ptx/ast.h"

namespace simgpu {

/// Device functions that the module may call through pointers, mangled. Each needs an address of
/// its own, different from those of other modules; nothing is stored there.
std::vector<std::string> functions_with_address(const ptx::Module& module);

/// Lowers a parsed module: registers to slots, labels to indexes, opcodes to the functions of an
/// instruction set, branches to their reconvergence points. Instructions without an implementation
/// are kept and refused at launch, by name.
/// @throws std::runtime_error when the module cannot mean anything (undefined symbol, type misuse)
std::shared_ptr<const Program> lower(const ptx::Module& module, const SymbolTable& symbols,
                                     const InstructionSet& instructions);

}  // namespace simgpu
