#include "simgpu/absent/refusal.h"

extern "C" {

/// CUDNN_STATUS_NOT_SUPPORTED
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 3000;
  return simgpu::absent::refuse(function, kNotSupported);
}

const char* cudnnGetErrorString(int /*status*/) { return simgpu::absent::kStatusText; }

}  // extern "C"
