#include "rope.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// x[0] and x[apart], turned by `angle`.
template <typename T>
__device__ void turn(T* x, int apart, float angle) {
  float s, c;
  sincosf(angle, &s, &c);
  const float a = rooflab::to_float(x[0]), b = rooflab::to_float(x[apart]);
  x[0] = rooflab::from_float<T>(a * c - b * s);
  x[apart] = rooflab::from_float<T>(b * c + a * s);
}

template <typename T>
__global__ void turn_pairs(T* x, const int* positions, long long pairs, int length, int heads,
                           int half, float theta) {
  const long long stride = 1LL * gridDim.x * blockDim.x;
  for (long long p = 1LL * blockIdx.x * blockDim.x + threadIdx.x; p < pairs; p += stride) {
    const int i = p % half;
    const long long vector = p / half;  // of one head of one token
    const long long token = vector / heads;
    const float frequency = powf(theta, -2.0f * i / (2 * half));
    turn(x + vector * 2 * half + i, half, positions[token % length] * frequency);
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int half = head_dim / 2;
  const long long pairs = 1LL * batch * length * heads * half;
  const long long blocks = std::min((pairs + 255) / 256, 2048LL);
  turn_pairs<<<int(blocks), 256, 0, stream>>>(x, positions, pairs, length, heads, half, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
