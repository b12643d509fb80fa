#include "rope.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

using rooflab::from_float;
using rooflab::to_float;

// A thread for each pair of each head. The pairs of a token's heads lie along x, tokens along y.
template <typename T>
__global__ void turn_pairs(T* x, const int* positions, int length, std::int64_t tokens, int heads,
                           int head_dim, float theta) {
  const int half = head_dim / 2;
  const int number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= heads * half) return;
  const int head = number / half;
  const int pair = number % half;
  const float frequency = powf(theta, -2.0f * pair / head_dim);

  for (std::int64_t token = blockIdx.y; token < tokens; token += gridDim.y) {
    const int position = positions[token % length];
    float sine, cosine;
    sincosf(position * frequency, &sine, &cosine);
    T* low = x + (token * heads + head) * head_dim + pair;
    T* high = low + half;
    const float a = to_float(*low);
    const float b = to_float(*high);
    *low = from_float<T>(a * cosine - b * sine);
    *high = from_float<T>(b * cosine + a * sine);
  }
}

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const std::int64_t tokens = static_cast<std::int64_t>(batch) * length;
  const int pairs = heads * (head_dim / 2);
  const unsigned rows = tokens < 32768 ? tokens : 32768;
  const dim3 grid((pairs + 63) / 64, rows);
  turn_pairs<<<grid, 64, 0, stream>>>(x, positions, length, tokens, heads, head_dim, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
