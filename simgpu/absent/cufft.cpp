#include "simgpu/absent/refusal.h"

extern "C" {

/// CUFFT_NOT_SUPPORTED
int simgpu_refuse(const char* function) {
  constexpr int kNotSupported = 16;
  return simgpu::absent::refuse(function, kNotSupported);
}

}  // extern "C"
