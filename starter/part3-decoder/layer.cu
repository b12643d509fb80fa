#include "layer.h"

#include <cuda_bf16.h>

#include "kv_cache.h"
#include "layer_steps.h"
#include "toolkit/todo.h"

// Your helpers go here: what prefill and decode have in common.

template <typename T>
void prefill_forward(const LayerContext& context, const LayerShape& shape,
                     const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                     int length, const KvCache<T>& cache) {
  rooflab::todo("the three steps; which keys does a prompt need that is longer than the ring?");
}

template <typename T>
void decode_forward(const LayerContext& context, const LayerShape& shape,
                    const LayerWeights<T>& weights, T* hidden, const int* positions, int batch,
                    const KvCache<T>& cache) {
  rooflab::todo("the three steps for one token: which keys does it see, and where do they lie?");
}

template <typename T>
void decode_without_cache_forward(const LayerContext& context, const LayerShape& shape,
                                  const LayerWeights<T>& weights, T* hidden, const int* positions,
                                  int batch, int length) {
  rooflab::todo("the three steps, with a cache in the workspace");
}

template void prefill_forward(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                              float*, const int*, int, int, const KvCache<float>&);
template void prefill_forward(const LayerContext&, const LayerShape&,
                              const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*, const int*, int,
                              int, const KvCache<__nv_bfloat16>&);
template void decode_forward(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                             float*, const int*, int, const KvCache<float>&);
template void decode_forward(const LayerContext&, const LayerShape&,
                             const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*, const int*, int,
                             const KvCache<__nv_bfloat16>&);
template void decode_without_cache_forward(const LayerContext&, const LayerShape&,
                                           const LayerWeights<float>&, float*, const int*, int,
                                           int);
template void decode_without_cache_forward(const LayerContext&, const LayerShape&,
                                           const LayerWeights<__nv_bfloat16>&, __nv_bfloat16*,
                                           const int*, int, int);
