#include "simgpu/absent/refusal.h"

extern "C" {

/// ncclInternalError
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 3;
  return simgpu::absent::refuse(function, kNotSupported);
}

const char* ncclGetErrorString(int /*status*/) { return simgpu::absent::kStatusText; }

const char* ncclGetLastError(int /*status*/) { return simgpu::absent::kStatusText; }

}  // extern "C"
