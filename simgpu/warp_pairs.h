#pragma once

#include "simgpu/finding.h"

namespace simgpu {

/// Whether both sides of a finding are threads of one warp. Of several pairs at one place simgpu
/// tells such a one only where it saw no other: __syncwarp() orders no other.
inline bool is_within_warp(const Finding& finding) {
  return finding.other && finding.where.by_thread && finding.other->by_thread &&
         finding.where.block == finding.other->block && finding.where.warp == finding.other->warp &&
         finding.where.warp != kUnknownWarp;
}

}  // namespace simgpu
