#include "simgpu/absent/refusal.h"

#include <cstdio>

// The program's own runtime has it, of whichever version that is; a library here may be that of
// several.
extern "C" __attribute__((weak)) void simgpu_report_refusal(const char* function, bool in_part);

namespace simgpu::absent {

int refuse(const char* function, int status) {
  std::fprintf(stderr, "simgpu: %s is not implemented\n", function);
  if (simgpu_report_refusal != nullptr) simgpu_report_refusal(function, false);
  return status;
}

}  // namespace simgpu::absent
