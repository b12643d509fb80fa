#include "flash_online.h"

#include "toolkit/check.h"

namespace {

constexpr int kWidth = 64;
constexpr int kTeam = 4;               // threads that share a query
constexpr int kMine = kWidth / kTeam;  // elements of a thread: every kTeam-th one
constexpr int kQueries = 32;
constexpr int kKeys = 16;  // of a tile
constexpr int kThreads = kTeam * kQueries;

// What is known about a query's row so far.
struct Running {
  float peak = -INFINITY;
  float mass = 0.0f;
  float sum[kMine] = {};

  // Makes room for a score: everything is relative to the largest one from now on.
  __device__ void raise(float score) {
    if (score <= peak) return;
    const float factor = expf(peak - score);
    mass *= factor;
    for (float& element : sum) element *= factor;
    peak = score;
  }
};

__global__ void walk(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                     int keys, float scale) {
  __shared__ float key_tile[kKeys * kWidth];
  __shared__ float value_tile[kKeys * kWidth];
  const int member = threadIdx.x % kTeam;
  const int query = blockIdx.x * kQueries + threadIdx.x / kTeam;

  float mine[kMine];
  for (int e = 0; e < kMine; ++e) mine[e] = scale * q[query * kWidth + e * kTeam + member];

  Running running;
  for (int start = 0; start < keys; start += kKeys) {
    for (int t = threadIdx.x; t < kKeys * kWidth; t += kThreads) {
      key_tile[t] = k[start * kWidth + t];
      value_tile[t] = v[start * kWidth + t];
    }
    __syncthreads();
    for (int j = 0; j < kKeys; ++j) {
      float score = 0.0f;
      for (int e = 0; e < kMine; ++e) score += mine[e] * key_tile[j * kWidth + e * kTeam + member];
      score += __shfl_xor_sync(0xffffffff, score, 1);
      score += __shfl_xor_sync(0xffffffff, score, 2);
      running.raise(score);
      const float weight = expf(score - running.peak);
      running.mass += weight;
      for (int e = 0; e < kMine; ++e) {
        running.sum[e] += weight * value_tile[j * kWidth + e * kTeam + member];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < kMine; ++e) {
    out[query * kWidth + e * kTeam + member] = running.sum[e] / running.mass;
  }
  if (member == 0) log_sum_exp[query] = running.peak + logf(running.mass);
}

}  // namespace

void flash_online(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                  const AttentionShape& shape) {
  walk<<<shape.query_length / kQueries, kThreads>>>(q, k, v, out, log_sum_exp, shape.key_length,
                                                    shape.scale);
  CUDA_CHECK(cudaGetLastError());
}
