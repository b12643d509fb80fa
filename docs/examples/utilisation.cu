// Actual against theoretical utilisation: scores of causal attention, where query i needs the keys
// up to i and no later ones. The first kernel computes the scores of all pairs, the second leaves
// out the blocks of which no score is needed.
#include <cmath>
#include <cstdio>

#include "toolkit/check.h"
#include "toolkit/profiler/profiler.h"
#include "toolkit/profiler/table.h"

constexpr int kTokens = 512;
constexpr int kHeadDim = 64;
constexpr int kBlock = 16;  // a block has 16 x 16 threads, each for one score

// The scores of one head: scores (kTokens, kTokens) of queries (kTokens, kHeadDim) and keys, which
// are transposed: (kHeadDim, kTokens).
__global__ void scores_of_all_pairs(const float* queries, const float* keys, float* scores) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  const int query = blockIdx.y * blockDim.y + threadIdx.y;
  float score = 0.0f;
  for (int d = 0; d < kHeadDim; ++d) {
    score += queries[query * kHeadDim + d] * keys[d * kTokens + key];
  }
  scores[query * kTokens + key] = key <= query ? score : -INFINITY;
}

__global__ void scores_of_needed_blocks(const float* queries, const float* keys, float* scores) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  const int query = blockIdx.y * blockDim.y + threadIdx.y;
  const bool is_masked = blockIdx.x > blockIdx.y;  // every key of the block is after every query
  float score = 0.0f;
  for (int d = 0; d < kHeadDim && !is_masked; ++d) {
    score += queries[query * kHeadDim + d] * keys[d * kTokens + key];
  }
  scores[query * kTokens + key] = key <= query ? score : -INFINITY;
}

float* device_array(int count) {
  float* array = nullptr;
  CUDA_CHECK(cudaMalloc(&array, count * sizeof(float)));
  CUDA_CHECK(cudaMemset(array, 0x3f, count * sizeof(float)));  // 0.747 in every element
  return array;
}

int main() {
  float* queries = device_array(kTokens * kHeadDim);
  float* keys = device_array(kHeadDim * kTokens);
  float* scores = device_array(kTokens * kTokens);
  const dim3 block(kBlock, kBlock);
  const dim3 grid(kTokens / kBlock, kTokens / kBlock);

  // What the operation needs, however it is written: a dot product for each pair with key <= query.
  const std::int64_t pairs = kTokens * (kTokens + 1) / 2;
  const std::int64_t elements = 2 * kTokens * kHeadDim + kTokens * kTokens;
  const rooflab::Cost needed{
      .macs = pairs * kHeadDim, .flops = 2 * pairs * kHeadDim, .bytes = elements * 4};
  const rooflab::Gpu a100{.flops_per_second = 19.5e12, .bytes_per_second = 1555e9};

  const rooflab::Schedule once{.wait = 0, .warmup = 1, .active = 1};
  const auto work = [&] {
    {
      const rooflab::Range range("all pairs", needed);
      scores_of_all_pairs<<<grid, block>>>(queries, keys, scores);
    }
    {
      const rooflab::Range range("needed blocks", needed);
      scores_of_needed_blocks<<<grid, block>>>(queries, keys, scores);
    }
    CUDA_CHECK(cudaGetLastError());
  };
  const rooflab::Profile seen = rooflab::profile(work, once);
  std::printf("%s", rooflab::utilisation_table(seen, a100).c_str());

  for (float* array : {queries, keys, scores}) CUDA_CHECK(cudaFree(array));
  return 0;
}
