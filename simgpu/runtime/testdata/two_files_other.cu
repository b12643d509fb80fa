#include "check.h"

// The same kernel name as in the other file, but internal to this one.
static __global__ void increment(int* value) { *value *= 2; }

int doubled_on_device(int value) {
  int* device;
  CHECK(cudaMalloc(&device, sizeof value));
  CHECK(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
  increment<<<1, 1>>>(device);
  CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  return value;
}
