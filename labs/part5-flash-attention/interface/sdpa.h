#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "attention_shape.h"

/// Attention in three steps, with all its scores in memory, of any head_dim:
///
///   scores  = scale * q k^T          (batch, query_heads, query_length, key_length), fp32
///   weights = softmax of the rows of scores, over the keys that each query sees, 0 elsewhere
///   out     = weights v
///
/// cuBLAS computes the products, strided and batched; the softmax is a kernel of yours. The scores
/// are in memory that you take with cudaMallocAsync and give back with cudaFreeAsync, both on
/// `stream`. The weights take the place of the scores when T is float. Otherwise they are T in an
/// array of their own, since cuBLAS multiplies only elements of one type. Allocate nothing else;
/// the grader measures it. k and v have fewer than 2^31 elements here, and scores fewer than 2^30.
///
/// T is float, __half or __nv_bfloat16. Runs on `stream` and need not wait.
/// The handle may be left on `stream`; its pointer mode and math mode are as before when the
/// function returns.
template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream);
