#pragma once

#include <cuda_runtime.h>

#include "attention_shape.h"

/// Step 9 of flash attention: as flash_forward, with both products on tensor cores, by fragments.h
/// or by nvcuda::wmma of <mma.h>. Sums are fp32; the weights are rounded to T before they meet the
/// values. The grader counts what tensor cores multiply.
///
/// head_dim is 64, 128 or 256; lengths are any. The call takes no device memory of its own.
///
/// T is __half or __nv_bfloat16. Tensor cores have bf16 from compute capability 8.0 on. For an
/// older GPU, the function for bf16 must compile, and is not called. Launches on `stream` and need
/// not wait.
template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream);
