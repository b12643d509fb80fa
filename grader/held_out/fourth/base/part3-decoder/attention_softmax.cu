#include "attention_steps.h"

#include <math_constants.h>

#include "toolkit/check.h"

namespace {

// The largest score that a thread has met, and the sum of the exponentials below it.
struct Seen {
  float top, mass;

  __device__ void merge(const Seen& other) {
    const float higher = fmaxf(top, other.top);
    if (higher == -CUDART_INF_F) return;
    mass = mass * expf(top - higher) + other.mass * expf(other.top - higher);
    top = higher;
  }
};

constexpr int kThreads = 64;

// One pass over a row finds maximum and sum at once; the second one writes.
__global__ void softmax_row(const float* scores, float* weights, int length) {
  __shared__ Seen seen[kThreads];
  const float* in = scores + static_cast<size_t>(blockIdx.x) * length;
  float* out = weights + static_cast<size_t>(blockIdx.x) * length;

  Seen mine{-CUDART_INF_F, 0.0f};
  for (int j = threadIdx.x; j < length; j += kThreads) mine.merge(Seen{in[j], 1.0f});
  seen[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) seen[threadIdx.x].merge(seen[threadIdx.x + half]);
    __syncthreads();
  }
  const Seen row = seen[0];
  for (int j = threadIdx.x; j < length; j += kThreads) out[j] = expf(in[j] - row.top) / row.mass;
}

}  // namespace

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  softmax_row<<<rows, kThreads>>>(scores, weights, length);
  CUDA_CHECK(cudaGetLastError());
}
