#include "check.h"

__device__ int counter = 7;

__global__ void count_to(int value) { counter = value; }
__global__ void store(int* data) { *data = 1; }
__global__ void fill_shared() {
  extern __shared__ int values[];
  values[threadIdx.x] = 1;
}

size_t free_bytes() {
  size_t available = 0, total = 0;
  CHECK(cudaMemGetInfo(&available, &total));
  return available;
}

int main() {
  const size_t at_first = free_bytes();
  int *data, *pooled, *pinned;
  cudaStream_t stream;
  cudaEvent_t event;
  CHECK(cudaMalloc(&data, 1 << 20));
  CHECK(cudaMallocAsync(&pooled, 1 << 20, nullptr));
  CHECK(cudaMallocHost(&pinned, 4096));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&event));
  const int bytes = 100 * 1024;
  CHECK(cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  count_to<<<1, 1>>>(8);
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaDeviceReset());
  int value = 0;
  EXPECT_ERROR(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost),
               cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy(&value, pooled, sizeof value, cudaMemcpyDeviceToHost),
               cudaErrorInvalidValue);
  EXPECT_ERROR(cudaFreeHost(pinned), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT(free_bytes() == at_first);
  cudaMemPool_t pool;
  unsigned long long used = 1;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  // Programs are loaded anew, with their first values; what was set of a kernel stays.
  CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value == 7);
  cudaGetLastError();
  fill_shared<<<1, 32, bytes>>>();
  CHECK(cudaGetLastError());

  // A broken context ends with it.
  store<<<1, 1>>>(data);
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  EXPECT_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);  // the host thread's own
  CHECK(cudaGetLastError());
  CHECK(cudaMalloc(&data, sizeof value));
  store<<<1, 1>>>(data);
  CHECK(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 1);
  CHECK(cudaFree(data));
  std::printf("nothing is left\n");
}
