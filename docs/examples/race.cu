// pass_on.cu without its barrier: on a GPU it may well look right, here it is reported.
#include <cstdio>
#include <vector>

__global__ void pass_on(const int* x, int* y) {
  __shared__ int numbers[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  numbers[threadIdx.x] = x[i];
  y[i] = numbers[(threadIdx.x + 1) % 64];
}

int main() {
  const int blocks = 3, n = blocks * 64;
  std::vector<int> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i;
  int *device_x = nullptr, *device_y = nullptr;
  cudaMalloc(&device_x, n * sizeof(int));
  cudaMalloc(&device_y, n * sizeof(int));
  cudaMemcpy(device_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  pass_on<<<blocks, 64>>>(device_x, device_y);
  cudaMemcpy(y.data(), device_y, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_y);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != x[i / 64 * 64 + (i + 1) % 64];
  std::printf("%d of %d numbers are wrong\n", wrong, n);
}
