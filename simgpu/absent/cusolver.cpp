#include "simgpu/absent/refusal.h"

extern "C" {

/// CUSOLVER_STATUS_NOT_SUPPORTED
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 9;
  return simgpu::absent::refuse(function, kNotSupported);
}

}  // extern "C"
