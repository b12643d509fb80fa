#pragma once

#include <string>
#include <vector>

#include "simgpu/lower/builder.h"

namespace simgpu {

/// A call of malloc or free in a kernel; new and delete are calls of them. False when `name` is
/// neither.
bool build_heap_call(KernelBuilder& builder, const std::string& name,
                     const std::vector<std::string>& arguments,
                     const std::vector<std::string>& results);

}  // namespace simgpu
