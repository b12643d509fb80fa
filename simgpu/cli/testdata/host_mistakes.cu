// Calls of host code that are wrong, one for each argument: the line of each has its name in a
// comment, so that a test finds it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}

float* allocated(std::size_t bytes) {
  float* x = nullptr;
  cudaMalloc(&x, bytes);  // leak
  return x;
}

void run(const char* name) {
  constexpr int kCount = 256;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  std::vector<float> host(kCount, 1.0f);
  float* x = allocated(kBytes);
  if (std::strcmp(name, "leak") == 0) return;
  if (std::strcmp(name, "launch") == 0) {
    scale<<<1, 2048>>>(x, kCount);  // launch
  } else if (std::strcmp(name, "direction") == 0) {
    cudaMemcpy(x, host.data(), kBytes, cudaMemcpyDeviceToHost);  // direction
  } else if (std::strcmp(name, "size") == 0) {
    cudaMemcpy(x, host.data(), 2 * kBytes,  // size
               cudaMemcpyHostToDevice);
  } else if (std::strcmp(name, "unwritten") == 0) {
    cudaMemcpy(host.data(), x, kBytes, cudaMemcpyDeviceToHost);  // unwritten
  } else if (std::strcmp(name, "dereference") == 0) {
    host[0] = x[3];  // dereference
  } else if (std::strcmp(name, "stream") == 0) {
    cudaMemcpy(x, host.data(), kBytes, cudaMemcpyHostToDevice);
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    scale<<<1, kCount, 0, one>>>(x, kCount);
    scale<<<1, kCount, 0, other>>>(x, kCount);  // stream
    cudaDeviceSynchronize();
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
  } else if (std::strcmp(name, "event") == 0) {
    cudaEvent_t start;
    cudaEventCreate(&start);  // event
  }
  cudaFree(x);
  std::printf("%g\n", host[0]);
}

}  // namespace

int main(int, char** arguments) {
  run(arguments[1]);
  return 0;
}
