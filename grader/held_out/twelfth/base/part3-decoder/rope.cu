#include "rope.h"

#include <algorithm>
#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// A thread for each pair of each head of each token, numbered in one line.
template <typename T>
__global__ void rotate(T* x, const int* positions, std::int64_t pairs, int length, int heads,
                       int half, float theta) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < pairs;
       at += stride) {
    const int pair = at % half;
    const std::int64_t head = at / half;          // of all tokens
    const std::int64_t token = head / heads;      // of all sequences
    const int position = positions[token % length];
    const float angle = position * powf(theta, -static_cast<float>(pair) / half);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    T* first = x + head * 2 * half + pair;
    T* second = first + half;
    const float a = rooflab::to_float(*first);
    const float b = rooflab::to_float(*second);
    *first = rooflab::from_float<T>(a * cosine - b * sine);
    *second = rooflab::from_float<T>(b * cosine + a * sine);
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int half = head_dim / 2;
  const std::int64_t pairs = std::int64_t{batch} * length * heads * half;
  const std::int64_t blocks = std::min<std::int64_t>((pairs - 1) / kThreads + 1, 1 << 20);
  rotate<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(x, positions, pairs, length, heads,
                                                                 half, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
