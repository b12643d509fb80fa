#include "fused_gelu.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// Your kernel goes here: a thread loads a vector, calls gelu() for each element, and stores.

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  rooflab::todo("let each thread load a vector, take gelu() of its elements and store them");
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
