#include "peaks.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your two kernels go here.
namespace {

constexpr int kThreadsPerBlock = 256;

// Blocks of kThreadsPerBlock threads for `threads` threads.
unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreadsPerBlock - 1) / kThreadsPerBlock);
}

constexpr int kChains = 4;   // of one thread: independent, so that none waits for another
constexpr int kUnroll = 16;  // steps for each branch of the loop: multiply-adds, not bookkeeping

// Thread i works on the elements i, i + threads, i + 2 threads ..., neighbours side by side.
__global__ void fma_kernel(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                           float b) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * threads;
    x[c] = i < n ? in[i] : 0.0f;
  }
#pragma unroll kUnroll
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fmaf(a, x[c], b);
  }
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const std::int64_t i = first + c * threads;
    if (i < n) out[i] = x[c];
  }
}

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// Sum of `value` over the lanes of a warp, in lane 0.
__device__ float warp_sum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  return value;
}

// One block sums one chunk; its warps add to the block's sum one after the other.
__global__ void sum_kernel(const float* in, float* sums, std::int64_t n) {
  __shared__ volatile float total[kWarpSize];
  const std::int64_t first = blockIdx.x * kChunk;
  const float* chunk = in + first;
  float sum = 0.0f;
#pragma unroll 1
  for (int k = threadIdx.x; k < kChunk; k += kThreadsPerBlock)
    sum += first + k < n ? chunk[k] : 0.0f;
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (threadIdx.x < kWarpSize) total[threadIdx.x] = 0.0f;
  __syncthreads();
#pragma unroll 1
  for (int turn = 0; turn < kThreadsPerBlock / kWarpSize; ++turn) {
    if (turn == warp) {
#pragma unroll 1
      for (int part = 0; part < 8; ++part) {
        if (lane / 4 == part) total[lane] = total[lane] + sum;
        __threadfence();
      }
    }
    __syncthreads();
  }
  const float all = warp_sum(total[lane]);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

}  // namespace
// END SOLUTION

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("how many multiply-adds must be under way at once, so that none waits?");
  const std::int64_t threads = (n + kChains - 1) / kChains;
  fma_kernel<<<blocks_for(threads), kThreadsPerBlock>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let a block read a chunk in float4s, then add up what its threads hold");
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  sum_kernel<<<static_cast<unsigned>(chunks), kThreadsPerBlock>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
