#include "flash_softmax.h"

#include "toolkit/check.h"

namespace {

constexpr int kKeys = 32;
constexpr int kWidth = 64;
constexpr int kQueries = 32;

// A thread has one query with all of its scores; a warp has all queries of the block.
__global__ void attend(const float* q, const float* k, const float* v, float* out,
                       float* log_sum_exp, float scale) {
  __shared__ float queries[kQueries][kWidth + 1];
  __shared__ float keys[kKeys][kWidth];
  __shared__ float values[kKeys][kWidth];
  const int me = threadIdx.x;
  const int first = blockIdx.x * kQueries;

  for (int row = 0; row < 32; ++row) {
    for (int d = me; d < kWidth; d += 32) {
      queries[row][d] = q[(first + row) * kWidth + d];
      keys[row][d] = k[row * kWidth + d];
      values[row][d] = v[row * kWidth + d];
    }
  }
  __syncthreads();

  float score[kKeys];
  float largest = -INFINITY;
#pragma unroll
  for (int j = 0; j < kKeys; ++j) {
    float dot = 0.0f;
    for (int d = 0; d < kWidth; ++d) dot += queries[me][d] * keys[j][d];
    score[j] = dot * scale;
    largest = fmaxf(largest, score[j]);
  }
  float total = 0.0f;
#pragma unroll
  for (int j = 0; j < kKeys; ++j) {
    score[j] = expf(score[j] - largest);
    total += score[j];
  }
  log_sum_exp[first + me] = largest + logf(total);

  __syncthreads();  // the queries are done with, and their room takes the results
  for (int d = 0; d < kWidth; ++d) {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kKeys; ++j) sum += score[j] * values[j][d];
    queries[me][d] = sum / total;
  }
  __syncthreads();
  for (int row = 0; row < kQueries; ++row) {
    for (int d = me; d < kWidth; d += 32) out[(first + row) * kWidth + d] = queries[row][d];
  }
}

}  // namespace

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  attend<<<query_length / kQueries, 32>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
