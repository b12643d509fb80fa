#include "flash_decode.h"

#include "common.cuh"
#include "tiles.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"
#include "warp.h"

// Your two kernels go here: one for the parts of the keys, one that combines their results.

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::todo("let a block take one part of the keys; store its maximum, sum and values");
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
