#pragma once

#include <vector>

#include "grader/contract/oracle.h"

namespace rooflab {

/// Holds what profile_workload of profile.h returned against what the device did. The workload is
/// that of the adapter, guest/profile.cpp.
std::vector<Complaint> judge_workload(const CallEvidence& evidence);

}  // namespace rooflab
