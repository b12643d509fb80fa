#include <cstdint>

#include "check.h"

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  CHECK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

int main() {
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  const size_t megabyte = 1 << 20;
  void *first, *second;
  CHECK(cudaMallocAsync(&first, 3 * megabyte, nullptr));
  CHECK(cudaMallocAsync(&second, 40 * megabyte, nullptr));
  EXPECT(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 43 * megabyte);
  CHECK(cudaMemsetAsync(second, 1, 40 * megabyte, nullptr));
  CHECK(cudaFreeAsync(second, nullptr));
  EXPECT(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 3 * megabyte);
  EXPECT(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 43 * megabyte);
  EXPECT(attribute(pool, cudaMemPoolAttrReservedMemHigh) == 64 * megabyte);
  EXPECT(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 64 * megabyte);
  CHECK(cudaDeviceSynchronize());  // the threshold is zero: unused memory is given back
  EXPECT(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 32 * megabyte);
  std::uint64_t zero = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  EXPECT(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 3 * megabyte);
  CHECK(cudaFreeAsync(first, nullptr));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  EXPECT(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0);

  size_t free_before = 0, free_after = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_before, &total));
  CHECK(cudaMalloc(&first, 10 * megabyte));
  CHECK(cudaMemGetInfo(&free_after, &total));
  EXPECT(free_before - free_after == 10 * megabyte);
  EXPECT_ERROR(cudaMalloc(&second, total + 1), cudaErrorMemoryAllocation);
  CHECK(cudaFree(first));
  std::printf("figures are right\n");
}
