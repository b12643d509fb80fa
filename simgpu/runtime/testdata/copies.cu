#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 7;
__device__ float sums[4];

__global__ void weigh(const float* data) {
  sums[threadIdx.x] = data[threadIdx.x] * weights[threadIdx.x] + static_cast<float>(counter);
}

void copy_between_all_kinds_of_memory() {
  const int n = 3'000'000;  // several chunks of the connection
  std::vector<std::uint8_t> out(n), back(n);
  for (int i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(i * 31 + i / 257);
  std::uint8_t *first, *second, *pinned;
  CHECK(cudaMalloc(&first, n));
  CHECK(cudaMalloc(&second, n));
  CHECK(cudaMallocHost(&pinned, n));
  CHECK(cudaMemcpy(first, out.data(), n, cudaMemcpyDefault));
  CHECK(cudaMemcpy(second, first, n, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpyAsync(pinned, second, n, cudaMemcpyDeviceToHost, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(back.data(), pinned, n, cudaMemcpyHostToHost));
  EXPECT(back == out);
  CHECK(cudaMemset(first + 10, 0xAB, 100));
  CHECK(cudaMemcpy(back.data(), first, n, cudaMemcpyDeviceToHost));
  std::memset(out.data() + 10, 0xAB, 100);
  EXPECT(back == out);
  EXPECT_ERROR(cudaMemcpy(first, out.data(), n, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(first, out.data(), n, static_cast<cudaMemcpyKind>(9)),
               cudaErrorInvalidMemcpyDirection);
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(first));
  CHECK(cudaFree(second));
  CHECK(cudaFree(nullptr));
}

void copy_rectangles() {
  const size_t width = 13, height = 9, host_pitch = 20;
  std::vector<std::uint8_t> host(host_pitch * height), back(host_pitch * height, 1);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint8_t>(i + 2);
  void* device;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&device, &pitch, width, height));
  EXPECT(pitch >= width && pitch % 256 == 0);
  CHECK(
      cudaMemcpy2D(device, pitch, host.data(), host_pitch, width, height, cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(static_cast<std::uint8_t*>(device) + 1, pitch, 0, 2, height));
  CHECK(
      cudaMemcpy2D(back.data(), host_pitch, device, pitch, width, height, cudaMemcpyDeviceToHost));
  for (size_t row = 0; row < height; ++row) {
    for (size_t column = 0; column < host_pitch; ++column) {
      const size_t at = row * host_pitch + column;
      const std::uint8_t expected = column >= width ? 1 : column == 1 || column == 2 ? 0 : host[at];
      EXPECT(back[at] == expected);
    }
  }
  EXPECT_ERROR(
      cudaMemcpy2D(device, 4, host.data(), host_pitch, width, height, cudaMemcpyHostToDevice),
      cudaErrorInvalidPitchValue);
  CHECK(cudaFree(device));
}

void use_symbols() {
  const float data[4] = {10, 20, 30, 40};
  const float last = 8;
  float* device;
  CHECK(cudaMalloc(&device, sizeof data));
  CHECK(cudaMemcpy(device, data, sizeof data, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(weights, &last, sizeof last, 3 * sizeof(float)));
  void* address;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, counter));
  CHECK(cudaGetSymbolSize(&bytes, weights));
  EXPECT(bytes == sizeof weights);
  const int one = 1;
  CHECK(cudaMemcpy(address, &one, sizeof one, cudaMemcpyHostToDevice));
  weigh<<<1, 4>>>(device);
  float result[4];
  CHECK(cudaMemcpyFromSymbol(result, sums, sizeof result));
  EXPECT(result[0] == 11 && result[1] == 41 && result[2] == 91 && result[3] == 321);
  EXPECT_ERROR(cudaMemcpyFromSymbol(result, sums, sizeof result, 4), cudaErrorInvalidValue);
  CHECK(cudaFree(device));
}

int main() {
  copy_between_all_kinds_of_memory();
  copy_rectangles();
  use_symbols();
  std::printf("copies are right\n");
}
