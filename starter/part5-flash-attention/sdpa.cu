#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/todo.h"

// Your kernel goes here: softmax of the rows of scores, over the keys that each query sees.

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  rooflab::todo("write down the shapes of the three steps; let cuBLAS compute the scores");
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
