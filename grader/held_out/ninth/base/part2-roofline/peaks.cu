#include "peaks.h"

#include "toolkit/check.h"

// Four chains for each thread, 256 apart, so that four multiply-adds are under way in each.
#define CH 4
#define TB 256

__global__ void chains(const float* in, float* out, long long n, long long steps, float a, float b) {
  long long base = (long long)blockIdx.x * (CH * TB) + threadIdx.x;
  float r[CH];
  for (int c = 0; c < CH; c++) {
    long long i = base + c * TB;
    r[c] = i < n ? in[i] : 0.0f;
  }
  for (long long s = 0; s < steps; s++)
    for (int c = 0; c < CH; c++) r[c] = fmaf(a, r[c], b);
  for (int c = 0; c < CH; c++) {
    long long i = base + c * TB;
    if (i < n) out[i] = r[c];
  }
}

void fma_peak(const float* in, float* out, std::int64_t n, std::int64_t steps, float a, float b) {
  long long blocks = (n + CH * TB - 1) / (CH * TB);
  chains<<<(unsigned)blocks, TB>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void chunk_sums(const float* in, float* sums, long long n) {
  __shared__ float part[TB];
  long long lo = (long long)blockIdx.x * kChunk;
  long long hi = lo + kChunk < n ? lo + kChunk : n;
  float s = 0.0f;
  for (long long i = lo + threadIdx.x; i < hi; i += TB) s += in[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int d = TB / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

void sum_chunks(const float* in, float* sums, std::int64_t n) {
  unsigned chunks = (unsigned)((n + kChunk - 1) / kChunk);
  chunk_sums<<<chunks, TB>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
