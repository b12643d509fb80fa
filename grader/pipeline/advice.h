#pragma once

#include <string>

#include "simgpu/report.h"

namespace rooflab {

/// What bounds a kernel and what removing that would gain: "limited by shared memory (812 us of
/// 1020 us): …; without it fp32 would limit, 2.3x faster". Empty when the device told no terms.
std::string advice_for(const simgpu::TimeBreakdown& time);

}  // namespace rooflab
