#include "rope.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

// A block is one token of one sequence. Its threads go over all pairs of all heads.
template <typename T>
__global__ void spin(T* x, const int* positions, int length, int heads, int head_dim, float theta) {
  const int token = blockIdx.x;
  const int sequence = blockIdx.y;
  const int half_dim = head_dim / 2;
  const std::int64_t row = (std::int64_t)sequence * length + token;
  T* token_start = x + row * heads * head_dim;
  const float p = (float)positions[token];
  for (int e = threadIdx.x; e < heads * half_dim; e += blockDim.x) {
    const int head = e / half_dim;
    const int pair = e % half_dim;
    const float frequency = powf(theta, -2.0f * pair / head_dim);
    float s, c;
    sincosf(p * frequency, &s, &c);
    T* lo = token_start + head * head_dim + pair;
    T* hi = lo + half_dim;
    const float a = rooflab::to_float(*lo);
    const float b = rooflab::to_float(*hi);
    *lo = rooflab::from_float<T>(a * c - b * s);
    *hi = rooflab::from_float<T>(b * c + a * s);
  }
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const dim3 grid(length, batch);
  spin<T><<<grid, 96, 0, stream>>>(x, positions, length, heads, head_dim, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
