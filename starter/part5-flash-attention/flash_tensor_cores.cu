#include "flash_tensor_cores.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// Your kernels go here: let each warp have the scores and the sums of its own rows.

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
  rooflab::todo("let a warp compute a tile of 16 x 16 scores with wmma first, for half");
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
