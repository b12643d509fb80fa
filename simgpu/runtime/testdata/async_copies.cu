#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/pipeline>
#include <vector>

#include "check.h"

/// The ways in which CUDA C++ writes asynchronous copies that wait by thread. Each kernel turns
/// tiles of kTile floats round, two tiles under way at a time.

namespace cg = cooperative_groups;

constexpr int kTile = 256;

__device__ void turn(const float* tile, float* out) {
  out[threadIdx.x] = tile[kTile - 1 - threadIdx.x];
}

__global__ void by_intrinsics(const float* in, float* out, int tiles) {
  __shared__ float stages[2][kTile];
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&stages[tile % 2][threadIdx.x], &in[tile * kTile + threadIdx.x],
                              sizeof(float));
    }
    __pipeline_commit();
  };
  fetch(0);
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    turn(stages[tile % 2], out + tile * kTile);
    __syncthreads();
  }
}

/// As above, but the next copy is not held back until all have read.
__global__ void too_early(const float* in, float* out, int tiles) {
  __shared__ float stages[2][kTile];
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&stages[tile % 2][threadIdx.x], &in[tile * kTile + threadIdx.x],
                              sizeof(float));
    }
    __pipeline_commit();
  };
  fetch(0);
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    turn(stages[tile % 2], out + tile * kTile);
  }
}

/// Zeros for what lies behind the end: 13 floats in the last piece of four.
__global__ void with_zeros(const float* in, float* out, int count) {
  __shared__ float4 tile[kTile / 4];
  const int first = 4 * threadIdx.x;
  const int zeros = max(0, min(4, first + 4 - count)) * static_cast<int>(sizeof(float));
  __pipeline_memcpy_async(&tile[threadIdx.x], in + first, sizeof(float4), zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  reinterpret_cast<float4*>(out)[threadIdx.x] = tile[threadIdx.x];
}

__global__ void by_group(const float* in, float* out, int tiles) {
  __shared__ float stages[2][kTile];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, stages[0], in, sizeof(stages[0]));
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      cg::memcpy_async(block, stages[(tile + 1) % 2], in + (tile + 1) * kTile, sizeof(stages[0]));
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    turn(stages[tile % 2], out + tile * kTile);
    block.sync();
  }
}

__global__ void by_pipeline(const float* in, float* out, int tiles) {
  __shared__ float stages[2][kTile];
  auto pipeline = cuda::make_pipeline();
  const auto fetch = [&](int tile) {
    pipeline.producer_acquire();
    if (tile < tiles) {
      cuda::memcpy_async(&stages[tile % 2][threadIdx.x], &in[tile * kTile + threadIdx.x],
                         cuda::aligned_size_t<4>(sizeof(float)), pipeline);
    }
    pipeline.producer_commit();
  };
  fetch(0);
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    __syncthreads();
    turn(stages[tile % 2], out + tile * kTile);
    __syncthreads();
    pipeline.consumer_release();
  }
}

int main(int count, char**) {
  const int tiles = 5;
  std::vector<float> values(tiles * kTile);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::size_t bytes = values.size() * sizeof(float);
  float *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice));
  if (count > 1) {
    too_early<<<1, kTile>>>(in, out, tiles);
    CHECK(cudaDeviceSynchronize());
  }
  for (const auto kernel : {by_intrinsics, by_group, by_pipeline}) {
    CHECK(cudaMemset(out, 0, bytes));
    kernel<<<1, kTile>>>(in, out, tiles);
    CHECK(cudaGetLastError());
    std::vector<float> turned(values.size());
    CHECK(cudaMemcpy(turned.data(), out, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < tiles * kTile; ++i) {
      EXPECT(turned[i] == values[i / kTile * kTile + kTile - 1 - i % kTile]);
    }
  }
  float* short_in;
  constexpr int kShort = 13;
  CHECK(cudaMalloc(&short_in, kShort * sizeof(float)));
  CHECK(cudaMemcpy(short_in, values.data(), kShort * sizeof(float), cudaMemcpyHostToDevice));
  with_zeros<<<1, kTile / 4>>>(short_in, out, kShort);
  std::vector<float> padded(kTile);
  CHECK(cudaMemcpy(padded.data(), out, kTile * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kTile; ++i) EXPECT(padded[i] == (i < kShort ? values[i] : 0.0f));
  CHECK(cudaFree(short_in));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  std::printf("asynchronous copies are right\n");
}
