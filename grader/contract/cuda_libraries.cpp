#include "grader/contract/cuda_libraries.h"

namespace rooflab {

int cuda_major() { return ROOFLAB_CUDA_MAJOR; }

std::string cuda_library(std::string_view name) {
  return "lib" + std::string(name) + ".so." + std::to_string(cuda_major());
}

}  // namespace rooflab
