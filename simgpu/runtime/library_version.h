#pragma once

/// The CUDA that the library is of which this is a part: what cudaRuntimeGetVersion says there,
/// 1000 x major + 10 x minor. Each library has its own (cmake/rooflab_simulated_libraries.cmake).
extern "C" const int simgpu_cuda_version;
