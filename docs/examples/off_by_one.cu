// A kernel that goes one element too far: on a GPU it may well look right, here it is told.
#include <cstdio>

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 2.0f * i;
}

int main() {
  const int n = 1000;
  float* x = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<4, 256>>>(x, n);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(x);
}
