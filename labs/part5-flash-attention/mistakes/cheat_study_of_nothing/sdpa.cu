#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"

__global__ void nothing() {}

template <typename T>
void sdpa(cublasHandle_t, const T*, const T*, const T*, T*, const AttentionShape& shape,
          cudaStream_t stream) {
  const size_t queries = static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length;
  void* scores = nullptr;
  CUDA_CHECK(cudaMallocAsync(&scores, queries * shape.key_length * sizeof(float), stream));
  nothing<<<1, 32, 0, stream>>>();
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(scores, stream));
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);
