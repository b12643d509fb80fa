#include "rope.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <typename T>
__global__ void turn(T* x, const int* positions, int batch, int length, int heads, int head_dim,
                     float theta) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= batch * length * heads) return;
  const int token = index / heads % length;
  T* head = x + static_cast<size_t>(index) * head_dim;
  for (int i = 0; i < head_dim / 2; ++i) {
    const float angle = positions[token] * powf(theta, -2.0f * i / head_dim);
    const float a = number(head[i]);
    const float b = number(head[i + head_dim / 2]);
    store(&head[i], a * cosf(angle) - b * sinf(angle));
    store(&head[i + head_dim / 2], b * cosf(angle) + a * sinf(angle));
  }
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int threads = batch * length * heads;
  turn<<<(threads + 63) / 64, 64, 0, stream>>>(x, positions, batch, length, heads, head_dim, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
