// Calls of the runtime's externs, each in a scope with .param variables of its own.
#include <cassert>
#include <cstdio>

__global__ void print_and_check(const int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  printf("thread %d has %d and %f\n", i, values[i], values[i] * 0.5);
  if (values[i] < 0) __trap();
}
