#pragma once

#include <cstdint>
#include <string>

#include "simgpu/exec/launch_context.h"

/// How long a launch may take. docs/design/engine.md
namespace simgpu {

/// The finding's code of a launch that takes longer.

/// Modelled time of so many instructions of one warp, each of which waits for the one before it.
double modelled_us(std::uint64_t instructions, const gpu_spec::GpuSpec& gpu);

/// The most instructions that a warp may execute by EngineOptions::warp_limit_us.
std::uint64_t most_warp_instructions(double limit_us, const gpu_spec::GpuSpec& gpu);

/// Whether the grid's warps are more than the launch may execute instructions.
bool has_too_many_blocks(const LaunchContext& launch);

/// Why a launch has used up its budget, a clause.
std::string long_launch_in_words(const LaunchContext& launch);

/// Of a launch whose blocks together take more than its budget: failed, with the line at which its
/// first block spends its instructions, and what the checkers find in that block. Does not depend
/// on how far the launch has come.
LaunchResult fail_long_launch(const LaunchContext& launch);

}  // namespace simgpu
