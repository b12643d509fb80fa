#include "rope.h"

#include <algorithm>
#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// A thread turns one pair after the other, a whole grid apart; pairs are counted along a head, then
// over heads, tokens and sequences.
template <typename T>
__global__ void turn_pairs(T* x, const int* positions, std::int64_t pairs, int length, int heads,
                           int half, float theta) {
  const std::int64_t grid = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; p < pairs;
       p += grid) {
    const int i = p % half;
    const std::int64_t vector = p / half;
    const int token = vector / heads % length;
    const float frequency = powf(theta, -static_cast<float>(i) / half);
    float sine, cosine;
    sincosf(positions[token] * frequency, &sine, &cosine);
    T* head = x + vector * (2 * half);
    const float a = rooflab::to_float(head[i]);
    const float b = rooflab::to_float(head[i + half]);
    head[i] = rooflab::from_float<T>(a * cosine - b * sine);
    head[i + half] = rooflab::from_float<T>(b * cosine + a * sine);
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int half = head_dim / 2;
  const std::int64_t pairs = static_cast<std::int64_t>(batch) * length * heads * half;
  constexpr int kThreads = 192;
  const auto blocks = std::min<std::int64_t>((pairs + kThreads - 1) / kThreads, 1 << 16);
  turn_pairs<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(x, positions, pairs, length,
                                                                     heads, half, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
