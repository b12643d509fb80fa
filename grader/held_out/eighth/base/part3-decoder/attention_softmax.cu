#include <cmath>
#include <cstdint>

#include "attention_steps.h"
#include "toolkit/check.h"

// A block of 64 threads for each row; both reductions go through shared memory.
constexpr int kTeam = 64;

__device__ float team_max(float mine, float* board) {
  board[threadIdx.x] = mine;
  __syncthreads();
  float best = board[0];
  for (int t = 1; t < kTeam; ++t) best = fmaxf(best, board[t]);
  __syncthreads();
  return best;
}

__device__ float team_sum(float mine, float* board) {
  board[threadIdx.x] = mine;
  __syncthreads();
  float total = 0.0f;
  for (int t = 0; t < kTeam; ++t) total += board[t];
  return total;
}

__global__ void softmax_row(const float* scores, float* weights, int length) {
  __shared__ float board[kTeam];
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * length;
  const float* in = scores + begin;
  float* out = weights + begin;

  float mine = -INFINITY;
  for (int j = threadIdx.x; j < length; j += kTeam) mine = fmaxf(mine, in[j]);
  const float largest = team_max(mine, board);

  float part = 0.0f;
  for (int j = threadIdx.x; j < length; j += kTeam) part += expf(in[j] - largest);
  const float total = team_sum(part, board);

  for (int j = threadIdx.x; j < length; j += kTeam) {
    out[j] = expf(in[j] - largest) / total;
  }
}

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  softmax_row<<<rows, kTeam>>>(scores, weights, length);
  CUDA_CHECK(cudaGetLastError());
}
