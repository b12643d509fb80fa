#pragma once

#include <vector>

#include "grader/contract/oracle.h"

namespace rooflab {

/// What a call has not given back as it found it: bytes of its workspace, the state of the cuBLAS
/// handle. Adapters pass it on (labs/guest_support/device_memory.h and cublas_handle.h) under these
/// names, and nothing where all is well.
inline constexpr const char* kWorkspaceKept = "workspace bytes kept";
inline constexpr const char* kHandleChanged = "cuBLAS handle changed";

/// The guest says so, and could say otherwise: this is for students who forget, and costs the
/// points of a case of judges_structure alone.
std::vector<Complaint> complaints_of_lent(const CallEvidence& evidence);

}  // namespace rooflab
