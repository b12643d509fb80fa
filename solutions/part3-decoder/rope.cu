#include "rope.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a thread rotates one pair of a token, in every head.
namespace {

constexpr int kMostThreads = 256;

// One block for each token. Pair i rotates by the same angle in every head, so one thread computes
// the angle once and rotates the pair in all heads. Neighbouring threads take neighbouring pairs:
// their loads and stores are coalesced.
template <typename T>
__global__ void rope_kernel(T* x, const int* positions, int heads, int head_dim, float theta) {
  const int token = blockIdx.x;
  const int length = gridDim.x;
  const int batch = blockIdx.y;
  x += (static_cast<size_t>(batch) * length + token) * heads * head_dim;  // (heads, head_dim)

  const int pairs = head_dim / 2;
  const float position = static_cast<float>(positions[token]);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float exponent = -2.0f * static_cast<float>(i) / static_cast<float>(head_dim);
    const float angle = position * powf(theta, exponent);
    float sine = 0.0f, cosine = 0.0f;
    sincosf(angle, &sine, &cosine);

    for (int head = 0; head < heads; ++head) {
      T* first = x + head * head_dim + i;
      T* second = first + pairs;
      const float a = rooflab::to_float(*first);
      const float b = rooflab::to_float(*second);
      *first = rooflab::from_float<T>(a * cosine - b * sine);
      *second = rooflab::from_float<T>(b * cosine + a * sine);
    }
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace
// END SOLUTION

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write down which two elements of a head are pair i, then its angle");
  const int warps = divide_up(head_dim / 2, kWarpSize);
  const int threads = std::min(warps * kWarpSize, kMostThreads);
  rope_kernel<<<dim3(length, batch), threads, 0, stream>>>(x, positions, heads, head_dim, theta);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);
