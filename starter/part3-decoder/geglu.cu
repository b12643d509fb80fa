#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// Your kernel goes here: a thread computes a few neighbouring elements.

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  rooflab::todo("write gelu for one element in fp32, and launch a thread for each");
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);
