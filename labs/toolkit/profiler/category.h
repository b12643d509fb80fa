#pragma once

#include <cstdint>
#include <string_view>

#include "profile.h"

namespace rooflab {

/// What a kernel computes, as far as its name tells.
enum class KernelCategory { gemm, elementwise, softmax, layernorm, memory, other };

/// The category of a kernel, copy or memset from its name, as libraries and compilers name them.
/// Upper and lower case are the same; template arguments, which name other functions, do not count.
KernelCategory classify(std::string_view name);

/// How often what ran on the device is of each category.
struct KernelCounts {
  std::int64_t gemm = 0, elementwise = 0, softmax = 0, layernorm = 0, memory = 0, other = 0;
  std::int64_t total = 0;
};
KernelCounts count_kernels(const Profile& profile);

}  // namespace rooflab
