// What a call costs: its time, by two events, and the most device memory that it has in use, by the
// pool that cudaMallocAsync takes memory from.
#include <cstdint>
#include <cstdio>

#include "toolkit/check.h"

constexpr int kCount = 1 << 20;

__global__ void fill(float* x, float value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

// The call that is looked at: it takes 4 MiB from the pool and gives them back.
void work() {
  float* x = nullptr;
  CUDA_CHECK(cudaMallocAsync(&x, kCount * sizeof(float), /*stream=*/0));
  fill<<<kCount / 256, 256>>>(x, 1.0f, kCount);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(x, /*stream=*/0));
}

float milliseconds_of_work() {
  cudaEvent_t start = nullptr, stop = nullptr;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  CUDA_CHECK(cudaEventRecord(start));  // on the default stream, before the work
  work();
  CUDA_CHECK(cudaEventRecord(stop));       // behind the work, which is still under way
  CUDA_CHECK(cudaEventSynchronize(stop));  // the host waits until the GPU has reached `stop`
  float milliseconds = 0.0f;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CUDA_CHECK(cudaEventDestroy(start));
  CUDA_CHECK(cudaEventDestroy(stop));
  return milliseconds;
}

std::uint64_t peak_bytes_of_work() {
  int device = 0;
  cudaMemPool_t pool = nullptr;  // a handle, like cudaEvent_t
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));  // begin at 0
  work();
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  return bytes;
}

int main() {
  work();  // the first call loads code: leave it out
  const float milliseconds = milliseconds_of_work();
  const std::uint64_t bytes = peak_bytes_of_work();
  std::printf("%s, at most %.0f MiB in use\n", milliseconds > 0.0f ? "timed" : "took no time",
              bytes / (1024.0 * 1024.0));
  return milliseconds > 0.0f && bytes == kCount * sizeof(float) ? 0 : 1;
}
