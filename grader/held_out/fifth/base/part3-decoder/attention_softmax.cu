#include "attention_steps.h"
#include "common.cuh"
#include "toolkit/check.h"

namespace {

constexpr int kThreads = 64;

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Added {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines one value of each thread by halving, in shared memory.
template <class Op>
__device__ float reduced(float mine, Op op, float* room) {
  room[threadIdx.x] = mine;
  __syncthreads();
  for (int live = kThreads / 2; live >= 1; live /= 2) {
    if (threadIdx.x < live) room[threadIdx.x] = op(room[threadIdx.x], room[threadIdx.x + live]);
    __syncthreads();
  }
  const float result = room[0];
  __syncthreads();  // the next call writes to the same room
  return result;
}

// A block for each row.
__global__ void softmax_row(const float* scores, float* weights, int length) {
  __shared__ float room[kThreads];
  const float* s = scores + static_cast<size_t>(blockIdx.x) * length;
  float* w = weights + static_cast<size_t>(blockIdx.x) * length;

  float most = -INFINITY;
  for (int j = threadIdx.x; j < length; j += kThreads) most = fmaxf(most, s[j]);
  most = reduced(most, Larger{}, room);

  float weight = 0.0f;
  for (int j = threadIdx.x; j < length; j += kThreads) weight += expf(s[j] - most);
  weight = reduced(weight, Added{}, room);

  const float share = 1.0f / weight;
  for (int j = threadIdx.x; j < length; j += kThreads) w[j] = expf(s[j] - most) * share;
}

}  // namespace

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  softmax_row<<<rows, kThreads>>>(scores, weights, length);
  CUDA_CHECK(cudaGetLastError());
}
