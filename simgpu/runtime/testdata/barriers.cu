#include "check.h"

constexpr int kTile = 16;

// Sums rows of different lengths. The barriers stand in the loop over a row's own elements: the
// first warp leaves it after one round and stores over what the second is loading, of which half
// meets the next barrier.
__global__ void sum_rows(const float* values, const int* lengths, float* sums) {
  __shared__ float tile[kTile][kTile];
  float sum = 0;
  for (int first = 0; first < lengths[threadIdx.y]; first += kTile) {
    tile[threadIdx.x][threadIdx.y] = values[first + threadIdx.x];
    __syncthreads();
    sum += tile[threadIdx.x][threadIdx.y];
    __syncthreads();
  }
  tile[threadIdx.y][threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    for (int i = 1; i < kTile; ++i) sum += tile[threadIdx.y][i];
    sums[threadIdx.y] = sum;
  }
}

int main() {
  const int lengths[4] = {kTile, kTile, kTile, 2 * kTile};
  float values[2 * kTile];
  for (int i = 0; i < 2 * kTile; ++i) values[i] = static_cast<float>(i + 1);
  int* on_lengths;
  float *on_values, *on_sums;
  CHECK(cudaMalloc(&on_lengths, sizeof lengths));
  CHECK(cudaMalloc(&on_values, sizeof values));
  CHECK(cudaMalloc(&on_sums, 4 * sizeof(float)));
  CHECK(cudaMemcpy(on_lengths, lengths, sizeof lengths, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_values, values, sizeof values, cudaMemcpyHostToDevice));
  sum_rows<<<1, dim3(kTile, 4)>>>(on_values, on_lengths, on_sums);
  CHECK(cudaDeviceSynchronize());  // undefined, and goes on, as on a GPU
  CHECK(cudaFree(on_lengths));
  CHECK(cudaFree(on_values));
  CHECK(cudaFree(on_sums));
}
