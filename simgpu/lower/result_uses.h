#pragma once

#include <cstddef>
#include <vector>

#include "simgpu/isa/lowered.h"
#include "simgpu/lower/control_flow.h"
#include "simgpu/lower/pending.h"

namespace simgpu {

/// When the result of each instruction is used: ResultUse::never of those that the assembler leaves
/// out, and else ResultUse::soon of all but loads.
std::vector<ResultUse> find_result_uses(const std::vector<Pending>& code, std::size_t registers,
                                        const ControlFlow& flow);

}  // namespace simgpu
