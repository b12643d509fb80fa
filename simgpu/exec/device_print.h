#pragma once

#include <string>
#include <vector>

#include "simgpu/exec/warp.h"
#include "simgpu/lower/builder.h"

namespace simgpu {

/// Calls of functions that CUDA provides without a body: vprintf, __assertfail, malloc, free. False
/// when `name` is none of them.
bool build_system_call(KernelBuilder& builder, const std::string& name,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& results);

/// Where such a call's argument or result lies. @throws Unsupported when it is no .param variable
VariableHome parameter_home(KernelBuilder& builder, const std::string& name);

}  // namespace simgpu
