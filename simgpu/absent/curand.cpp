#include "simgpu/absent/refusal.h"

extern "C" {

/// CURAND_STATUS_INITIALIZATION_FAILED
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 203;
  return simgpu::absent::refuse(function, kNotSupported);
}

}  // extern "C"
