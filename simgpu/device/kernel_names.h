#pragma once

#include <string>

#include "simgpu/finding.h"

namespace simgpu {

/// What the kernels of a module that must not be named are called.
inline constexpr const char* kMadeAtRunTime = "a kernel made at run time";

/// `gemm_tiled` for "_Z10gemm_tiledPKfS0_Pfiii": demangled, without return type and parameters.
/// Names that are not mangled come back as they are, and so do mangled ones that could stand for
/// far more text than they have; of more than 1000 characters the rest is left out.
std::string kernel_display_name(const std::string& mangled);

/// The functions that a finding's places were inlined from come mangled, and are named so too.
void name_calls(Finding& finding);

}  // namespace simgpu
