#include "rope.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

struct Layout {
  int length, heads, head_dim;
};

// A block for each token and head: blockIdx.x counts tokens of all sequences, blockIdx.y heads.
template <typename T>
__global__ void rotate(T* x, const int* positions, Layout shape, float theta) {
  const long long token = blockIdx.x;
  const int position = positions[token % shape.length];
  const int half = shape.head_dim / 2;
  T* low = x + (token * shape.heads + blockIdx.y) * shape.head_dim;
  T* high = low + half;

  for (int pair = threadIdx.x; pair < half; pair += blockDim.x) {
    const float frequency = powf(theta, -2.0f * pair / shape.head_dim);
    float sine, cosine;
    sincosf(position * frequency, &sine, &cosine);
    const float a = rooflab::to_float(low[pair]);
    const float b = rooflab::to_float(high[pair]);
    low[pair] = rooflab::from_float<T>(a * cosine - b * sine);
    high[pair] = rooflab::from_float<T>(b * cosine + a * sine);
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const dim3 grid(batch * length, heads);
  rotate<<<grid, 64, 0, stream>>>(x, positions, Layout{length, heads, head_dim}, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
