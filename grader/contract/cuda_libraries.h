#pragma once

#include <string>
#include <string_view>

namespace rooflab {

/// The major version of CUDA that this build is for: that of its nvcc, of the libraries that
/// submissions are linked with, and of the simulated GPU's (docs/design/cuda-versions.md).
int cuda_major();

/// The file of one of NVIDIA's libraries that bear that version: "libcudart.so.13" of "cudart".
std::string cuda_library(std::string_view name);

}  // namespace rooflab
