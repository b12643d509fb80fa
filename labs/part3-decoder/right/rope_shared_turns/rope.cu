#include "rope.h"

#include <cuda_bf16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

template <typename T>
__global__ void turn_token(T* x, const int* positions, int length, int heads, int half,
                           double log2_theta) {
  extern __shared__ float2 turns[];  // of each pair
  const int pair = threadIdx.x;
  if (pair >= half) return;
  const int token = blockIdx.x;  // of all sequences
  for (int i = pair; i < half; i += blockDim.x) {
    // A power in double costs little here, and its error is not multiplied by the position.
    const double frequency = exp2(-log2_theta * i / half);
    const float angle =
        static_cast<float>(positions[token % length] * static_cast<float>(frequency));
    sincosf(angle, &turns[i].y, &turns[i].x);
  }
  __syncthreads();
  T* first = x + static_cast<long>(token) * heads * 2 * half;
  const int step = min(static_cast<int>(blockDim.x), half);
  for (int i = pair; i < heads * half; i += step) {
    T* a = first + i / half * 2 * half + i % half;
    T* b = a + half;
    const float2 turn = turns[i % half];
    const float u = rooflab::to_float(*a), v = rooflab::to_float(*b);
    *a = rooflab::from_float<T>(u * turn.x - v * turn.y);
    *b = rooflab::from_float<T>(v * turn.x + u * turn.y);
  }
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int half = head_dim / 2;
  const int threads = 96;
  turn_token<<<batch * length, threads, half * sizeof(float2), stream>>>(
      x, positions, length, heads, half, log2(static_cast<double>(theta)));
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
