#pragma once

#include "simgpu/notice.h"

namespace rooflab {

/// Whether a finding says something of a call's results: what is off the given stream does not, nor
/// what is not freed or was not looked at. Such findings of a later call may stand among those of
/// the first one (RunRequest::further).
inline bool concerns_results(const simgpu::Finding& finding) {
  return !simgpu::is_notice(finding) && finding.code != "RL0325";
}

}  // namespace rooflab
