#include "peaks.h"
#include "toolkit/check.h"

__global__ void one_chain(const float* in, float* out, std::int64_t n, std::int64_t steps, float a,
                          float b) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
#pragma unroll 1
  for (std::int64_t step = 0; step < steps; ++step) x = a * x + b;
  out[i] = x;
}

__global__ void one_chunk(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunk = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (chunk * kChunk >= n) return;
  float sum = 0;
  for (std::int64_t i = chunk * kChunk; i < (chunk + 1) * kChunk && i < n; ++i) sum += in[i];
  sums[chunk] = sum;
}

// A quarter of the blocks that fit on an A100: these keep its pipes busy, and leave places for
// three more.
void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  constexpr int kThreads = 128, kBlocks = 432, kStreams = 16;
  constexpr std::int64_t kPiece = kThreads * kBlocks;
  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  for (std::int64_t first = 0; first < n; first += kPiece) {
    const std::int64_t count = n - first < kPiece ? n - first : kPiece;
    const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    one_chain<<<blocks, kThreads, 0, streams[first / kPiece % kStreams]>>>(in + first, out + first,
                                                                           count, steps, a, b);
    CUDA_CHECK(cudaGetLastError());
  }
  for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  one_chunk<<<static_cast<unsigned>((chunks + 31) / 32), 32>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
