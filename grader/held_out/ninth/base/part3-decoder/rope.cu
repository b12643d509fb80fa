#include "rope.h"

#include <cstdint>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// One thread for one pair; a block's threads stride over the (head, pair) plane of one token.
template <typename T>
__global__ void rotate(T* x, const int* positions, int length, int heads, int head_dim,
                       float theta) {
  const int token = blockIdx.x;     // in its sequence
  const int sequence = blockIdx.y;  // in the batch
  const int pairs = head_dim / 2;
  const std::int64_t first =
      (std::int64_t(sequence) * length + token) * std::int64_t(heads) * head_dim;
  const float p = static_cast<float>(positions[token]);
  for (int at = threadIdx.x; at < heads * pairs; at += blockDim.x) {
    const int head = at / pairs;
    const int i = at % pairs;
    const float frequency = powf(theta, -2.0f * i / head_dim);
    float s, c;
    sincosf(p * frequency, &s, &c);
    T* low = x + first + std::int64_t(head) * head_dim + i;
    T* high = low + pairs;
    const float a = rooflab::to_float(*low);
    const float b = rooflab::to_float(*high);
    *low = rooflab::from_float<T>(a * c - b * s);
    *high = rooflab::from_float<T>(b * c + a * s);
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const dim3 grid(length, batch);
  rotate<<<grid, 128, 0, stream>>>(x, positions, length, heads, head_dim, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
