#include <cstring>

#include "check.h"

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

// Three allocations of one size are lost after a kernel, one is lost before it, one is freed.
void lose() {
  int *freed, *early, *pooled;
  CHECK(cudaMalloc(&freed, 128));
  CHECK(cudaMalloc(&early, 1000));
  fill<<<1, 32>>>(freed);
  for (int i = 0; i < 3; ++i) {
    int* lost;
    CHECK(cudaMalloc(&lost, 4096));
  }
  CHECK(cudaMallocAsync(&pooled, 64, nullptr));
  CHECK(cudaFree(freed));
  CHECK(cudaDeviceSynchronize());
}

int main(int, char** arguments) {
  lose();
  if (std::strcmp(arguments[1], "reset") == 0) CHECK(cudaDeviceReset());
  if (std::strcmp(arguments[1], "fail") == 0) return 3;
}
