#include <cstdint>

#include "check.h"

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  CHECK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

/// Pools of the program's own, each with its figures.
void make_pools() {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own, main_pool, current;
  CHECK(cudaMemPoolCreate(&own, &properties));
  CHECK(cudaDeviceGetDefaultMemPool(&main_pool, 0));
  EXPECT(own != main_pool);
  char *first, *second;
  CHECK(cudaMallocFromPoolAsync(&first, 1000, own, nullptr));
  CHECK(cudaDeviceSetMemPool(0, own));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == own);
  CHECK(cudaMallocAsync(&second, 0, nullptr));
  EXPECT(second == nullptr);
  CHECK(cudaMallocAsync(&second, 500, nullptr));
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemCurrent) == 1500);
  EXPECT(attribute(main_pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  std::uint64_t threshold = 1 << 30, zero = 0, one = 1;
  CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(attribute(own, cudaMemPoolAttrReleaseThreshold) == threshold);
  EXPECT(attribute(main_pool, cudaMemPoolAttrReleaseThreshold) == 0);
  CHECK(cudaFreeAsync(first, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(attribute(own, cudaMemPoolAttrReservedMemCurrent) == 32 << 20);
  CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &zero));
  EXPECT_ERROR(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &one),
               cudaErrorInvalidValue);
  int policy = 0;
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &policy));
  EXPECT(policy == 1);
  cudaMemAccessDesc access = {};
  access.location = properties.location;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CHECK(cudaMemPoolSetAccess(own, &access, 1));
  access.location.id = 1;
  EXPECT_ERROR(cudaMemPoolSetAccess(own, &access, 1), cudaErrorInvalidDevice);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolGetAccess(&flags, own, &properties.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  CHECK(cudaMemPoolDestroy(own));  // what it gave stays
  CHECK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == main_pool);
  EXPECT_ERROR(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemPoolDestroy(main_pool), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMallocFromPoolAsync(&first, 1000, own, nullptr), cudaErrorInvalidValue);
  CHECK(cudaMemset(second, 0, 500));
  CHECK(cudaFreeAsync(second, nullptr));
  properties.location.id = 2;
  EXPECT_ERROR(cudaMemPoolCreate(&own, &properties), cudaErrorInvalidValue);
}

int main() {
  make_pools();
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
