// The smallest whole program: y = s * x + y on the device, checked on the host.
#include <cstdio>
#include <vector>

__global__ void saxpy(float s, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = s * x[i] + y[i];
}

int main() {
  const int n = 1000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n, 1.0f), y(n, 2.0f);

  float *device_x = nullptr, *device_y = nullptr;
  cudaMalloc(&device_x, bytes);
  cudaMalloc(&device_y, bytes);
  cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  saxpy<<<blocks, threads>>>(3.0f, device_x, device_y, n);
  const cudaError_t error = cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 5.0f;
  std::printf("%s, %d of %d numbers are wrong\n", cudaGetErrorString(error), wrong, n);
  cudaFree(device_x);
  cudaFree(device_y);
  return error != cudaSuccess || wrong > 0;
}
