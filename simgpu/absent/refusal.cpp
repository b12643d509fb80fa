#include "simgpu/absent/refusal.h"

#include <cstdio>

#include "simgpu/runtime/library_call.h"

namespace simgpu::absent {

int refuse(const char* function, int status) {
  std::fprintf(stderr, "simgpu: %s is not implemented\n", function);
  simgpu_report_refusal(function, false);
  return status;
}

}  // namespace simgpu::absent
