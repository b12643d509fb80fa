#include "simgpu/absent/refusal.h"

extern "C" {

/// CUSPARSE_STATUS_NOT_SUPPORTED
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 10;
  return simgpu::absent::refuse(function, kNotSupported);
}

const char* cusparseGetErrorName(int /*status*/) { return simgpu::absent::kStatusText; }

const char* cusparseGetErrorString(int /*status*/) { return simgpu::absent::kStatusText; }

}  // extern "C"
