// Loops on the host: those that never end, and one that waits for work which takes its time.
#include <cuda_runtime.h>

#include <cstring>

__global__ void step(unsigned* value) { *value += 1; }

__global__ void long_work(unsigned* value, int rounds) {
  unsigned sum = *value;
  for (int i = 0; i < rounds; ++i) sum = sum * 1664525u + 1013904223u;
  *value = sum;
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  unsigned* value = nullptr;
  cudaMalloc(&value, kBytes);
  cudaMemset(value, 0, sizeof *value);
  while (std::strcmp(what, "launch") == 0) {
    step<<<1, 1>>>(value);
    cudaDeviceSynchronize();
  }
  while (std::strcmp(what, "fill") == 0) cudaMemset(value, 0, kBytes);
  cudaDeviceSynchronize();
  while (std::strcmp(what, "query") == 0) {
    if (cudaStreamQuery(nullptr) == cudaErrorNotReady) break;
  }
  long_work<<<1, 1>>>(value, 200'000);
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
  }
  return cudaFree(value) == cudaSuccess ? 0 : 1;
}
