#include <cuda_bf16.h>
#include <cub/cub.cuh>

#include "fused_gelu.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

constexpr int kThreads = 128, kItems = 8;

template <typename T>
__global__ void gelu_stretch(const T* x, T* y, std::int64_t count) {
  using Load = cub::BlockLoad<T, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<T, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  const std::int64_t begin = blockIdx.x * static_cast<std::int64_t>(kThreads * kItems);
  const std::int64_t left = count - begin;
  const bool is_whole = left >= kThreads * kItems;
  T items[kItems];
  if (is_whole) {
    Load(storage.load).Load(x + begin, items);
  } else {
    Load(storage.load).Load(x + begin, items, static_cast<int>(left), T(0.0f));
  }
  for (T& item : items) {
    const float v = rooflab::to_float(item);
    item = rooflab::from_float<T>(
        0.5f * v * (1.0f + tanhf(0.79788456080286536f * (v + 0.044715f * (v * v * v)))));
  }
  __syncthreads();  // the storage is used again
  if (is_whole) {
    Store(storage.store).Store(y + begin, items);
  } else {
    Store(storage.store).Store(y + begin, items, static_cast<int>(left));
  }
}

template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream) {
  const std::int64_t each = kThreads * kItems;
  gelu_stretch<<<static_cast<unsigned>((count + each - 1) / each), kThreads, 0, stream>>>(x, y,
                                                                                          count);
  CUDA_CHECK(cudaGetLastError());
}

template void fused_gelu(const float*, float*, std::int64_t, cudaStream_t);
template void fused_gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, cudaStream_t);
