#pragma once

#include <vector>

#include "simgpu/replay/recording.h"

/// What a step leaves behind when it is left out itself.
namespace simgpu::replay {

/// Writes on top of earlier ones: of each register the lanes' last values, in the order of the last
/// writes.
void add_values(std::vector<RegisterValues>& values, const RegisterValues& written);
void add_values(std::vector<RegisterValues>& values, const std::vector<RegisterValues>& written);

/// All that a step changes of its warp's registers, on top of `values`.
void add_step(std::vector<RegisterValues>& values, const Step& step);

/// Where the warp was in a step, and in those that were left out before it.
void add_left_out(std::vector<LeftOut>& left_out, const Step& step);
void add_left_out(std::vector<LeftOut>& left_out, const std::vector<LeftOut>& later);

/// Stores on top of earlier ones.
void add_stores(std::vector<SharedBytes>& stores, const std::vector<SharedBytes>& later);

}  // namespace simgpu::replay
