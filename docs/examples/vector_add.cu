// The smallest whole program: c = a + b on the device, checked on the host.
#include <cstdio>
#include <vector>

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n, 1.0f), b(n, 2.0f), c(n);

  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  cudaMalloc(&device_a, bytes);
  cudaMalloc(&device_b, bytes);
  cudaMalloc(&device_c, bytes);
  cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice);

  vector_add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
  const cudaError_t error = cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  std::printf("%s, %d of %d sums are wrong\n", cudaGetErrorString(error), wrong, n);
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
  return error != cudaSuccess || wrong > 0;
}
