#pragma once

#include <cublas_v2.h>

namespace rooflab {

/// y = x weight^T: a linear layer without bias, by cuBLAS.
///
///   x: (tokens, in_features)   weight: (out_features, in_features)   y: (tokens, out_features)
///
/// All three are dense, row-major and in device memory; T is float, __half or __nv_bfloat16.
/// Sums are fp32, half and bf16 products run on tensor cores where the GPU has them for this type.
/// Runs on `stream`, which becomes the handle's, and does not wait.
/// @throws CudaError
template <typename T>
void linear(cublasHandle_t handle, const T* x, const T* weight, T* y, int tokens, int in_features,
            int out_features, cudaStream_t stream);

}  // namespace rooflab
