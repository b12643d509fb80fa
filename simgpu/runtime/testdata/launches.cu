#include "check.h"

__global__ void nothing() {}

__global__ void sum_reversed(int* data, int n) {
  extern __shared__ int values[];
  values[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] += values[n - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(64) small_blocks() {}

void errors_of_bad_launches() {
  nothing<<<0, 32>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
  nothing<<<1, 1025>>>();
  EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<1, dim3(1, 1, 65)>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<dim3(1, 65536), 1>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<1, 1, 49 * 1024>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  small_blocks<<<1, 128>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<1, 32, 0, reinterpret_cast<cudaStream_t>(0x12345678)>>>();
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  // None of these breaks the context.
  nothing<<<1, 32>>>();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

void dynamic_shared_memory_beyond_the_default() {
  const int n = 512;
  int host[n];
  for (int i = 0; i < n; ++i) host[i] = i * i;
  int* device;
  CHECK(cudaMalloc(&device, sizeof host));
  CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
  const int bytes = 100 * 1024;
  sum_reversed<<<1, n, bytes>>>(device, n);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(
      cudaFuncSetAttribute(sum_reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
      cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(sum_reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  sum_reversed<<<1, n, bytes>>>(device, n);
  CHECK(cudaGetLastError());
  int back[n];
  CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == i * i + (n - 1 - i) * (n - 1 - i));
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_reversed, n, bytes));
  EXPECT(blocks == 1);  // 164 KB per multiprocessor
  CHECK(cudaFree(device));
}

void properties_of_an_a100() {
  cudaDeviceProp properties;
  int value = 0, count = 0;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.major == 8 && properties.minor == 0 && properties.multiProcessorCount == 108);
  EXPECT(properties.maxThreadsPerMultiProcessor == 2048 && properties.warpSize == 32);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(value == 163 * 1024);
  EXPECT_ERROR(cudaSetDevice(1), cudaErrorInvalidDevice);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, small_blocks));
  EXPECT(attributes.maxThreadsPerBlock == 64 && attributes.numRegs > 0);
}

int main() {
  properties_of_an_a100();
  errors_of_bad_launches();
  dynamic_shared_memory_beyond_the_default();
  std::printf("launches are right\n");
}
