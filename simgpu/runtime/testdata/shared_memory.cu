#include <cstring>
#include <vector>

#include "check.h"

/// Dynamic shared memory beyond 48 KiB. With an argument, what goes wrong without asking for it
/// ("unset"), or when asking for more than there is ("too-much").

__global__ void reverse(int* data, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = tile[n - 1 - i];
}

__global__ void with_static_tile(int* data) {
  extern __shared__ int tile[];
  __shared__ int small[256];
  small[threadIdx.x] = data[threadIdx.x];
  tile[threadIdx.x] = small[threadIdx.x];
  data[threadIdx.x] = tile[threadIdx.x];
}

int limit(cudaDeviceAttr attribute) {
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
  return value;
}

int resident_blocks(int bytes) {
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 256, bytes));
  return blocks;
}

void uses_all_of_it(int most) {
  const int n = most / static_cast<int>(sizeof(int));
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  int* data;
  CHECK(cudaMalloc(&data, most));
  CHECK(cudaMemcpy(data, values.data(), most, cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  reverse<<<1, 256, most>>>(data, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(values.data(), data, most, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(values[i] == n - 1 - i);
  CHECK(cudaFree(data));
}

void occupancy_follows(int most) {
  const int of_multiprocessor = limit(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int reserved = limit(cudaDevAttrReservedSharedMemoryPerBlock);
  EXPECT(resident_blocks(most) == 1);
  EXPECT(resident_blocks(of_multiprocessor / 2 - reserved) == 2);
  EXPECT(resident_blocks(of_multiprocessor / 2 - reserved + 1024) == 1);
}

void static_memory_counts(int most) {
  const int static_bytes = 256 * sizeof(int);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, with_static_tile));
  EXPECT(attributes.sharedSizeBytes == static_bytes);
  CHECK(cudaFuncSetAttribute(with_static_tile, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             most - static_bytes));
  CHECK(cudaFuncGetAttributes(&attributes, with_static_tile));
  EXPECT(attributes.maxDynamicSharedSizeBytes == most - static_bytes);
}

int main(int count, char** arguments) {
  const int most = limit(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const char* const how = count > 1 ? arguments[1] : "";
  EXPECT(limit(cudaDevAttrMaxSharedMemoryPerBlock) == 48 * 1024);
  if (std::strcmp(how, "unset") == 0) {
    reverse<<<1, 256, 48 * 1024 + 4>>>(nullptr, 0);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  } else if (std::strcmp(how, "too-much") == 0) {
    EXPECT_ERROR(
        cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 4),
        cudaErrorInvalidValue);
    cudaGetLastError();
    reverse<<<1, 256, most + 4>>>(nullptr, 0);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_ERROR(
        cudaFuncSetAttribute(with_static_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
        cudaErrorInvalidValue);
  } else {
    reverse<<<1, 256, 48 * 1024>>>(nullptr, 0);
    CHECK(cudaGetLastError());
    uses_all_of_it(most);
    occupancy_follows(most);
    static_memory_counts(most);
    std::printf("%d bytes of shared memory are right\n", most);
  }
}
