#pragma once

#include "simgpu/finding.h"

namespace simgpu {

/// Whether a finding fails nothing: it tells what is left over, or what was not looked at.
inline bool is_notice(const Finding& finding) {
  return finding.kind() == FindingKind::leak || finding.code == "RL0615";
}

}  // namespace simgpu
