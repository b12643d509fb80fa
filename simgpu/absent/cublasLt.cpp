#include "simgpu/absent/refusal.h"

extern "C" {

/// CUBLAS_STATUS_NOT_SUPPORTED
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 15;
  return simgpu::absent::refuse(function, kNotSupported);
}

const char* cublasLtGetStatusName(int /*status*/) { return simgpu::absent::kStatusText; }

const char* cublasLtGetStatusString(int /*status*/) { return simgpu::absent::kStatusText; }

}  // extern "C"
