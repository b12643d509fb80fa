#pragma once

#include <span>
#include <string>
#include <vector>

#include "simgpu/sass/anchors.h"
#include "simgpu/sass/control_flow.h"
#include "simgpu/sass/kernel_code.h"
#include "simgpu/sass/ptx_counts.h"

namespace simgpu::sass {

/// Looks in counts of machine code for the work of the PTX, since counts may agree with all that
/// tells and yet leave out what nothing tells of. @param threads that execute each block
/// @returns what is not found; empty where nothing is missing
std::string what_is_missing(const KernelCode& code, const std::vector<BasicBlock>& blocks,
                            const std::vector<Anchor>& anchors, const PtxCounts& counts,
                            std::span<const double> threads);

}  // namespace simgpu::sass
