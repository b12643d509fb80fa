// What an asynchronous copy brings to pinned memory is there once the host has waited for it, and
// not before. A copy to pageable memory is done when the call returns.
#include <cstdio>

#include "check.h"

int main() {
  int *value, *pinned, pageable = 1;
  cudaEvent_t copied;
  CHECK(cudaMalloc(&value, sizeof(int)));
  CHECK(cudaMallocHost(&pinned, sizeof(int)));
  CHECK(cudaEventCreate(&copied));
  const int seven = 7;
  CHECK(cudaMemcpy(value, &seven, sizeof(int), cudaMemcpyHostToDevice));
  *pinned = 1;
  CHECK(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("at once %d\n", *pinned);
  CHECK(cudaEventRecord(copied));
  std::printf("recorded %d\n", *pinned);
  CHECK(cudaEventSynchronize(copied));
  std::printf("waited %d\n", *pinned);
  CHECK(cudaMemcpyAsync(&pageable, value, sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("pageable %d\n", pageable);
  CHECK(cudaEventDestroy(copied));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(value));
  return 0;
}
