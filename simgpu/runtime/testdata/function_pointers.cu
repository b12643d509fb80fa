#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "check.h"

// A device function's address goes to the host and back to a kernel; calls deeper than the stack
// end with the error of CUDA, and fit into a larger one.

using Function = float (*)(float, int);

__device__ float power(float x, int n) { return n == 0 ? 1.0f : x * power(x, n - 1) + 0.5f; }
__device__ float scaled(float x, int n) { return x * static_cast<float>(n); }
__device__ Function chosen = power;
__device__ Function other = scaled;

__global__ void apply(float* values, int count, Function function) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = function(values[i], i % 9);
}

__device__ int descend(int n) { return n == 0 ? 1 : descend(n - 1) * 3 + n; }
__global__ void deep(int* out, int n) { out[threadIdx.x] = descend(n); }

static float power_on_host(float x, int n) {
  return n == 0 ? 1.0f : x * power_on_host(x, n - 1) + 0.5f;
}

int main() {
  constexpr int kCount = 1000;
  std::vector<float> before(kCount), after(kCount);
  // Small halves, so that every product and sum is exact.
  for (int i = 0; i < kCount; ++i) before[i] = static_cast<float>(i % 5) * 0.5f;
  float* values = nullptr;
  CHECK(cudaMalloc(&values, kCount * sizeof(float)));
  Function functions[2] = {};
  CHECK(cudaMemcpyFromSymbol(&functions[0], chosen, sizeof(Function)));
  CHECK(cudaMemcpyFromSymbol(&functions[1], other, sizeof(Function)));
  for (const Function function : functions) {
    CHECK(cudaMemcpy(values, before.data(), kCount * sizeof(float), cudaMemcpyDefault));
    apply<<<8, 128>>>(values, kCount, function);
    CHECK(cudaMemcpy(after.data(), values, kCount * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < kCount; ++i) {
      const float expected = function == functions[0] ? power_on_host(before[i], i % 9)
                                                      : before[i] * static_cast<float>(i % 9);
      if (!(after[i] == expected)) {
        std::printf("element %d is %g, not %g\n", i, after[i], expected);
        return 1;
      }
    }
  }
  CHECK(cudaFree(values));
  std::puts("functions are right");

  size_t stack = 0;
  CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  std::printf("a stack of %zu bytes\n", stack);
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 32768));
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  deep<<<1, 32>>>(out, 500);
  CHECK(cudaDeviceSynchronize());
  std::puts("deep calls fit");
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
  deep<<<1, 32>>>(out, 500);
  std::printf("then %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
