#include "rope.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// The threads of a block share one token: x along the pairs of a head, y along its heads.
template <typename T>
__global__ void rotate(T* x, const int* positions, int length, int heads, int pairs, float theta) {
  const std::int64_t token = blockIdx.x;  // of all sequences
  const int position = positions[token % length];
  T* first_head = x + token * heads * pairs * 2;

  for (int pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
    const float exponent = -static_cast<float>(pair) / pairs;
    const float angle = position * powf(theta, exponent);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    for (int head = threadIdx.y; head < heads; head += blockDim.y) {
      T* a = first_head + head * pairs * 2 + pair;
      T* b = a + pairs;
      const float left = rooflab::to_float(*a), right = rooflab::to_float(*b);
      *a = rooflab::from_float<T>(left * cosine - right * sine);
      *b = rooflab::from_float<T>(right * cosine + left * sine);
    }
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const unsigned tokens = static_cast<unsigned>(batch) * static_cast<unsigned>(length);
  rotate<<<tokens, dim3(64, 4), 0, stream>>>(x, positions, length, heads, head_dim / 2, theta);
  CUDA_CHECK(cudaGetLastError());
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
