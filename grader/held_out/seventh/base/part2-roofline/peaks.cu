#include "peaks.h"

#include "toolkit/check.h"

#define TPB 256
#define WARP 32
#define ILP 4
#define FULL_MASK 0xffffffffu

typedef std::int64_t i64;

// ILP independent chains per thread
__global__ void fmaKernel(const float* in, float* out, i64 n, i64 steps, float a, float b) {
  const i64 base = (i64)blockIdx.x * (TPB * ILP) + threadIdx.x;
  float v[ILP];
#pragma unroll
  for (int j = 0; j < ILP; j++) v[j] = base + j * TPB < n ? in[base + j * TPB] : 0.f;

  for (i64 s = 0; s < steps; s++) {
#pragma unroll
    for (int j = 0; j < ILP; j++) v[j] = fmaf(a, v[j], b);
  }

#pragma unroll
  for (int j = 0; j < ILP; j++)
    if (base + j * TPB < n) out[base + j * TPB] = v[j];
}

void fma_peak(const float* in, float* out, i64 n, i64 steps, float a, float b) {
  const int nblk = (int)((n + TPB * ILP - 1) / (TPB * ILP));
  fmaKernel<<<nblk, TPB>>>(in, out, n, steps, a, b);
  CUDA_CHECK(cudaGetLastError());
}

// one block per chunk
__global__ void chunkSum(const float* in, float* sums, i64 n) {
  __shared__ float s[TPB / WARP];
  const i64 start = (i64)blockIdx.x * kChunk;
  const i64 len = n - start < kChunk ? n - start : kChunk;
  const float* p = in + start;

  float v = 0.f;
  if (len == kChunk) {
    const float4* p4 = reinterpret_cast<const float4*>(p);
    for (int i = threadIdx.x; i < kChunk / 4; i += TPB) {
      float4 q = p4[i];
      v += q.x + q.y + q.z + q.w;
    }
  } else {
    for (int i = threadIdx.x; i < len; i += TPB) v += p[i];
  }

  for (int off = WARP / 2; off > 0; off >>= 1) v += __shfl_down_sync(FULL_MASK, v, off);
  if (threadIdx.x % WARP == 0) s[threadIdx.x / WARP] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float tot = 0.f;
    for (int w = 0; w < TPB / WARP; w++) tot += s[w];
    sums[blockIdx.x] = tot;
  }
}

void sum_chunks(const float* in, float* sums, i64 n) {
  const int nblk = (int)((n + kChunk - 1) / kChunk);
  chunkSum<<<nblk, TPB>>>(in, sums, n);
  CUDA_CHECK(cudaGetLastError());
}
