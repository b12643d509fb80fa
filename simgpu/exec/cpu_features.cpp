#include "simgpu/exec/cpu_features.h"

#include <stdexcept>
#include <string>

/// Compiled for the baseline processor, unlike the rest of the engine.
namespace simgpu {
namespace {

[[maybe_unused]] void require(bool present, const char* name) {
  if (present) return;
  throw std::runtime_error(
      std::string("the simulated GPU was built for processors with ") + name +
      ", which this one lacks: build again with cmake -DSIMGPU_MARCH=x86-64-v2 (slower)");
}

}  // namespace

void require_cpu_features() {
#if defined(SIMGPU_NEEDS_AVX2)
  __builtin_cpu_init();
  require(__builtin_cpu_supports("avx2") != 0, "AVX2");
  require(__builtin_cpu_supports("fma") != 0, "FMA");
  require(__builtin_cpu_supports("bmi2") != 0, "BMI2");
#endif
#if defined(SIMGPU_NEEDS_AVX512)
  require(__builtin_cpu_supports("avx512f") != 0, "AVX-512");
#endif
}

}  // namespace simgpu
